package properties_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties"
)

// explored searches a model in full.
func explored(t *testing.T, model plain.Model) core.Graph {
	t.Helper()
	model.Name = "known"
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	space, err := explore.Search(context.Background(), system, explore.Options{
		Workers: 1,
		Run:     behavior.Limits{Deadline: 10 * time.Second, Calls: 1000},
	})
	if err != nil || len(space.Reasons()) > 0 {
		t.Fatal(err, space.Reasons())
	}
	return space
}

// violated judges a property of a graph that was searched in full.
func violated(t *testing.T, g core.Graph, p core.Property) *core.Violation {
	t.Helper()
	violations, err := p.Judge(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	if len(violations) == 0 {
		return nil
	}
	return &violations[0]
}

// realRun checks that a run is made of steps of the graph and leads from one state to another.
func realRun(t *testing.T, g core.Graph, run core.Run, from, to core.StateID) {
	t.Helper()
	for _, e := range run {
		if e.From != from || !slices.Contains(g.Edges(from), e) {
			t.Fatalf("%+v is no step from %d", e, from)
		}
		from = e.To
	}
	if from != to {
		t.Fatalf("the run ends in %d, not in %d", from, to)
	}
}

func action(name string, do func(*plain.World)) plain.Action { return plain.Action{Name: name, Do: do} }

func at(x plain.Var[int], value int) properties.Predicate {
	return func(s core.State) bool { return x.Get(s) == value }
}

// A variable is incremented modulo 3, which is weakly fair, or set to any value, which is not. It
// has 3 states. It is incremented infinitely often, and yet need not ever be 2 again.
func TestIncrementOrAny(t *testing.T) {
	x := plain.NewVar[int]("x")
	var set []plain.Action
	for value := range 3 {
		set = append(set, action(fmt.Sprint("set ", value), func(w *plain.World) { x.Set(w, value) }))
	}
	g := explored(t, plain.Model{
		Initial: []core.Initial{plain.Start(x.Is(0))},
		Processes: []plain.Process{
			{Name: "increment", Actions: []plain.Action{action("increment", func(w *plain.World) { x.Set(w, (x.Get(w)+1)%3) })}},
			{Name: "any", Actions: set, Unfair: true},
		},
	})
	if got := g.States(); got != 3 {
		t.Fatalf("%d states, want 3", got)
	}
	increments := func(e core.Edge) bool { return e.Step.Item.Strategy == "increment" }
	for value := range 3 {
		v := violated(t, g, properties.InfinitelyOften("again", at(x, value)))
		if v == nil {
			t.Fatalf("that it is %d infinitely often holds", value)
		}
		realRun(t, g, v.Cycle, v.State, v.State)
		if !slices.ContainsFunc(v.Cycle, increments) {
			t.Errorf("the cycle without %d is not fair: it does not increment", value)
		}
	}
	// Whatever the others do, one of two values that follow each other comes again and again.
	either := func(s core.State) bool { return at(x, 1)(s) || at(x, 2)(s) }
	if v := violated(t, g, properties.InfinitelyOften("either", either)); v != nil {
		t.Errorf("it is neither 1 nor 2 any more after %v, with %v", v.Stem, v.Cycle)
	}
}

// 0→1→2→0 with 0→0: that x is not 0 from some point on does not hold.
func TestRingWithLoop(t *testing.T) {
	x := plain.NewVar[int]("x")
	for _, unfair := range []bool{false, true} {
		g := explored(t, plain.Model{
			Initial: []core.Initial{plain.Start(x.Is(0))},
			Processes: []plain.Process{{Name: "p", Unfair: unfair, Actions: []plain.Action{
				action("go on", func(w *plain.World) { x.Set(w, (x.Get(w)+1)%3) }),
				action("stay", func(w *plain.World) { w.Require(x.Get(w) == 0) }),
			}}},
		})
		v := violated(t, g, properties.EventuallyAlways("not 0", func(s core.State) bool { return x.Get(s) != 0 }))
		if v == nil {
			t.Fatal("it holds")
		}
		realRun(t, g, v.Stem, 0, v.State)
		realRun(t, g, v.Cycle, v.State, v.State)
		// Whoever is not fair may also stop there.
		passes := len(v.Cycle) == 0 && unfair && at(x, 0)(g.State(v.State)) ||
			slices.ContainsFunc(v.Cycle, func(e core.Edge) bool { return at(x, 0)(g.State(e.To)) })
		if !passes {
			t.Errorf("the cycle %v does not pass through 0", v.Cycle)
		}
	}
}

// 0→1: without fairness x need not ever be 1.
func TestOneStep(t *testing.T) {
	x := plain.NewVar[int]("x")
	for _, unfair := range []bool{false, true} {
		g := explored(t, plain.Model{
			Initial: []core.Initial{plain.Start(x.Is(0))},
			Processes: []plain.Process{{Name: "p", Unfair: unfair, Actions: []plain.Action{
				action("go", func(w *plain.World) { w.Require(x.Get(w) == 0); x.Set(w, 1) }),
			}}},
		})
		v := violated(t, g, properties.Eventually("one", at(x, 1)))
		if unfair != (v != nil) {
			t.Errorf("without fairness: %t; violated: %t", unfair, v != nil)
		}
		if v != nil && (len(v.Stem) != 0 || len(v.Cycle) != 0 || v.State != 0) {
			t.Errorf("the run is %v and then %v", v.Stem, v.Cycle)
		}
	}
}

// Peterson's mutual exclusion has 32 states and 54 transitions; who raises the flag gets
// in, under weak fairness and not without.
func TestPeterson(t *testing.T) {
	for _, unfair := range []bool{false, true} {
		flag, place := plain.NewFamily[bool]("flag"), plain.NewFamily[int]("place")
		turn := plain.NewVar[int]("turn")
		model := plain.Model{Initial: []core.Initial{plain.Start(
			turn.Is(0), flag.At(0).Is(false), flag.At(1).Is(false), place.At(0).Is(0), place.At(1).Is(0),
		)}}
		for me := range 2 {
			other := 1 - me
			var actions []plain.Action
			for from, do := range []func(*plain.World){
				func(w *plain.World) { flag.At(me).Set(w, true) },
				func(w *plain.World) { turn.Set(w, me) },
				func(w *plain.World) { w.Require(!flag.At(other).Get(w) || turn.Get(w) == other) },
				func(*plain.World) {},
				func(*plain.World) {},
				func(w *plain.World) { flag.At(me).Set(w, false) },
			} {
				actions = append(actions, action(fmt.Sprint("from ", from), func(w *plain.World) {
					w.Require(place.At(me).Get(w) == from)
					do(w)
					place.At(me).Set(w, (from+1)%6)
				}))
			}
			model.Processes = append(model.Processes, plain.Process{Name: fmt.Sprint("p", me), Actions: actions, Unfair: unfair})
		}
		g := explored(t, model)
		transitions := 0
		for id := range core.StateID(g.States()) {
			transitions += len(g.Edges(id))
		}
		if g.States() != 32 || transitions != 54 {
			t.Errorf("%d states and %d transitions, want 32 and 54", g.States(), transitions)
		}
		if v := violated(t, g, properties.NoDeadlock()); v != nil {
			t.Errorf("there is a deadlock: %v", v.Stem)
		}
		for me := range 2 {
			v := violated(t, g, properties.LeadsTo("gets in",
				func(s core.State) bool { return flag.At(me).Get(s) },
				func(s core.State) bool { return place.At(me).Get(s) == 4 }))
			if unfair != (v != nil) {
				t.Errorf("without fairness: %t; somebody starves: %t", unfair, v != nil)
			}
			if v != nil {
				realRun(t, g, v.Stem, 0, v.State)
				realRun(t, g, v.Cycle, v.State, v.State)
			}
		}
	}
}

// TestManyDuties checks a component in which more has to be done to be fair than the
// search for a shortest cycle can follow.
func TestManyDuties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &graph{initial: []core.StateID{0}}
		n := core.StateID(rapid.IntRange(2, 6).Draw(t, "states"))
		for id := range n {
			g.add(id, (id+1)%n, fmt.Sprintf("ring %d", id)).Wrote = true
		}
		// Each of these is enabled everywhere, and its steps all lead back to the start but one.
		for duty := range 20 {
			far := core.StateID(rapid.IntRange(0, int(n)-1).Draw(t, "far"))
			for id := range n {
				to := core.StateID(0)
				if id == far {
					to = id
				}
				g.add(id, to, fmt.Sprintf("duty %d", duty))
			}
		}
		v := judge(t, g, properties.StableConvergence())
		if v == nil || len(v.Cycle) == 0 {
			t.Fatalf("the livelock is not found: %+v", v)
		}
		lasso(t, g, *v)
	})
}

// TestLeftOutCounts checks that what waits in a queue and could be run counts as possible, also where the graph leaves
// it out: whoever else goes round for ever would put it off for ever.
func TestLeftOutCounts(t *testing.T) {
	for _, possible := range []bool{false, true} {
		g := &graph{initial: []core.StateID{0}, queued: map[core.StateID][]core.Item{}, tried: map[core.StateID]map[core.Item]core.Effect{}}
		g.add(0, 1, "a")
		g.add(1, 0, "a")
		for id := range core.StateID(2) {
			g.queued[id] = []core.Item{item("a"), item("b")}
			if possible {
				g.tried[id] = map[core.Item]core.Effect{item("b"): {}}
			}
		}
		never := func(core.State) bool { return false }
		for _, p := range []core.Property{properties.Eventually("p", never), properties.StableConvergence()} {
			g.edges[0][0].Wrote = true
			violations, err := p.Judge(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			if fair := len(violations) > 0; fair == possible {
				t.Errorf("%s: the other can run: %t, and the cycle counts as fair: %t", p.Name, possible, fair)
			}
		}
	}
}
