package effort_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/effort"
)

// graph is a graph given by the steps from each state. It begins in state 0.
type graph [][]core.Edge

func (g graph) States() int                       { return len(g) }
func (g graph) Initial() []core.StateID           { return []core.StateID{0} }
func (g graph) Edges(id core.StateID) []core.Edge { return g[id] }
func forbidden(e core.Edge) bool                  { return e.Step.Item.Strategy == "forbidden" }
func allowed(e core.Edge) bool                    { return !forbidden(e) }
func takes(run core.Run) (total effort.Effort) {
	for _, e := range run {
		total = total.With(e)
	}
	return total
}

// random returns a graph with steps of all kinds.
func random(chance *rand.Rand) graph {
	g := make(graph, 1+chance.IntN(30))
	for from := range g {
		for range chance.IntN(4) {
			e := core.Edge{From: core.StateID(from), To: core.StateID(chance.IntN(len(g))), Late: chance.IntN(3) == 0}
			switch chance.IntN(6) {
			case 0:
				e.Step.Kind = core.Restart
			case 1:
				e.Step.Detail = "a call failed"
			case 2:
				e.Step.Item.Strategy = "forbidden"
			}
			g[from] = append(g[from], e)
		}
	}
	return g
}

// relaxed returns what it takes to come to each state, by going over all steps until nothing changes.
func relaxed(g graph) map[core.StateID]effort.Effort {
	least := map[core.StateID]effort.Effort{0: {}}
	for changed := true; changed; {
		changed = false
		for from, edges := range g {
			at, reached := least[core.StateID(from)]
			if !reached {
				continue
			}
			for _, e := range edges {
				if known, reached := least[e.To]; allowed(e) && (!reached || at.With(e).Compare(known) < 0) {
					least[e.To], changed = at.With(e), true
				}
			}
		}
	}
	return least
}

// TestSearch compares what is found with what a simpler algorithm finds.
func TestSearch(t *testing.T) {
	for seed := range uint64(2000) {
		chance := rand.New(rand.NewPCG(seed, 1))
		g := random(chance)
		want := relaxed(g)
		all, _ := effort.Search(context.Background(), g, allowed, nil)
		for id := range core.StateID(len(g)) {
			least, reached := want[id]
			if all.Reached(id) != reached || all.Least(id) != least {
				t.Fatalf("seed %d: state %d is reached: %t, with %+v; want %t, %+v", seed, id, all.Reached(id), all.Least(id), reached, least)
			}
			if !reached {
				continue
			}
			run := all.Run(id)
			if got := takes(run); got != least || run.End(0) != id || slices.ContainsFunc(run, forbidden) {
				t.Fatalf("seed %d: the run to state %d takes %+v, want %+v: %+v", seed, id, got, least, run)
			}
		}
		accept := func(id core.StateID) bool { return id%5 == 3 }
		var nearest []core.StateID
		for id := range core.StateID(len(g)) {
			least, reached := want[id]
			if !reached || !accept(id) {
				continue
			}
			if len(nearest) > 0 && least.Compare(want[nearest[0]]) < 0 {
				nearest = nil
			}
			if len(nearest) == 0 || least == want[nearest[0]] {
				nearest = append(nearest, id)
			}
		}
		if _, found := effort.Search(context.Background(), g, allowed, accept); !slices.Equal(found, nearest) {
			t.Fatalf("seed %d: the nearest are %v, want %v", seed, found, nearest)
		}
	}
}

// TestWith counts what goes wrong in a run, what is late, and all steps.
func TestWith(t *testing.T) {
	late, faulty := core.Edge{Late: true}, core.Edge{Step: core.Step{Kind: core.Restart}}
	both := core.Edge{Late: true, Step: core.Step{Kind: core.Restart}}
	if got, want := takes(core.Run{{}, late, faulty, both, {}, late, {}}), (effort.Effort{Faults: 2, Late: 3, Steps: 7}); got != want {
		t.Errorf("the run takes %+v, want %+v", got, want)
	}
	ordered := []effort.Effort{{}, {Steps: 9}, {Late: 1}, {Late: 1, Steps: 1}, {Late: 2}, {Faults: 1}, {Faults: 1, Steps: 1}, {Faults: 1, Late: 1}, {Faults: 2}}
	for i, one := range ordered {
		for j, other := range ordered {
			if got := one.Compare(other); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%+v and %+v compare as %d", one, other, got)
			}
		}
	}
}

// TestGoesNoFurther has a search by all steps end at what it looks for, or when its context ends: what it reached by
// then can be asked for.
func TestGoesNoFurther(t *testing.T) {
	g := graph{
		{{From: 0, To: 1, Late: true}, {From: 0, To: 2}, {From: 0, To: 3, Step: core.Step{Kind: core.Restart}}},
		{{From: 1, To: 3}},
		{{From: 2, To: 1}},
		{{From: 3, To: 4}},
		nil,
	}
	reach, found := effort.Search(context.Background(), g, nil, func(id core.StateID) bool { return id == 3 })
	if want := []core.StateID{3}; !slices.Equal(found, want) || reach == nil || reach.Reached(4) {
		t.Fatalf("found %v, want %v; the search went on: %t", found, want, reach != nil && reach.Reached(4))
	}
	if got, want := reach.Run(3), (core.Run{g[0][1], g[2][0], g[1][0]}); !slices.Equal(got, want) {
		t.Errorf("the run that takes the least is %+v, want %+v", got, want)
	}

	ctx, cancel := context.WithCancel(context.Background())
	reach, found = effort.Search(ctx, g, nil, func(id core.StateID) bool {
		if id == 2 {
			cancel()
		}
		return false
	})
	if found != nil || reach == nil || !reach.Reached(2) || reach.Reached(4) {
		t.Fatalf("the context has ended, and found is %v, reached %+v", found, reach)
	}
	if got, want := reach.Run(2), (core.Run{g[0][1]}); !slices.Equal(got, want) {
		t.Errorf("the run is %+v, want %+v", got, want)
	}
}
