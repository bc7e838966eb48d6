package reduction

import (
	"errors"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// look is a call that reads from a source.
type look core.Source

func (look) Identity() string      { return "look" }
func (look) String() string        { return "look" }
func (l look) Source() core.Source { return core.Source(l) }

// watching returns the machine of a controller with a view that may be old of the kind of a variable, and the cell of that.
func watching(t *testing.T) (*transition.Machine, state.Cell) {
	t.Helper()
	x := plain.NewVar[int]("x")
	system, err := plain.Model{
		Name: "watching", Initial: []core.Initial{plain.Start(x.Is(0))},
		Controllers: []plain.Controller{{
			Name: "web", Requests: []core.Request{"r"}, Watches: []plain.Watch{{Kind: x.Key().Kind}},
			Reconcile: func(*plain.World, core.Request) core.Result { return core.Result{} },
		}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	lag := transition.Conditions{Staleness: []transition.Staleness{{Rule: view.Lag(1)}}}
	l, err := transition.NewLearner(t.Context(), system, lag, behavior.Limits{Deadline: time.Second, Calls: 10}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return l.Machine, l.Machine.Vocabulary.Object(x.Key())
}

// TestEndsOn has a run end on what it sees only if it sees it where it is looked at: through its view or past it.
func TestEndsOn(t *testing.T) {
	const value = state.Value(3)
	for _, test := range []struct {
		name   string
		source core.Source
		viewed bool // where the change is seen
		value  state.Value
		leaf   behavior.Leaf
		want   bool
	}{
		{"a live read of what is there", core.Live, false, value, behavior.Leaf{}, true},
		{"a live read, and the view changes", core.Live, true, value, behavior.Leaf{}, false},
		{"a cached read of the view", core.Cached, true, value, behavior.Leaf{}, true},
		{"a cached read, and what is there changes", core.Cached, false, value, behavior.Leaf{}, false},
		{"another value", core.Live, false, value + 1, behavior.Leaf{}, false},
		{"it is blocked", core.Live, false, value, behavior.Leaf{Result: core.Result{Blocked: true}}, false},
		{"it fails", core.Live, false, value, behavior.Leaf{Result: core.Result{Err: errors.New("it failed")}}, false},
		{"it is tried again", core.Live, false, value, behavior.Leaf{Result: core.Result{Requeue: true}}, false},
		{"it waits", core.Live, false, value, behavior.Leaf{Result: core.Result{RequeueAfter: time.Hour}}, false},
		{"it panics", core.Live, false, value, behavior.Leaf{Failure: behavior.Panicked}, false},
		{"it never returns", core.Live, false, value, behavior.Leaf{Failure: behavior.Deadlock}, false},
		{"it leaves work behind", core.Live, false, value, behavior.Leaf{Late: look(core.Live)}, false},
	} {
		m, cell := watching(t)
		f := NewFootprints()
		f.Record(m)
		actor, err := m.Actor("web")
		if err != nil {
			t.Fatal(err)
		}
		it := m.Item(actor, "r")
		f.index(m)
		root := it.Root()
		root.Call = look(test.source)
		answered := &behavior.Answered{Edge: &behavior.Edge{To: &behavior.Node{Leaf: &test.leaf}}}
		if err := root.Remember([]behavior.Read{{Cell: cell, Value: value}}, answered); err != nil {
			t.Fatal(err)
		}
		at := sight{cell: cell}
		if test.viewed {
			at.view, at.viewed = actor.View(m.System.Initial[0].Objects[0].Key.Kind).Cell(), true
		}
		if got := f.endsOn(it.Agent, at, test.value); got != test.want {
			t.Errorf("%s: the run ends on it: %t", test.name, got)
		}
		if f.endsOn(it.Agent+100, at, test.value) {
			t.Errorf("%s: the run of nobody ends on it", test.name)
		}
	}
}

// text is a content that is a text.
type text string

func (t text) Canonical() string { return string(t) }
func (t text) Fields() any       { return string(t) }

// TestChangesOfACall has each write of a call change what the one before has left there.
func TestChangesOfACall(t *testing.T) {
	m, one := watching(t)
	other := m.Vocabulary.Object(core.Key{Kind: "x", Name: "other"})
	for _, c := range []state.Cell{one, other} {
		for _, content := range "abcdefg" {
			m.Vocabulary.Intern(c, text(content))
		}
	}
	w := &transition.Walker{Machine: m}
	w.Set(one, 1)
	w.Set(other, 5)
	var c changes
	c.wrote(w, []behavior.Write{{Cell: one, To: 2}, {Cell: other, To: 6}, {Cell: one, To: 3}, {Cell: one, To: 0}, {Cell: other, To: 7}})
	want := []change{{sight{cell: one}, 1, 2}, {sight{cell: other}, 5, 6}, {sight{cell: one}, 2, 3}, {sight{cell: one}, 3, 0}, {sight{cell: other}, 6, 7}}
	for i := range want {
		if c.seen[i] != want[i] {
			t.Errorf("change %d is %+v, want %+v", i, c.seen[i], want[i])
		}
	}
}
