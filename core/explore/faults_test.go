package explore_test

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestFaultsAreConfined checks that crashes and failed calls happen only in the controllers that they are confined to, and that
// those have the same faults as without.
func TestFaultsAreConfined(t *testing.T) {
	const faulty = "controller0"
	met := map[core.StepKind]int{}
	for seed := uint64(1); seed <= 60; seed++ {
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
