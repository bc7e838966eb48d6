package explore_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/naive"
	"github.com/orrery-dev/orrery/internal/random"
)

var (
	systems   = flag.Int("systems", 8, "how many random systems to search")
	firstSeed = flag.Uint64("first-seed", 1, "the seed of the first random system")
)

// largest is how many states a random system may have.
const largest = 2000

// eachSystem calls the test with random systems, and what the naive twin finds in them.
func eachSystem(t *testing.T, n int, test func(*testing.T, *core.System, *naive.Graph)) {
	t.Helper()
	if testing.Short() {
		n = max(1, n*3/4)
	}
	for seed := *firstSeed; n > 0; seed++ {
		system, err := random.System(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		graph, err := naive.Explore(system, largest)
		if err != nil {
			if !strings.Contains(err.Error(), "states") {
				t.Fatalf("seed %d: %v", seed, err)
			}
			continue // too large
		}
		n--
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			test(t, system, graph)
			if t.Failed() {
				t.Logf("again: go test ./core/explore -run %q -systems 1 -first-seed %d", strings.Split(t.Name(), "/")[0], seed)
			}
		})
	}
}

func search(t *testing.T, system *core.System, o explore.Options) *explore.Space {
	t.Helper()
	space, err := explore.Search(context.Background(), system, o)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// summary is all that a full search must find whatever its order.
type summary struct {
	states, edges, terminal, quiescent, initial []string
	broken                                      bool
	// distance is the length of a shortest run to a state that breaks the invariant, deepest
	// that of a longest shortest run.
	distance, deepest int
}

func summaryOfTwin(g *naive.Graph) summary {
	s := summary{broken: len(g.Violations) > 0, distance: -1}
	depth := make([]int, len(g.States))
	for id := range depth {
		depth[id] = -1
	}
	queue := slices.Clone(g.Initial)
	for _, id := range queue {
		depth[id] = 0
		s.initial = append(s.initial, text(g.States[id]))
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, e := range g.Edges[queue[0]] {
			if depth[e.To] < 0 {
				depth[e.To] = depth[queue[0]] + 1
				queue = append(queue, e.To)
			}
		}
	}
	for id, edges := range g.Edges {
		from := text(g.States[id])
		s.states = append(s.states, from)
		s.deepest = max(s.deepest, depth[id])
		if len(edges) == 0 {
			s.terminal = append(s.terminal, from)
		}
		if !slices.ContainsFunc(edges, func(e core.Edge) bool { return e.Step.Kind != core.Fire }) {
			s.quiescent = append(s.quiescent, from)
		}
		for _, e := range edges {
			s.edges = append(s.edges, edgeText(from, text(g.States[e.To]), e))
		}
	}
	for _, v := range g.Violations {
		if s.distance < 0 || depth[v.State] < s.distance {
			s.distance = depth[v.State]
		}
	}
	return s.inOrder()
}

func summaryOf(t *testing.T, g *explore.Space, invariant core.Property) summary {
	t.Helper()
	s := summary{distance: -1, deepest: g.Stats.Depth}
	texts := make([]string, g.States())
	for id := range texts {
		texts[id] = text(g.State(core.StateID(id)))
	}
	s.states = slices.Clone(texts)
	for _, id := range g.Initial() {
		s.initial = append(s.initial, texts[id])
	}
	for _, id := range g.Quiescent() {
		s.quiescent = append(s.quiescent, texts[id])
	}
	for id, from := range texts {
		id := core.StateID(id)
		edges := g.Edges(id)
		if len(edges) == 0 && !g.Cut(id) {
			s.terminal = append(s.terminal, from)
		}
		for _, e := range edges {
			s.edges = append(s.edges, edgeText(from, texts[e.To], e))
		}
	}
	if _, err := g.Broken(invariant.Name); err != nil {
		s.broken = true
		run, found := g.Shortest(func(id core.StateID) bool { return invariant.Invariant(g.State(id)) != nil })
		if !found {
			t.Error("the invariant is broken, but there is no run to where it is")
		}
		s.distance = len(run)
	}
	if g.Stats.Transitions != len(s.edges) || g.Stats.Terminal != len(s.terminal) {
		t.Errorf("the search counts %d transitions and %d terminal states, the graph has %d and %d",
			g.Stats.Transitions, g.Stats.Terminal, len(s.edges), len(s.terminal))
	}
	return s.inOrder()
}

func (s summary) inOrder() summary {
	for _, list := range [][]string{s.states, s.edges, s.terminal, s.quiescent, s.initial} {
		slices.Sort(list)
	}
	return s
}

// differ says where two summaries differ, empty if they do not.
func differ(got, want summary) string {
	for _, part := range []struct {
		name      string
		got, want []string
	}{
		{"initial states", got.initial, want.initial},
		{"states", got.states, want.states},
		{"steps", got.edges, want.edges},
		{"terminal states", got.terminal, want.terminal},
		{"quiescent states", got.quiescent, want.quiescent},
	} {
		if slices.Equal(part.got, part.want) {
			continue
		}
		return fmt.Sprintf("%d %s, want %d\nmissing:\n\t%s\nwrong:\n\t%s", len(part.got), part.name, len(part.want),
			strings.Join(less(part.want, part.got), "\n\t"), strings.Join(less(part.got, part.want), "\n\t"))
	}
	switch {
	case got.broken != want.broken:
		return fmt.Sprintf("the invariant is broken: %t, want %t", got.broken, want.broken)
	case got.distance != want.distance:
		return fmt.Sprintf("it is broken after %d steps, want %d", got.distance, want.distance)
	}
	return ""
}

// less returns what is in one list more often than in another.
func less(list, other []string) []string {
	times := map[string]int{}
	for _, s := range other {
		times[s]++
	}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		times[s]--
		return times[s] >= 0
	})
}

// TestSearchFindsWhatTheTwinFinds searches random systems in both orders and with one to
// three workers.
func TestSearchFindsWhatTheTwinFinds(t *testing.T) {
	eachSystem(t, *systems, func(t *testing.T, system *core.System, graph *naive.Graph) {
		want := summaryOfTwin(graph)
		for _, order := range []explore.Order{explore.BreadthFirst, explore.DepthFirst} {
			var first *explore.Space
			for workers := 1; workers <= 3; workers++ {
				o := options(workers)
				o.Order = order
				space := search(t, system, o)
				if reasons := space.Reasons(); len(reasons) > 0 {
					t.Fatalf("the search is not complete: %v", reasons)
				}
				got := summaryOf(t, space, system.Properties[0])
				if d := differ(got, want); d != "" {
					t.Fatalf("order %d, %d workers: %s", order, workers, d)
				}
				if order == explore.BreadthFirst && got.deepest != want.deepest {
					t.Fatalf("the deepest state is %d steps away, want %d", got.deepest, want.deepest)
				}
				if first == nil {
					first = space
					continue
				}
				same(t, space, first)
			}
		}
	})
}

// same checks that two searches did everything in the same order.
func same(t *testing.T, got, want *explore.Space) {
	t.Helper()
	if got.Stats != want.Stats {
		t.Fatalf("with another number of workers the search counts %+v, want %+v", got.Stats, want.Stats)
	}
	for id := range core.StateID(want.States()) {
		if got.Fingerprint(id) != want.Fingerprint(id) {
			t.Fatalf("with another number of workers another state has the number %d", id)
		}
	}
}
