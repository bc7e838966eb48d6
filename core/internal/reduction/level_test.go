package reduction

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/internal/random"
)

// asked is a chooser that keeps the ways that it is asked about, with what they look at, and says to each whether its
// agent may be followed alone. It chooses as it is told, and nothing commutes.
type asked struct {
	alone  func(Way) bool
	choice func([]Enabled) Choice
	ways   []Way
}

func (a *asked) Alone(way *Way) bool {
	kept := *way
	kept.Looks = slices.Clone(way.Looks)
	a.ways = append(a.ways, kept)
	return a.alone(kept)
}

func (a *asked) Choose(enabled []Enabled) Choice { return a.choice(enabled) }
func (*asked) Commute(_, _ int) bool             { return false }
func (*asked) Group(int) int                     { return 0 }

// exploring returns an explorer of a system that learns, records what steps touch, and asks a chooser. It is at the
// start.
func exploring(t *testing.T, system *core.System, conditions transition.Conditions, chooser Chooser) *Explorer {
	t.Helper()
	l, err := transition.NewLearner(t.Context(), system, conditions, behavior.Limits{Deadline: 10 * time.Second, Calls: 100}, 0)
	if err != nil {
		t.Fatal(err)
	}
	l.Seen = map[transition.Wrong]bool{}
	f := NewFootprints()
	f.Record(l.Machine)
	w := NewExplorer(l.Machine, l, &Reductions{Footprints: f, Choosers: func() Chooser { return chooser }})
	if err := w.Start(system.Initial[0]); err != nil {
		t.Fatal(err)
	}
	w.Forget()
	return w
}

// item returns an item of an explorer's machine.
func item(t *testing.T, w *Explorer, strategy string, request core.Request) *transition.Item {
	t.Helper()
	a, err := w.Machine.Actor(strategy)
	if err != nil {
		t.Fatal(err)
	}
	return w.Machine.Item(a, request)
}

// made makes a system of a model.
func made(t *testing.T, model plain.Model) *core.System {
	t.Helper()
	model.Name = "made"
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// failing lets all calls of a system fail.
func failing(system *core.System) *core.System {
	system.Store = random.Failing{Store: system.Store}
	return system
}

// TestWays has the way that a step goes describe each thing that it may do, and nothing else.
func TestWays(t *testing.T) {
	x, y, z := plain.NewVar[int]("x"), plain.NewFamily[int]("y").At(0), plain.NewVar[int]("z")
	inbox := plain.NewInbox[string]("box")
	for _, test := range []struct {
		name string
		do   func(*plain.World) core.Result
		// marks are those of the item besides that it is in its queue.
		marks    state.Value
		failures int
		// ways are what is asked: first the one where no call fails.
		ways []Way
		// looks are the variables that it looks at.
		looks []plain.Var[int]
	}{
		{name: "it does nothing", do: func(*plain.World) core.Result { return core.Result{} }, ways: []Way{{Lasting: true}}},
		{name: "it looks", do: func(w *plain.World) core.Result { x.Get(w); z.Lookup(w); return core.Result{} }, ways: []Way{{Lasting: true}}, looks: []plain.Var[int]{x, z}},
		{name: "it writes", do: func(w *plain.World) core.Result { x.Set(w, 1); return core.Result{} }, ways: []Way{{Changes: true}}},
		{name: "it writes and goes on", do: func(w *plain.World) core.Result { x.Set(w, 1); return core.Result{Requeue: true} }, ways: []Way{{Changes: true, Again: true}}},
		{name: "it writes what is there", do: func(w *plain.World) core.Result { x.Set(w, 0); return core.Result{} }, ways: []Way{{Lasting: true}}, looks: []plain.Var[int]{x}},
		{name: "it writes and takes it back", do: func(w *plain.World) core.Result { x.Set(w, 1); x.Set(w, 0); return core.Result{} }, ways: []Way{{Changes: true}}},
		{name: "it wakes somebody", do: func(w *plain.World) core.Result { y.Set(w, 1); return core.Result{} }, ways: []Way{{Changes: true, Wakes: true}}},
		{name: "it sends what is there", do: func(w *plain.World) core.Result { inbox.Send(w, "old"); return core.Result{} }, ways: []Way{{Wakes: true}}},
		{name: "it sends something new", do: func(w *plain.World) core.Result { inbox.Send(w, "new"); return core.Result{} }, ways: []Way{{Wakes: true, Changes: true}}},
		{name: "it goes on", do: func(*plain.World) core.Result { return core.Result{Requeue: true} }, ways: []Way{{Again: true}}},
		{name: "it returns an error", do: func(*plain.World) core.Result { return core.Result{Err: errors.New("no")} }, ways: []Way{{Again: true}}},
		{name: "it waits", do: func(*plain.World) core.Result { return core.Result{RequeueAfter: time.Hour} }, ways: []Way{{Timed: true}}},
		{name: "it waits still", do: func(*plain.World) core.Result { return core.Result{RequeueAfter: time.Hour} }, marks: state.Timed, ways: []Way{{Lasting: true}}},
		{name: "its timer stays set", do: func(*plain.World) core.Result { return core.Result{} }, marks: state.Timed, ways: []Way{{Lasting: true}}},
		{name: "time comes to it", do: func(*plain.World) core.Result { return core.Result{} }, marks: state.Behind, ways: []Way{{Changes: true}}},
		{name: "its call may fail", do: func(w *plain.World) core.Result { x.Lookup(w); return core.Result{} }, failures: 1, ways: []Way{{Lasting: true}, {Faulty: true}}, looks: []plain.Var[int]{x}},
		{
			name: "its call may fail, and then it goes on", do: func(w *plain.World) core.Result { _, is := x.Lookup(w); return core.Result{Requeue: !is} },
			failures: 1, ways: []Way{{Lasting: true}, {Faulty: true, Again: true}}, looks: []plain.Var[int]{x},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := made(t, plain.Model{
				Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0))},
				Controllers: []plain.Controller{
					{Name: "acts", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result { return test.do(w) }},
					{Name: "watches", Watches: []plain.Watch{{Kind: y.Key().Kind}}, Reconcile: func(*plain.World, core.Request) core.Result { return core.Result{} }},
				},
				Processes: []plain.Process{{Name: "box", Messages: inbox.Holding("old"), Receive: inbox.Receive(func(*plain.World, string) {})}},
			})
			chooser := &asked{alone: func(Way) bool { return true }}
			if test.failures > 0 {
				failing(system)
			}
			w := exploring(t, system, transition.Conditions{Failures: test.failures}, chooser)
			it := item(t, w, "acts", "r")
			w.Set(it.Cell, state.Queued|test.marks)
			w.Forget()
			if err := w.StepsOf(fitting{w}, it); err != nil {
				t.Fatal(err)
			}
			if len(chooser.ways) != len(test.ways) {
				t.Fatalf("it is asked about %+v", chooser.ways)
			}
			for i, want := range test.ways {
				got := chooser.ways[i]
				if got.Agent != it.Agent || got.Faulty != want.Faulty || got.Changes != want.Changes || got.Wakes != want.Wakes || got.Again != want.Again || got.Timed != want.Timed || got.Lasting != want.Lasting {
					t.Errorf("its step goes %+v, want %+v", got, want)
				}
			}
			if test.looks == nil {
				return
			}
			var cells []state.Cell
			for _, at := range chooser.ways[0].Looks {
				cells = append(cells, w.Footprints.names[at].sight.cell)
			}
			for _, v := range test.looks {
				if c, known := w.Machine.Vocabulary.Lookup(v.Key()); !known || !slices.Contains(cells, c) || len(cells) != len(test.looks) {
					t.Errorf("it looks at the cells %v, and %s is %d", cells, v.Key(), c)
				}
			}
			if !slices.Equal(w.Learned, []int{it.Agent}) && len(test.ways) == 1 {
				t.Errorf("code was run of %v", w.Learned)
			}
			// The second time, it is known, and nothing was changed by asking.
			learned := len(w.Learned)
			if err := w.StepsOf(fitting{w}, it); err != nil || len(w.Learned) != learned || len(chooser.ways) != 2*len(test.ways) {
				t.Errorf("the second time, code is run of %v: %v", w.Learned[learned:], err)
			}
			if w.Load(w.AppendRow(nil)); w.Level || len(w.Learned) > 0 {
				t.Error("in another state, something is known to have been found out")
			}
		})
	}
}

// TestWhoGoesAlone has the first agent be followed alone of which every way fits, unless nobody forces it to take its
// step, or its steps are of another kind.
func TestWhoGoesAlone(t *testing.T) {
	x := plain.NewVar[int]("x")
	look := func(w *plain.World, _ core.Request) core.Result { x.Lookup(w); return core.Result{} }
	loops := func(w *plain.World, _ core.Request) core.Result {
		for {
			x.Get(w)
		}
	}
	loopsIf := func(is bool) func(*plain.World, core.Request) core.Result {
		return func(w *plain.World, _ core.Request) core.Result {
			_, there := x.Lookup(w)
			for there == is {
				x.Lookup(w)
			}
			return core.Result{}
		}
	}
	controller := func(name string, do func(*plain.World, core.Request) core.Result) plain.Controller {
		return plain.Controller{Name: name, Requests: []core.Request{"r"}, Reconcile: do}
	}
	unfair := controller("unfair", look)
	unfair.Unfair = true
	guarded := plain.Process{Name: "guarded", Actions: []plain.Action{{Name: "look", Do: func(w *plain.World) { x.Get(w) }}}}
	user := plain.Scenario{Actions: []plain.Action{{Name: "look", Do: func(w *plain.World) { x.Get(w) }}}}
	yes := func(Way) bool { return true }
	for _, test := range []struct {
		name       string
		model      plain.Model
		conditions transition.Conditions
		alone      func(Way) bool
		idle       string // who has nothing to do
		fails      bool   // calls may fail
		want       string // empty for nobody
		ways       int
	}{
		{name: "the first", model: plain.Model{Controllers: []plain.Controller{controller("a", look), controller("b", look)}}, alone: yes, want: "a", ways: 1},
		{name: "nobody fits", model: plain.Model{Controllers: []plain.Controller{controller("a", look), controller("b", look)}}, alone: func(Way) bool { return false }, ways: 2},
		{name: "the first has nothing to do", model: plain.Model{Controllers: []plain.Controller{controller("a", look), controller("b", look)}}, alone: yes, idle: "a", want: "b", ways: 1},
		{name: "an unfair one", model: plain.Model{Controllers: []plain.Controller{unfair}}, alone: yes},
		{name: "an action", model: plain.Model{Processes: []plain.Process{guarded}}, alone: yes},
		{name: "a user", model: plain.Model{Scenario: user, Controllers: []plain.Controller{controller("a", look)}}, alone: yes, want: "a", ways: 1},
		{name: "a user alone", model: plain.Model{Scenario: user, Controllers: []plain.Controller{controller("a", look)}}, alone: yes, idle: "a"},
		{name: "calls are steps", model: plain.Model{Controllers: []plain.Controller{controller("a", look)}}, conditions: transition.Conditions{Granularity: transition.PerCall}, alone: yes},
		{name: "one never comes back", model: plain.Model{Controllers: []plain.Controller{controller("a", loops), controller("b", look)}}, alone: yes, want: "b", ways: 1},
		{name: "all ways fit", model: plain.Model{Controllers: []plain.Controller{controller("a", look)}}, conditions: transition.Conditions{Failures: 1}, fails: true, alone: yes, want: "a", ways: 2},
		{name: "one never comes back where its call fails", model: plain.Model{Controllers: []plain.Controller{controller("a", loopsIf(false))}}, conditions: transition.Conditions{Failures: 1}, fails: true, alone: yes, ways: 1},
		{name: "one never comes back unless its call fails", model: plain.Model{Controllers: []plain.Controller{controller("a", loopsIf(true))}}, conditions: transition.Conditions{Failures: 1}, fails: true, alone: yes},
		{name: "the first way does not fit", model: plain.Model{Controllers: []plain.Controller{controller("a", look)}}, conditions: transition.Conditions{Failures: 1}, fails: true, alone: func(w Way) bool { return w.Faulty }, ways: 1},
		{name: "the last way does not fit", model: plain.Model{Controllers: []plain.Controller{controller("a", look)}}, conditions: transition.Conditions{Failures: 1}, fails: true, alone: func(w Way) bool { return !w.Faulty }, ways: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.model.Initial = []core.Initial{plain.Start(x.Is(0))}
			system := made(t, test.model)
			if test.fails {
				failing(system)
			}
			chooser := &asked{alone: test.alone}
			w := exploring(t, system, test.conditions, chooser)
			if test.idle != "" {
				w.Set(item(t, w, test.idle, "r").Cell, 0)
				w.Forget()
			}
			before := slices.Clone(w.Vector)
			agent, found, err := w.alone()
			if err != nil || found != (test.want != "") || len(chooser.ways) != test.ways {
				t.Fatalf("somebody is followed alone: %t, %v, and it is asked about %d ways, want %d", found, err, len(chooser.ways), test.ways)
			}
			if found && agent != item(t, w, test.want, "r").Agent {
				t.Errorf("another one is followed alone")
			}
			if !slices.Equal(w.Vector[:len(before)], before) {
				t.Errorf("to ask has changed the state")
			}
		})
	}
}

// TestWhoIsBlockedIsNotAlone has nobody be followed alone who takes no step, whoever was followed alone in the state
// before.
func TestWhoIsBlockedIsNotAlone(t *testing.T) {
	x := plain.NewVar[int]("x")
	waits := func(w *plain.World, _ core.Request) core.Result { w.Require(x.Get(w) == 1); return core.Result{} }
	w := exploring(t, made(t, plain.Model{
		Initial:     []core.Initial{plain.Start(x.Is(0))},
		Controllers: []plain.Controller{idle("a"), {Name: "b", Requests: []core.Request{"r"}, Reconcile: waits}},
	}), transition.Conditions{}, &asked{alone: func(Way) bool { return true }})
	if agent, found, err := w.alone(); !found || agent != item(t, w, "a", "r").Agent || err != nil {
		t.Errorf("the first is followed alone: %t, %v", found, err)
	}
	step(t, w, core.Reconcile, "a", "r")
	if _, found, err := w.alone(); found || err != nil {
		t.Errorf("one that is blocked is followed alone: %t, %v", found, err)
	}
}

// errBroken is an error of a store that is broken.
var errBroken = errors.New("broken")

// broken is a store that does not model calls, or that breaks.
type broken struct {
	core.Store
	err error
}

func (b broken) Answer(core.Snapshot, core.Call) (core.Answer, error) { return core.Answer{}, b.err }

// TestWhoStopsIsNotAlone has who calls what the world does not model not be followed alone, and an error of the search
// itself be handed on.
func TestWhoStopsIsNotAlone(t *testing.T) {
	x := plain.NewVar[int]("x")
	for _, test := range []struct {
		name  string
		err   error
		stops bool
	}{
		{"a call that is not modelled", &core.Unsupported{}, false},
		{"a store that breaks", errBroken, true},
	} {
		system := made(t, plain.Model{Initial: []core.Initial{plain.Start(x.Is(0))}, Controllers: []plain.Controller{{
			Name: "a", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result { x.Get(w); return core.Result{} },
		}}})
		system.Store = broken{system.Store, test.err}
		w := exploring(t, system, transition.Conditions{}, &asked{alone: func(Way) bool { return true }, choice: func([]Enabled) Choice { return Choice{} }})
		_, found, err := w.alone()
		if found || (err != nil) != test.stops || test.stops && !errors.Is(err, errBroken) {
			t.Errorf("%s: it is followed alone: %t, %v", test.name, found, err)
		}
		if _, err := w.Reduce(Chosen); (err != nil) != test.stops {
			t.Errorf("%s: what is left out: %v", test.name, err)
		}
		if reduced, _, err := w.Follow(Chosen, nil, nil); (err != nil) != test.stops || !w.Wakeful == test.stops || reduced {
			t.Errorf("%s: somebody may sleep: %t, %v", test.name, !w.Wakeful, err)
		}
	}
}
