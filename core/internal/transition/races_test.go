package transition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// selecting selects the contents that are a text.
type selecting string

func (s selecting) Identity() string           { return string(s) }
func (s selecting) Selects(o core.Object) bool { return o.Content == content(s) }

// TestCommuting has concurrent calls commute unless what they change is seen by the other one, or by somebody else in
// the order in which it is changed.
func TestCommuting(t *testing.T) {
	m, w := desk("web")
	pod, job := core.Key{Kind: "Pod", Name: "a"}, core.Key{Kind: "Job", Name: "a"}
	other := core.Key{Kind: "Pod", Name: "b"}
	made := func(answered behavior.Answered) behavior.Made {
		return behavior.Made{Answers: []*behavior.Answered{&answered}}
	}
	writes := func(key core.Key) behavior.Made {
		c := m.Vocabulary.Object(key)
		return made(behavior.Answered{Writes: []behavior.Write{{Cell: c, Key: key, To: m.Vocabulary.Intern(c, content("x"))}}})
	}
	reads := func(key core.Key) behavior.Made {
		return made(behavior.Answered{Reads: []behavior.Read{{Cell: m.Vocabulary.Object(key)}}})
	}
	lists := func(kind core.Kind) behavior.Made {
		return made(behavior.Answered{Reads: []behavior.Read{{Listed: true, Kind: kind}}})
	}
	sends := made(behavior.Answered{Enqueue: []state.Cell{m.Item(m.Actors[0], "r").Cell}})
	note := made(behavior.Answered{Reads: []behavior.Read{{Cell: m.Vocabulary.Note("n")}}})
	for _, test := range []struct {
		name                    string
		one, other              behavior.Made
		plainly, lagging, alive bool // whether they commute, also with views that lag behind, and where it may crash in between
	}{
		{"two objects of two kinds", writes(pod), writes(job), true, true, false},
		{"two objects of a kind", writes(pod), writes(other), true, false, false},
		{"the same object", writes(pod), writes(pod), false, false, false},
		{"it is read", writes(pod), reads(pod), false, false, false},
		{"another one of its kind is read", writes(pod), reads(other), true, false, true},
		{"one of another kind is read", writes(pod), reads(job), true, true, true},
		{"its kind is listed", writes(pod), lists("Pod"), false, false, false},
		{"its kind is listed elsewhere", writes(pod), made(behavior.Answered{Reads: []behavior.Read{{Listed: true, Kind: "Pod", Namespace: "n"}}}), true, false, true},
		{"another kind is listed", writes(pod), lists("Job"), true, true, true},
		{"both are read", reads(pod), reads(pod), true, true, true},
		{"a message", writes(pod), sends, true, true, false},
		{"no object is read", writes(pod), note, true, true, true},
	} {
		for name, want := range map[string]bool{"fresh": test.plainly, "lagging": test.lagging, "crashing": test.alive} {
			m.lags, m.Conditions.Crashes, m.Actors[0].fallible = name == "lagging", 0, false
			if name == "crashing" {
				m.Conditions.Crashes, m.Actors[0].fallible = 1, true
			}
			commute := w.commuting(m.Actors[0])
			if commute(test.one, test.other) != want || commute(test.other, test.one) != want {
				t.Errorf("%s, %s: they commute: %t and %t", test.name, name, commute(test.one, test.other), commute(test.other, test.one))
			}
		}
	}
	// Only what can crash, and may still do so, crashes.
	m.lags, m.Conditions.Crashes, m.Actors[0].fallible = false, 1, false
	if !w.commuting(m.Actors[0])(writes(pod), writes(job)) {
		t.Error("calls of what cannot crash do not commute")
	}
	m.Actors[0].fallible = true
	m.Crashes = m.counter("crashes", 1)
	w.fit()
	if w.commuting(m.Actors[0])(writes(pod), writes(job)) {
		t.Error("calls commute between which it may crash")
	}
	if w.Set(m.Crashes, 1); !w.commuting(m.Actors[0])(writes(pod), writes(job)) {
		t.Error("calls of what has crashed as often as it may do not commute")
	}
}

// TestSelects has a walker that may not learn be unsure of what is not known to be selected.
func TestSelects(t *testing.T) {
	m, w := desk("web")
	c := m.Vocabulary.Object(core.Key{Kind: "Pod", Name: "a"})
	yes, no := m.Vocabulary.Intern(c, content("x")), m.Vocabulary.Intern(c, content("y"))
	s := m.Vocabulary.Selection("Pod", "", selecting("x"))
	if !w.selects(s, c, yes) || !w.unsure {
		t.Error("it is sure of what it does not know")
	}
	w.unsure, w.Learn = false, &Learner{}
	if !w.selects(s, c, yes) || w.selects(s, c, no) || w.unsure {
		t.Error("it does not learn what is selected")
	}
	w.Learn = nil
	if !w.selects(s, c, yes) || w.selects(s, c, no) || w.unsure {
		t.Error("it does not know what was learned")
	}
}

// TestUnsureOfRaces has a walker that may not learn leave it to who learns in which orders calls have to be answered,
// if it does not know what is selected.
func TestUnsureOfRaces(t *testing.T) {
	m, w := desk("web")
	w.made, w.unsure = make([]behavior.Made, 2), true
	for i := range w.made {
		w.made[i].Node = &behavior.Node{Call: query{"get", ""}}
	}
	for i, want := range []error{ErrUnknown, nil} { // once it knows
		if err := w.races(m.Actors[0], behavior.Activation{}, plan{}, &behavior.Leaf{}); err != want || w.unsure || len(w.Reversed) > 0 {
			t.Errorf("%d: %v, it is unsure: %t, and %v are asked for", i, err, w.unsure, w.Reversed)
		}
	}
}

// TestRaced has it be said once of each controller that the order of its calls was not searched, and what to do about
// it.
func TestRaced(t *testing.T) {
	m, w := desk("web")
	a, both := m.Actors[0], turns("get a", "get b")
	r := behavior.Reversal{First: both[0].Call, Second: both[1].Call, Turn: both[1]}
	if err := w.raced(a, behavior.Activation{Request: "r"}, r); err != nil || len(m.Doubts) > 0 || a.raced {
		t.Errorf("a walker that may not learn says %q, %v", m.Doubts, err)
	}
	w.Ahead = true
	if err := w.raced(a, behavior.Activation{Request: "r"}, r); !errors.Is(err, ErrUnknown) || len(m.Doubts) > 0 {
		t.Errorf("a walker that is ahead says %q, %v", m.Doubts, err)
	}
	w.Ahead, w.Learn = false, &Learner{Machine: m}
	const said = `web makes concurrent calls whose order matters, reconciling r: "get a" and "get b" were not answered in every order. `
	for _, test := range []struct {
		orders int
		turn   *behavior.Node
		want   string
	}{
		{0, both[1], said + "Raise --orders (Options.Orders), or make the calls independent of what the other writes"},
		{1, both[1], said + "Leave out --orders 1 (Options.Orders), or make the calls independent of what the other writes"},
		{1, nil, said + "Leave out --orders 1 (Options.Orders), or make the calls independent of what the other writes"},
		{2, nil, said + "Make one call after the other, or make the calls independent of what the other writes"},
	} {
		m.Conditions.Orders, r.Turn, a.raced, m.Doubts = test.orders, test.turn, false, nil
		for range 2 {
			if err := w.raced(a, behavior.Activation{Request: "r"}, r); err != nil {
				t.Error(err)
			}
		}
		if len(m.Doubts) != 1 || m.Doubts[0] != test.want {
			t.Errorf("it is said %q, want %q", m.Doubts, test.want)
		}
	}
	w.Ahead, w.Learn = true, nil
	if err := w.raced(a, behavior.Activation{Request: "s"}, r); err != nil {
		t.Errorf("what is known stops a walker that is ahead: %v", err)
	}
	w.Ahead, w.Learn, m.Doubts = false, &Learner{Machine: m}, nil
	step := Taken{Actor: a, Item: m.Item(a, "r")}
	if err := errors.Join(w.waited(step), w.waited(step)); err != nil || len(m.Doubts) != 1 || !strings.HasPrefix(m.Doubts[0], "web is blocked after some orders or failures of its concurrent calls, reconciling r: ") || !a.waited {
		t.Errorf("it is said %q, %v", m.Doubts, err)
	}
}

// TestWaysOfAPoint counts the orders in which the concurrent calls up to a point might have been answered.
func TestWaysOfAPoint(t *testing.T) {
	one := &behavior.Node{}
	two, three := turns("a", "b")[0], turns("a", "b", "c")[0]
	for want, p := range map[int]point{
		1: {Node: one}, 2: {Node: two}, 3: {Node: one, Path: behavior.Path{{From: three}}}, 6: {Node: two, Path: behavior.Path{{From: one}, {From: three}}},
		12: {Node: three, Path: behavior.Path{{From: two}, {From: two}}},
	} {
		if got := p.orders(); got != want {
			t.Errorf("%d orders, want %d", got, want)
		}
	}
	var long behavior.Path
	for range 100 {
		long = append(long, &behavior.Edge{From: three})
	}
	if got := (&point{Node: three, Path: long}).orders(); got <= 0 {
		t.Errorf("of very many there are %d", got)
	}
}

// lateness is a visitor that keeps what the steps are called, which of them are late, and what they leave of one
// variable.
type lateness struct {
	w     *Walker
	of    state.Cell
	steps []string
}

func (l *lateness) Took(t *Taken) error {
	l.steps = append(l.steps, fmt.Sprintf("%s late=%t %s", t.Step().Order, t.Late, l.w.Machine.Vocabulary.Content(l.of, l.w.Value(l.of)).Canonical()))
	return nil
}

func (l *lateness) Stopped(_ *Taken, err error) error { return err }

// TestReadsBack has a reconcile read through its cache what it has written: a cache that may lag behind has received it
// by then, or has not. So it is at each of several reads, once it is not at the one before.
func TestReadsBack(t *testing.T) {
	sum, other := plain.NewFamily[int]("sum"), plain.NewFamily[int]("other")
	const caught = "call %d is answered by a cache that has received what was written before late=false %s"
	for _, test := range []struct {
		name       string
		conditions Conditions
		reconcile  func(w *plain.World) int
		want       []string
	}{
		{"fresh", Conditions{}, func(w *plain.World) int { sum.At(0).Set(w, 1); return sum.At(0).Get(w) }, []string{` late=false 1`}},
		{"one read", Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}, func(w *plain.World) int { sum.At(0).Set(w, 1); return sum.At(0).Get(w) }, []string{
			` late=true 0`, fmt.Sprintf(caught, 2, "1"),
		}},
		{"own writes", Conditions{Staleness: []Staleness{{Rule: view.OwnWrites(1)}}}, func(w *plain.World) int { sum.At(0).Set(w, 1); return sum.At(0).Get(w) }, []string{` late=false 1`}},
		{"relisted", Conditions{Staleness: []Staleness{{Rule: view.Relist()}}}, func(w *plain.World) int {
			sum.At(0).Set(w, 1)
			return len(sum.All(w)) + sum.At(0).Get(w)
		}, []string{` late=true 2`, fmt.Sprintf(caught, 2, "3"), "call 3 is answered by a cache that has received what was written before late=true 3"}},
		{"something else", Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}, func(w *plain.World) int { sum.At(0).Set(w, 1); return sum.At(1).Get(w) }, []string{` late=false 0`}},
		{"before it writes", Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}, func(w *plain.World) int {
			seen := sum.At(0).Get(w)
			sum.At(0).Set(w, 1)
			return seen
		}, []string{` late=false 0`}},
		{"what it was before", Conditions{Staleness: []Staleness{{Rule: view.Lag(2)}}}, func(w *plain.World) int {
			sum.At(0).Set(w, 1)
			sum.At(0).Set(w, 0)
			return sum.At(0).Get(w)
		}, []string{` late=false 0`}},
		{"too often", Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}, func(w *plain.World) int {
			shown := 0
			for i := range 7 {
				sum.At(0).Set(w, i+1)
				shown += sum.At(0).Get(w) << i
			}
			return shown
		}, nil},
	} {
		system, err := plain.Model{
			Name: test.name, Initial: []core.Initial{plain.Start(sum.At(0).Is(0), sum.At(1).Is(0))},
			Controllers: []plain.Controller{{
				Name: "c", Requests: []core.Request{"0"}, Caches: []core.Kind{"sum"},
				Reconcile: func(w *plain.World, _ core.Request) core.Result {
					other.At(0).Set(w, test.reconcile(w))
					return core.Result{}
				},
			}},
		}.System()
		if err != nil {
			t.Fatal(err)
		}
		w := begin(t, system, test.conditions)
		seen := lateness{w: w, of: w.Machine.Vocabulary.Object(other.At(0).Key())}
		if _, err := w.Steps(&seen, nil); err != nil {
			t.Fatal(test.name, err)
		}
		often := test.want == nil
		if often && len(seen.steps) != mostReadBack+1 || !often && !slices.Equal(seen.steps, test.want) {
			t.Errorf("%s: the steps are %q, want %q", test.name, seen.steps, test.want)
		}
		if doubted := strings.Contains(strings.Join(w.Machine.Doubts, "\n"), "c reads what it has written back through its cache so often"); doubted != often {
			t.Errorf("%s: the doubts are %q", test.name, w.Machine.Doubts)
		}
	}
}
