package explore_test

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestFaultsAreConfined checks that crashes and failed calls happen only in the controllers that they are confined to,
// and that those have the same faults as without.
func TestFaultsAreConfined(t *testing.T) {
	const faulty = "controller0"
	met := map[core.StepKind]int{}
	last := uint64(60)
	if testing.Short() {
		last = 10
	}
	for seed := uint64(1); seed <= last; seed++ {
		system, err := random.Loose(seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, granularity := range []explore.Granularity{explore.PerReconcile, explore.PerCall} {
			o := options(2)
			o.Bounds.States = 400
			o.Conditions = explore.Conditions{Crashes: 1, Failures: 1, FaultsIn: []string{faulty}, Granularity: granularity}
			space := search(t, system, o)
			for id := range core.StateID(space.States()) {
				for _, e := range space.Edges(id) {
					if e.Step.Kind != core.Restart && !strings.Contains(e.Step.Detail, "fails: ") && !strings.Contains(e.Step.Detail, "it crashes after") {
						continue
					}
					if e.Step.Item.Strategy != faulty {
						t.Fatalf("seed %d: %s has the fault %q", seed, e.Step.Item, e.Step.Detail)
					}
					met[e.Step.Kind]++
				}
			}
		}
	}
	for _, kind := range []core.StepKind{core.Restart, core.Reconcile, core.Ask} {
		if met[kind] == 0 {
			t.Errorf("no step %q has a fault", kind.Name())
		}
	}
}

// TestBlockedUnlessACallFails runs a controller that is blocked unless its read fails.
func TestBlockedUnlessACallFails(t *testing.T) {
	system := boardWith([]string{"a 0"}, writer{
		name:    "w",
		initial: []core.Request{"r"},
		reconcile: func(do do, _ core.Request) core.Result {
			if do("get a") == "0" {
				return core.Result{Blocked: true}
			}
			do("put b 1")
			return core.Result{}
		},
	})
	system.Store = random.Failing{Store: system.Store}
	for workers := 1; workers <= 2; workers++ {
		o := options(workers)
		o.Conditions = explore.Conditions{Failures: 2}
		if got := search(t, system, o).States(); got != 4 {
			t.Errorf("%d workers find %d states, want 4: nothing done, b written after one failure, and b written or lost after two", workers, got)
		}
	}
}
