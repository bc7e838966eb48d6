package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// TestStuckStepsAreTold tells a step that never comes back: how it got stuck, and that its lines are not known. It is
// not run again for that.
func TestStuckStepsAreTold(t *testing.T) {
	runs := 0
	space := searchSlate(t, slateWith([]string{"a 0"}, goes("waits", always(func(do asks, _ core.Request) core.Result {
		for runs++; do("get a") == "0"; {
			continue
		}
		return core.Result{}
	}))), Options{Logs: true})
	step := core.Step{Item: core.Item{Strategy: "waits", Request: "go"}}
	before := runs
	trace, err := space.Trace(t.Context(), 0, nil, &step)
	if err != nil || len(trace.Steps) != 1 {
		t.Fatalf("%+v: %v", trace, err)
	}
	told := trace.Steps[0]
	if !strings.Contains(told.Result, "made more than 100 calls") || told.MissingLogs != "all lines of waits, which does not return" || len(told.Calls) != 100 || runs != before {
		t.Errorf("it is told that it ends with %q, with %d calls, and of its lines that %q; it ran %d times more", told.Result, len(told.Calls), told.MissingLogs, runs-before)
	}
}

// turncoat is a controller that does something else from some moment on.
func turncoat(turned *atomic.Bool) hand {
	return goes("turns", always(func(do asks, _ core.Request) core.Result {
		if turned.Load() {
			do("put b 2")
		} else {
			do("put b 1")
		}
		return core.Result{}
	}))
}

// TestTellingsAreChecked has code do something else when a run is told than it did in the search: that is an error,
// wherever in the run it is.
func TestTellingsAreChecked(t *testing.T) {
	var turned atomic.Bool
	space := searchSlate(t, slateWith(nil, settles("sets", "a", "1"), turncoat(&turned)), Options{})
	run := runOf(t, space, 0, "sets", "turns")
	after := &run[1].Step
	if _, err := space.Trace(t.Context(), 0, run, after); err != nil {
		t.Fatal(err)
	}
	turned.Store(true)
	for name, test := range map[string]struct {
		run   core.Run
		after *core.Step
	}{"a step": {run, nil}, "the step behind it": {run[:1], after}, "the only step": {nil, after}} {
		if _, err := space.Trace(t.Context(), 0, test.run, test.after); err == nil || !strings.Contains(err.Error(), `controller "turns" behaved differently when the step ran again: first "put b 1", then "put b 2"`) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	nobody := &core.Step{Item: core.Item{Strategy: "nobody", Request: "go"}}
	if trace, err := space.Trace(t.Context(), 0, run[:1], nobody); err == nil {
		t.Errorf("a step of nobody is told: %+v", trace.Steps)
	}
	// There may be no state at all.
	empty := slateWith(nil, settles("sets", "a", "1"))
	empty.Initial = nil
	none := searchSlate(t, empty, Options{})
	if trace, err := none.Trace(t.Context(), 0, nil, nil); err != nil || trace.Initial == nil || len(trace.Initial) > 0 || trace.CycleStart != -1 || none.Objects(0) == nil {
		t.Errorf("of no state it is told that %+v: %v", trace, err)
	}
}

// counting is a strategy of which a set-up fails, that of some number or all from there on.
type counting struct {
	core.Strategy
	made, failing *atomic.Int64
	once          bool
}

func (c counting) New() (core.Instance, error) {
	if n := c.made.Add(1); c.failing.Load() > 0 && (n == c.failing.Load() || n > c.failing.Load() && !c.once) {
		return nil, errFails
	}
	return c.Strategy.New()
}

// countedIn has the set-ups of a system be counted.
func countedIn(system *core.System) (made, failing *atomic.Int64) {
	made, failing = new(atomic.Int64), new(atomic.Int64)
	for i, strategy := range system.Strategies {
		system.Strategies[i] = counting{strategy, made, failing, false}
	}
	return made, failing
}

// failsAnywhere has each of the set-ups fail that something takes behind a search, and wants the error to be returned.
func failsAnywhere(t *testing.T, name string, system func() *core.System, o Options, does func(*Space) error) {
	t.Helper()
	least := int64(1)
	for at := int64(0); ; at++ {
		s := system()
		made, failing := countedIn(s)
		space := searchSlate(t, s, o)
		made.Store(0)
		failing.Store(at)
		err := does(space)
		switch {
		case at == 0 && err != nil:
			t.Fatalf("%s: %v", name, err)
		case at == 0:
			if least = made.Load(); least == 0 {
				t.Fatalf("%s: there are no set-ups", name)
			}
		case !errors.Is(err, errFails):
			t.Errorf("%s: of %d set-ups, number %d fails, and the error is %v", name, least, at, err)
		}
		if at == least {
			return
		}
	}
}

// TestSetUpsFailInTellings has set-ups fail while runs are told, or followed round and round.
func TestSetUpsFailInTellings(t *testing.T) {
	system := func() *core.System {
		return slateWith([]string{"a 0"}, settles("sets", "a", "1"), minding("minds"))
	}
	o := Options{Logs: true, Conditions: Conditions{Remembering: []string{"minds"}}, Bounds: Bounds{States: 4}} // so that nothing was audited before
	failsAnywhere(t, "a run", system, o, func(space *Space) error {
		if len(space.Reasons()) == 0 {
			t.Error("the search is complete")
		}
		_, err := space.Trace(t.Context(), 0, runOf(t, space, 0, "minds"), nil)
		return err
	})
	failsAnywhere(t, "a step behind a run", system, o, func(space *Space) error {
		run := runOf(t, space, 0, "sets", "minds")
		_, err := space.Trace(t.Context(), 0, run[:1], &run[1].Step)
		return err
	})
	turns := func() *core.System {
		turn := func(name string) hand {
			return goes(name, always(func(do asks, _ core.Request) core.Result {
				do("put %s %s", name, map[string]string{"0": "1"}[do("get %s", name)]+"0")
				return core.Result{Requeue: true}
			}))
		}
		return slateWith([]string{"a 0", "b 0"}, turn("a"), turn("b"))
	}
	failsAnywhere(t, "a cycle", turns, Options{Bounds: Bounds{States: 30}}, func(space *Space) error {
		cycle := runOf(t, space, 0, "a reconciles", "b reconciles", "a reconciles", "b reconciles")
		return space.Follow(0, nil, cycle)
	})
}

// TestSetUpsFailInSearches has one of the last set-ups of a search fail, which are those of audits: it is an error of
// the search.
func TestSetUpsFailInSearches(t *testing.T) {
	system := func() *core.System {
		twice := goes("twice", always(func(do asks, _ core.Request) core.Result {
			if do("get c") == "1" {
				do("put c 2")
				return core.Result{}
			}
			do("put c 1")
			return core.Result{Requeue: true}
		}))
		return slateWith([]string{"a 0"}, settles("sets", "a", "1"), twice)
	}
	search := func(o Options, fails int64) (int64, error) {
		s := system()
		made, failing := countedIn(s)
		failing.Store(fails)
		for i, strategy := range s.Strategies {
			one := strategy.(counting)
			one.once = true
			s.Strategies[i] = one
		}
		o.Workers, o.Run = 1, slateLimits
		_, err := Search(t.Context(), s, o)
		return made.Load(), err
	}
	for name, o := range map[string]Options{"breadth-first": {}, "walks": {Order: RandomWalks}, "reduced": {Reducer: oneAtATime{}}} {
		made, err := search(o, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int64{1, made / 2, made - 1, made} {
			// How many there are may depend on what else the machine does.
			if n, err := search(o, at); n >= at && !errors.Is(err, errFails) {
				t.Errorf("%s: of %d set-ups, number %d fails, and the error is %v", name, made, at, err)
			}
		}
	}
}

// TestMergedRunsAreTold tells runs through states that are merged, from several starts to each state: with names that
// fit to each other from the first object on, so that they can be replayed.
func TestMergedRunsAreTold(t *testing.T) {
	names := []string{"a", "b"}
	model := plain.Model{Name: "merged", Interchangeable: [][]string{names}, Controllers: []plain.Controller{{Name: "adds", Requests: []core.Request{"a", "b"}, Reconcile: func(w *plain.World, r core.Request) core.Result {
		v := plain.NewVar[int](string(r))
		if now := v.Get(w); now < 3 {
			v.Set(w, now+1)
			return core.Result{Requeue: true}
		}
		return core.Result{}
	}}}}
	for _, values := range [][2]int{{0, 1}, {1, 0}} {
		model.Initial = append(model.Initial, plain.Start(plain.NewVar[int]("a").Is(values[0]), plain.NewVar[int]("b").Is(values[1])))
	}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	space := searchModel(t, model, Options{Merge: true})
	if merged, why := space.Merged(); !merged {
		t.Fatal(why)
	}
	for id := range core.StateID(space.States()) {
		run, _ := space.Shortest(func(at core.StateID) bool { return at == id })
		start := id
		if len(run) > 0 {
			start = run[0].From
		}
		trace, err := space.Trace(t.Context(), start, run, nil)
		if err != nil {
			t.Fatalf("the run to state %d: %v", id, err)
		}
		if d, err := Replay(t.Context(), system, Conditions{}, trace, slateLimits, nil); d != nil || err != nil {
			t.Errorf("the run to state %d deviates: %+v, %v; it begins with %v", id, d, err, trace.Initial)
		}
	}
	// Runs that there are not are errors.
	run := runOf(t, space, 0, "adds")
	wrong := func(change func(*core.Edge)) core.Run {
		e := run[0]
		change(&e)
		return core.Run{e}
	}
	for name, test := range map[string]struct {
		run  core.Run
		want string
	}{
		"another step":   {wrong(func(e *core.Edge) { e.Step.Kind = core.Fire }), "is no longer possible"},
		"another target": {wrong(func(e *core.Edge) { e.To = 0 }), "leads to a different state than before"},
	} {
		if _, err := space.Trace(t.Context(), 0, test.run, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: a trace: %v", name, err)
		}
		if err := space.Follow(0, nil, test.run); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: a cycle: %v", name, err)
		}
	}
}

// TestWhatCallsCreate lists the objects that a call creates: those that are not there before, each once.
func TestWhatCallsCreate(t *testing.T) {
	space := searchSlate(t, slateWith([]string{"a 0"}, goes("puts", always(func(do asks, _ core.Request) core.Result {
		do("put b 1")
		do("put c 1")
		return core.Result{}
	}))), Options{})
	space.executor.Load(space.row(0))
	write := func(name string, to state.Value) behavior.Write {
		cell, _ := space.machine.Vocabulary.Lookup(wordKey(name))
		return behavior.Write{Key: wordKey(name), Cell: cell, To: to}
	}
	got := created(space.executor, []behavior.Write{write("c", 1), write("a", 1), write("b", 1), write("c", 1), write("b", 0)})
	if want := []core.Key{wordKey("c"), wordKey("b")}; !slices.Equal(got, want) {
		t.Errorf("%v are created, want %v", got, want)
	}
	if got := created(space.executor, []behavior.Write{write("b", 0)}); len(got) > 0 {
		t.Errorf("what deletes creates %v", got)
	}
}

// fields is a content with fields.
type fields map[string]any

func (f fields) Canonical() string { return fmt.Sprint(map[string]any(f)) }
func (f fields) Fields() any       { return map[string]any(f) }

// TestUnseenFieldsAreNamed names up to four fields of a change that a controller has not seen.
func TestUnseenFieldsAreNamed(t *testing.T) {
	v := state.NewVocabulary(func(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions })
	pod := view.New(v, "web", "Pod", view.Lag(9))
	cell := v.Object(core.Key{Kind: "Pod", Name: "a"})
	p := &transition.Process{Name: "web", Views: []*view.View{pod}}
	a := &transition.Actor{Process: p}
	space := searchModel(t, grid(1), Options{})
	w := *space.executor
	w.Walker = transition.NewWalker(&transition.Machine{Vocabulary: v, Processes: []*transition.Process{p}, Actors: []*transition.Actor{a}}, nil)
	w.Load(nil)
	for names, want := range map[string]string{"a b c d": "Pod a was changed: a, b, c, d", "a b c d e": "Pod a was changed: a, b, c, d, …", "a": "Pod a was changed: a"} {
		before, after := fields{}, fields{}
		for _, name := range strings.Fields(names) {
			before[name], after[name] = 1, 2
		}
		w.Set(pod.Cell(), pod.Commit(0, view.Change{Cell: cell, From: v.Intern(cell, before), To: v.Intern(cell, after)}))
		if got := unseenBy(&w, a); !slices.Equal(got, []string{want}) {
			t.Errorf("it has not seen %q, want %q", got, want)
		}
	}
}
