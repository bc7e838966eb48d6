package properties_test

import (
	"context"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/properties"
)

// TestReducedCyclesAreFair checks on random systems that the cycle of a livelock leaves out nobody who waits in a queue
// all the time, although the graph does not show all that can happen in a state.
func TestReducedCyclesAreFair(t *testing.T) {
	enough := 120 // systems, among which there are some whose shortest cycles would leave somebody out
	n := max(*seeds, enough)
	if testing.Short() {
		n, enough = n/6, enough/6
	}
	cycles := 0
	for seed := range uint64(n) {
		system, err := random.Loose(seed)
		if err != nil {
			t.Fatal(err)
		}
		system.Properties = []core.Property{properties.StableConvergence()}
		result, err := orrery.Run(context.Background(), system, orrery.Options{MaxStates: 3000})
		if err != nil {
			t.Fatal(err)
		}
		violations, err := properties.StableConvergence().Judge(context.Background(), result.Graph)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range violations {
			cycles++
			for _, item := range neglected(result.Graph, v.Cycle) {
				t.Errorf("seed %d: %s waits all the time in the cycle %v", seed, item, v.Cycle)
			}
		}
	}
	if cycles < enough/10 {
		t.Errorf("there were only %d cycles", cycles)
	}
}

// neglected returns the items that could be run in every state of a cycle, and never are.
func neglected(g core.Graph, cycle core.Run) []core.Item {
	waiting := slices.Clone(g.State(cycle[0].From).Work())
	for _, e := range cycle {
		work := slices.Clone(g.State(e.From).Work())
		waiting = slices.DeleteFunc(waiting, func(item core.Item) bool {
			possible := len(g.Try(e.From, item)) > 0
			return !possible || item == e.Step.Item || !slices.Contains(work, item) || !g.Fair(core.Step{Kind: core.Reconcile, Item: item})
		})
	}
	return waiting
}
