package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// grid is a model of two processes, each of which takes a variable from 0 to its end.
func grid(ends ...int) plain.Model {
	var values []core.Object
	model := plain.Model{Name: "grid"}
	for i, end := range ends {
		v := plain.NewVar[int](string(rune('x' + i)))
		values = append(values, v.Is(0))
		model.Processes = append(model.Processes, plain.Process{Name: v.Key().Name, Actions: []plain.Action{{Name: "add", Do: func(w *plain.World) {
			w.Require(v.Get(w) < end)
			v.Set(w, v.Get(w)+1)
		}}}})
	}
	model.Initial = []core.Initial{plain.Start(values...)}
	return model
}

// TestCountsOfAGrid counts by hand: three by two states, with 2·2 + 3·1 steps. Of these, the first one of each process
// at each value of its variable runs code: 2 + 1. That nothing is done at the end runs code as well, which is no step.
func TestCountsOfAGrid(t *testing.T) {
	for name, o := range map[string]Options{
		"breadth-first": {}, "depth-first": {Order: DepthFirst}, "depth-first with a bound": {Order: DepthFirst, Bounds: Bounds{Depth: 3}}, "compact": {Compact: true},
		"walks": {Order: RandomWalks, Bounds: Bounds{Walks: 100}}, "swarm": {Order: SwarmWalks, Bounds: Bounds{Walks: 100}},
	} {
		space := searchModel(t, grid(2, 1), o)
		got := space.Stats
		if space.States() != 6 || got.Transitions != 7 || got.FromTree != 4 || got.Terminal != 1 || len(space.Reasons()) > 0 || !space.Acyclic() && !o.Order.Walks() {
			t.Errorf("%s: %d states, and %+v; %v", name, space.States(), got, space.Reasons())
		}
		// With a bound on depth, or on a walk, a way may be longer than the shortest.
		if got.Depth != 3 {
			t.Errorf("%s: the depth is %d, want 3", name, got.Depth)
		}
	}
}

// TestDepthLimit ends a search at a depth: states there that have steps are cut, and those that have none are not.
func TestDepthLimit(t *testing.T) {
	for depth, want := range map[int]struct{ states, cut, transitions int }{1: {3, 2, 2}, 2: {5, 2, 5}, 3: {6, 0, 7}, 9: {6, 0, 7}} {
		for _, order := range []Order{BreadthFirst, DepthFirst} {
			space := searchModel(t, grid(2, 1), Options{Order: order, Bounds: Bounds{Depth: depth}})
			cut := 0
			for id := range core.StateID(space.States()) {
				if space.Cut(id) {
					cut++
				}
			}
			if space.States() != want.states || cut != want.cut || space.Stats.Transitions != want.transitions || (len(space.Reasons()) > 0) != (cut > 0) {
				t.Errorf("to the depth %d in order %d: %d states, of which %d are cut, and %d transitions, want %+v; %v", depth, order, space.States(), cut, space.Stats.Transitions, want, space.Reasons())
			}
		}
	}
}

// TestWalksEnd has walks end when memory is used up, and say what they saw.
func TestWalksEnd(t *testing.T) {
	space := searchModel(t, grid(2, 1), Options{Order: RandomWalks, Bounds: Bounds{Memory: 1 << 20, Walks: 10}})
	want := []string{
		"the search reached the memory limit (1 MiB): raise --max-memory (Options.MaxMemory), or make the system smaller",
		"random walks do not visit every state: 1 walks (seed 0) visited 0 states, and saw 1 more next to them; to visit more, raise --walks (Options.Walks)",
	}
	if !slices.Equal(space.Reasons(), want) || !space.Cut(0) || space.States() != 1 {
		t.Errorf("of %d states, the reasons are %q", space.States(), space.Reasons())
	}
	// One walk of one step: it visits the start, and sees the two states next to it.
	space = searchModel(t, grid(2, 1), Options{Order: RandomWalks, Seed: 3, Bounds: Bounds{Depth: 1, Walks: 1}})
	want = []string{"random walks do not visit every state: 1 walks (seed 3) visited 1 states, and saw 2 more next to them; to visit more, raise --walks (Options.Walks), or --max-depth (Options.MaxDepth), since walks stop after 1 steps"}
	if !slices.Equal(space.Reasons(), want) || space.Cut(0) || !space.Cut(1) || !space.Cut(2) {
		t.Errorf("the reasons are %q", space.Reasons())
	}
	// As many as there are to be if nobody says, of which the states are all visited long before.
	space = searchModel(t, grid(30, 30), Options{Order: RandomWalks, Bounds: Bounds{Depth: 1}})
	if len(space.Reasons()) != 1 || !strings.Contains(space.Reasons()[0], "1000 walks") {
		t.Errorf("the reasons are %q", space.Reasons())
	}
}

// TestDepthsAreKept has the depths of states be kept only where a state may be met again less deep. Elsewhere workers
// insert states.
func TestDepthsAreKept(t *testing.T) {
	for _, test := range []struct {
		o    Options
		kept bool
	}{{Options{}, false}, {Options{Bounds: Bounds{Depth: 5}}, false}, {Options{Order: DepthFirst}, false}, {Options{Order: DepthFirst, Bounds: Bounds{Depth: 5}}, true}, {Options{Order: RandomWalks}, true}} {
		if space := searchModel(t, grid(1, 1), test.o); space.depths.needed != test.kept || (space.table == nil) != test.kept {
			t.Errorf("%+v: depths are kept: %t, and the search stores alone: %t", test.o, space.depths.needed, space.table == nil)
		}
	}
}

// TestIncidentsAreLocated has code fail in one state of a line, in searches that learn it there.
func TestIncidentsAreLocated(t *testing.T) {
	x := plain.NewVar[int]("x")
	for name, o := range map[string]Options{"breadth-first": {}, "depth-first": {Order: DepthFirst}, "walks": {Order: RandomWalks, Bounds: Bounds{Walks: 3}}} {
		space := searchModel(t, plain.Model{Name: "line", Initial: []core.Initial{plain.Start(x.Is(0))}, Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "on", Do: func(w *plain.World) {
			if x.Get(w) == 3 {
				panic("three")
			}
			w.Require(x.Get(w) < 5)
			x.Set(w, x.Get(w)+1)
		}}}}}}, o)
		incidents := space.Incidents()
		if len(incidents) != 1 || incidents[0].Kind != core.Panicked || incidents[0].AtStart || x.Get(space.State(incidents[0].State)) != 3 {
			t.Errorf("%s: %+v", name, incidents)
		}
	}
}

// TestSpacesOutliveTheirSearches has the context of a search end behind it: what it has found can be told all the same.
func TestSpacesOutliveTheirSearches(t *testing.T) {
	system, err := mirroring().System()
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	space, err := Search(ctx, system, Options{Workers: 1, Run: behavior.Limits{Deadline: time.Second, Calls: 100}})
	if err != nil {
		t.Fatal(err)
	}
	end()
	last := core.StateID(space.States() - 1)
	run, _ := space.Shortest(func(id core.StateID) bool { return id == last })
	trace, err := space.Trace(t.Context(), 0, run, &core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "mirror", Request: "copy"}})
	if err != nil || len(trace.Steps) != len(run)+1 {
		t.Errorf("%d steps of %d are told, and the error is %v", len(trace.Steps), len(run), err)
	}
	if len(space.Relisted(last)) != 1 || len(space.Reasons()) > 0 {
		t.Errorf("a restart enqueues %v, and the reasons are %v", space.Relisted(last), space.Reasons())
	}
	if space.executor.Listener != nil || space.learner.Searching {
		t.Error("the search goes on")
	}
}

// TestPositions has a simulation tell what waits where it is: not what users may do, nor actions that can be taken at
// any time.
func TestPositions(t *testing.T) {
	model := mirroring()
	from := plain.NewVar[int]("from")
	model.Scenario = plain.Scenario{Actions: []plain.Action{{Name: "set", Do: func(w *plain.World) { from.Set(w, 7) }}}}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	s := NewSimulation(system, Conditions{}, behavior.Limits{Deadline: time.Second, Calls: 100}, nil)
	position, err := s.Run(t.Context(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(position.Work, position.Timers); got != "[mirror(copy)] []" || len(position.Choices) != 3 || len(position.Objects) != 2 {
		t.Errorf("at the start %s waits, and %d steps can be taken", got, len(position.Choices))
	}
	for _, c := range position.Choices {
		after, err := s.Run(t.Context(), 0, []core.Step{c.Edge.Step})
		if err != nil || len(after.Trace.Steps) != 1 {
			t.Fatalf("%s: %v", c.Edge.Step, err)
		}
		want := map[string]string{"mirror": "[]", "source": "[log(changed) mirror(copy)]"}
		if got := fmt.Sprint(after.Work); want[c.Edge.Step.Item.Strategy] != "" && got != want[c.Edge.Step.Item.Strategy] {
			t.Errorf("behind %s, %s waits", c.Edge.Step, got)
		}
	}
	for _, initial := range []int{-1, 1} {
		if _, err := s.Run(t.Context(), initial, nil); err == nil {
			t.Errorf("the system starts in its initial state %d, and has one", initial)
		}
	}
	if _, err := s.Run(t.Context(), 0, []core.Step{{Kind: core.Reconcile, Item: core.Item{Strategy: "log", Request: "changed"}}}); err == nil || !strings.Contains(err.Error(), "step 1") {
		t.Errorf("a step that is not possible is taken: %v", err)
	}
}

// TestWalksAreInterrupted has a search end in the midst of a walk: what was not visited by then is cut, and the reasons
// say so.
func TestWalksAreInterrupted(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	x := plain.NewVar[int]("x")
	system, err := plain.Model{Name: "line", Initial: []core.Initial{plain.Start(x.Is(0))}, Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "on", Do: func(w *plain.World) {
		if x.Get(w) == 2 {
			end()
		}
		x.Set(w, x.Get(w)+1)
	}}}}}}.System()
	if err != nil {
		t.Fatal(err)
	}
	space, err := Search(ctx, system, Options{Order: RandomWalks, Workers: 1, Run: behavior.Limits{Deadline: time.Second, Calls: 100}})
	if err != nil || space.States() != 3 || space.Cut(0) || space.Cut(1) || !space.Cut(2) {
		t.Fatalf("%d states are found, and the error is %v", space.States(), err)
	}
	if reasons := space.Reasons(); len(reasons) != 2 || reasons[0] != "the search was interrupted" || !strings.Contains(reasons[1], "1 walks (seed 0) visited 2 states, and saw 1 more") {
		t.Errorf("the reasons are %q", reasons)
	}
}
