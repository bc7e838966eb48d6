package explore

import (
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
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

// TestCountsOfAGrid counts by hand: three by two states, with 2·2 + 3·1 steps. Of these, the first one of each process at each value of its variable runs code: 2 + 1. That
// nothing is done at the end runs code as well, which is no step.
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
