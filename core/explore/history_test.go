package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// TestHistoriesOfRuns lists by hand what each process did on a run: the source changes, and the mirror copies, which it
// does at the start as well. Its event handlers are run twice at the start, for two variables, and for each change:
// that of the source, and its own.
func TestHistoriesOfRuns(t *testing.T) {
	space := searchModel(t, mirroring(), Options{})
	step := func(from core.StateID, strategy string) core.Edge {
		for _, e := range space.Edges(from) {
			if e.Step.Item.Strategy == strategy {
				return e
			}
		}
		t.Fatalf("in state %d, %s can do nothing", from, strategy)
		return core.Edge{}
	}
	copies := step(0, "mirror")
	changes := step(copies.To, "source")
	again := step(changes.To, "mirror")
	receives := step(again.To, "log")
	for _, test := range []struct {
		name  string
		run   core.Run
		after *core.Step
		want  string
	}{
		{"nothing", nil, nil, "mirror 2 "},
		{"a step at the start", nil, &copies.Step, "mirror 3 "},
		{"a step", core.Run{copies}, nil, "mirror 3 "},
		{"a run", core.Run{copies, changes, again}, nil, "source 1 mirror 6 "},
		{"a step behind it", core.Run{copies, changes, again}, &receives.Step, "source 1 log 1 mirror 6 "},
		{"one that nothing asks for", core.Run{copies, changes, again}, &again.Step, "source 1 mirror 7 "},
		{"one that is not possible", core.Run{copies, changes, again, receives}, &receives.Step, "source 1 log 2 mirror 6 "},
	} {
		steps, err := space.concretize(0, test.run)
		if err != nil {
			t.Fatal(err)
		}
		histories, err := space.history(steps, space.firstRow(steps, 0), test.after)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range space.machine.Processes {
			if n := len(histories[p]); n > 0 {
				got += fmt.Sprint(p.Name, " ", n, " ")
			}
		}
		if got != test.want || space.executor.Listener != nil {
			t.Errorf("%s: the processes did %s, want %s", test.name, got, test.want)
		}
	}
	// What is tried behind a run is tried where the run ends.
	last := func(run core.Run, after *core.Step) behavior.Run {
		steps, err := space.concretize(0, run)
		if err != nil {
			t.Fatal(err)
		}
		histories, err := space.history(steps, space.firstRow(steps, 0), after)
		mirror, err2 := space.machine.Actor("mirror")
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		runs := histories[mirror.Process]
		return runs[len(runs)-1]
	}
	if got, want := fmt.Sprint(last(core.Run{copies, changes, again}, &again.Step).Path), fmt.Sprint(last(nil, &again.Step).Path); got == want {
		t.Errorf("a step behind a run does %s, as at the start", got)
	}
	steps, err := space.concretize(copies.To, core.Run{changes})
	if histories, err2 := space.history(steps, space.firstRow(steps, copies.To), nil); err != nil || err2 != nil || histories != nil {
		t.Errorf("a run from no start has the histories %v", histories)
	}
	if row := space.firstRow(nil, copies.To); !slices.Equal(row, space.row(copies.To)) {
		t.Error("a run without steps does not begin where it ends")
	}
}

// everybody is a reducer that leaves out nothing.
type everybody struct{ oneAtATime }

// Learn implements [reduction.Reducer].
func (e everybody) Learn([]Footprint, []Place) func() Chooser { return func() Chooser { return e } }

// Choose implements [reduction.Chooser].
func (everybody) Choose([]Enabled) Choice { return Choice{} }

// TestPointlessReductions has a search that has left out nothing in many states be taken for pointless.
func TestPointlessReductions(t *testing.T) {
	some := func() reduction.Chooser { return oneAtATime{} }
	for _, test := range []struct {
		states   int
		choosers func() reduction.Chooser
		partial  bool
		want     bool
	}{{2048, some, false, true}, {2047, some, false, false}, {2048, nil, false, false}, {2048, some, true, false}} {
		full := store.NewFull()
		for n := range test.states {
			full.Insert(uint64(n)*0x9e3779b97f4a7c15, []byte{byte(n), byte(n >> 8), 1}, store.NoParent)
		}
		s := &Space{store: full, Reductions: &reduction.Reductions{Choosers: test.choosers}}
		if test.partial {
			s.partial.Add(7)
		}
		if got := s.pointless(); got != test.want {
			t.Errorf("%+v: it is pointless: %t", test, got)
		}
	}
	// Where all are followed, the states are searched without asking in the end.
	space := searchModel(t, grid(46, 46), Options{Reducer: everybody{}})
	if space.States() != 47*47 || space.Choosers != nil || space.Stats.Transitions != 2*46*47 || len(space.Reasons()) > 0 {
		t.Errorf("%d states, %+v, %v", space.States(), space.Stats, space.Reasons())
	}
}

// TestBlockedStepsHideNobody follows one agent at a time, of which the first is blocked until the other one has taken
// its step: three states in a line.
func TestBlockedStepsHideNobody(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	for _, starts := range [][]core.Initial{{plain.Start(x.Is(0), y.Is(0))}, {plain.Start(x.Is(0), y.Is(1)), plain.Start(x.Is(0), y.Is(0))}} {
		space := searchModel(t, plain.Model{Name: "gate", Initial: starts, Processes: []plain.Process{
			{Name: "p", Actions: []plain.Action{{Name: "pass", Do: func(w *plain.World) { w.Require(y.Get(w) == 1 && x.Get(w) == 0); x.Set(w, 1) }}}},
			{Name: "q", Actions: []plain.Action{{Name: "open", Do: func(w *plain.World) { w.Require(y.Get(w) == 0); y.Set(w, 1) }}}},
		}}, Options{Reducer: oneAtATime{}})
		if space.States() != 3 || space.Stats.Transitions != 2 || space.Stats.Terminal != 1 || len(space.Quiescent()) != 1 {
			t.Errorf("from %d starts, %d states, %+v, quiescent %v", len(starts), space.States(), space.Stats, space.Quiescent())
		}
	}
}

// TestWhole searches again without leaving out anything, where an agent was followed alone: to the end or not at all.
func TestWhole(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		ctx    context.Context
		alone  bool
		states int
		found  bool
	}{{t.Context(), true, 100, true}, {t.Context(), true, 6, true}, {t.Context(), true, 5, false}, {t.Context(), false, 100, false}, {ended, true, 100, false}} {
		space := searchModel(t, grid(2, 1), Options{})
		if test.alone {
			space.level.Add(0)
		}
		whole := space.Whole(test.ctx, test.states)
		if whole != nil && (whole.learner.Searching || whole.learner.Context.Done() != nil) {
			t.Errorf("%+v: what is searched goes on, or ends with the context", test)
		}
		if (whole != nil) != test.found || whole != nil && (whole.States() != 6 || whole.Stats.Transitions != 7) {
			t.Errorf("%+v: %v", test, whole)
		}
	}
	// From a number of states on, growth is looked for.
	space := searchModel(t, grid(33, 33), Options{})
	space.level.Add(0)
	if whole := space.Whole(t.Context(), 34*34); whole == nil || whole.States() != 34*34 {
		t.Errorf("of %d states, %v is searched", space.States(), whole)
	}
}

// TestListingEnds has a list end with the error of whoever is shown it, or with the context.
func TestListingEnds(t *testing.T) {
	space := searchModel(t, grid(20, 30), Options{Workers: 2})
	fails := errors.New("it fails")
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		name       string
		ctx        context.Context
		n, failing int
		shown      int
		want       error
	}{
		{"all", t.Context(), 9999, 0, 21 * 31, nil}, {"some", t.Context(), 200, 0, 200, nil}, {"none", t.Context(), 0, 0, 0, nil},
		{"an error", t.Context(), 9999, 300, 300, fails}, {"an error at once", t.Context(), 9999, 1, 1, fails}, {"the end", ended, 9999, 0, 0, context.Canceled},
	} {
		shown := 0
		err := space.List(test.ctx, test.n, func(*core.Listed) error {
			if shown++; shown == test.failing {
				return fails
			}
			return nil
		})
		if shown != test.shown || !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: %d states are shown, want %d, and the error is %v", test.name, shown, test.shown, err)
		}
	}
}

// TestWhyStatesAreNotMerged says why states are not merged although two names are interchangeable, or that they are.
func TestWhyStatesAreNotMerged(t *testing.T) {
	names := []string{"a", "b"}
	processes := func(do func(*plain.World, plain.Var[int])) plain.Model {
		model := plain.Model{Name: "twins", Interchangeable: [][]string{names}}
		var start []core.Object
		for _, name := range names {
			v := plain.NewVar[int](name)
			start = append(start, v.Is(0))
			model.Processes = append(model.Processes, plain.Process{Name: name, Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) { do(w, v) }}}})
		}
		model.Initial = []core.Initial{plain.Start(start...)}
		return model
	}
	once := processes(func(w *plain.World, v plain.Var[int]) { w.Require(v.Get(w) == 0); v.Set(w, 1) })
	around := processes(func(w *plain.World, v plain.Var[int]) { v.Set(w, 1-v.Get(w)) })
	panics := processes(func(w *plain.World, v plain.Var[int]) {
		w.Require(v.Get(w) == 0)
		if v.Set(w, 1); v.Key().Name != "" {
			panic("it fails")
		}
	})
	// Each of two controllers adds one, and would do so again if it was asked to.
	adds := once
	adds.Processes = nil
	for _, name := range names {
		v := plain.NewVar[int](name)
		adds.Controllers = append(adds.Controllers, plain.Controller{Name: name, Requests: []core.Request{"go"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
			v.Set(w, min(v.Get(w)+1, 2))
			return core.Result{}
		}})
	}
	judge := func(context.Context, core.Graph) ([]core.Violation, error) { return nil, nil }
	whole := core.Property{Name: "whole", Merges: core.WithoutLoops, Judge: judge}
	for _, test := range []struct {
		name     string
		model    plain.Model
		property core.Property
		states   int
		why      string
	}{
		{"merged", once, whole, 3, ""},
		{"a property that is apart", once, core.Property{Name: "apart", Merges: core.Apart, Judge: judge}, 4, `"apart" judges states or steps on the way`},
		{"loops", around, whole, 4, `there are infinite runs, and "whole" judges them`},
		{"loops that nobody judges", around, core.Property{Name: "single", Invariant: func(core.State) error { return nil }}, 3, ""},
		{"an invariant that is broken", once, core.Property{Name: "single", Invariant: func(s core.State) error {
			if plain.NewVar[int]("a").Get(s) == 1 {
				return errors.New("it is 1")
			}
			return nil
		}}, 4, `"single" is violated`},
		{"code that fails", panics, whole, 4, "the code of a controller failed"},
		{"what would still be changed", adds, whole, 4, "in a quiescent state, some request would still change something"},
	} {
		test.model.Properties = []core.Property{test.property}
		space := searchModel(t, test.model, Options{Merge: true})
		merged, why := space.Merged()
		if merged != (test.why == "") || !strings.HasPrefix(why, test.why) || space.States() != test.states {
			t.Errorf("%s: merged %t, %q, with %d states, want %q and %d", test.name, merged, why, space.States(), test.why, test.states)
		}
	}
}
