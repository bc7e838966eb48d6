package properties_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// arrows makes a graph of steps from state to state, each of an item of its own.
func arrows(states int, steps ...[2]core.StateID) *graph {
	g := &graph{edges: make([][]core.Edge, states), initial: []core.StateID{0}, outcomes: map[core.StateID]string{}}
	for i, s := range steps {
		item := core.Item{Strategy: "c", Request: core.Request(rune('a' + i))}
		g.edges[s[0]] = append(g.edges[s[0]], core.Edge{From: s[0], To: s[1], Step: core.Step{Item: item}})
	}
	return g
}

// TestRunsPartWhereItIsDecided has two ways from the start to a state that decides
// between the ends 4 and 5, and one of them is the first half of a shortest run to each.
func TestRunsPartWhereItIsDecided(t *testing.T) {
	g := arrows(6, [2]core.StateID{0, 1}, [2]core.StateID{0, 2}, [2]core.StateID{1, 3}, [2]core.StateID{2, 3},
		[2]core.StateID{3, 4}, [2]core.StateID{3, 5})
	g.outcomes[4], g.outcomes[5] = "one", "other"
	violations, err := properties.SameOutcome().Judge(context.Background(), g)
	if err != nil || len(violations) != 1 {
		t.Fatalf("%d violations, %v", len(violations), err)
	}
	first, second := violations[0].Stem, *violations[0].Other
	if len(first) != 3 || len(second) != 3 || first[1] != second[1] || first[2] == second[2] {
		t.Errorf("the runs do not part at their last step:\n%v\n%v", first, second)
	}
}

// TestPartingIsReal checks on random graphs that both runs are runs, that they end in
// different ways, and that the step where they part decides, if any step does.
func TestPartingIsReal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 8).Draw(t, "states")
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]core.StateID {
			// Towards higher numbers, so that there are ends.
			from := rapid.IntRange(0, n-2).Draw(t, "from")
			return [2]core.StateID{core.StateID(from), core.StateID(rapid.IntRange(from+1, n-1).Draw(t, "to"))}
		}), 2, 14).Draw(t, "steps")
		g := arrows(n, steps...)
		reachable := map[core.StateID]bool{0: true}
		for id := range core.StateID(n) {
			for _, e := range g.edges[id] {
				reachable[e.To] = reachable[e.To] || reachable[id]
			}
			g.outcomes[id] = rapid.SampledFrom([]string{"one", "other"}).Draw(t, "outcome")
		}
		// Only what can be reached is stored.
		for id := range core.StateID(n) {
			if !reachable[id] {
				g.edges[id] = []core.Edge{{From: id, To: id}}
			}
		}
		violations, err := properties.SameOutcome().Judge(context.Background(), g)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range violations {
			ends := map[string]bool{}
			for _, run := range []core.Run{v.Stem, *v.Other} {
				at := core.StateID(0)
				for _, e := range run {
					if e.From != at || !isEdge(g, e) {
						t.Fatalf("%v is no run", run)
					}
					at = e.To
				}
				if len(g.edges[at]) > 0 {
					t.Fatalf("%v does not end", run)
				}
				ends[g.outcomes[at]] = true
			}
			if len(ends) != 2 {
				t.Fatalf("both runs end in the same way: %v and %v", v.Stem, *v.Other)
			}
		}
	})
}

func isEdge(g *graph, e core.Edge) bool {
	for _, known := range g.edges[e.From] {
		if known == e {
			return true
		}
	}
	return false
}
