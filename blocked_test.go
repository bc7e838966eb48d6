package orrery_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestBlockedRequests checks that a request that is blocked neither hides what the others do nor counts as something
// that can happen, however a system is searched.
func TestBlockedRequests(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	controller := func(name string, do func(*plain.World)) plain.Controller {
		return plain.Controller{
			Name: name, Requests: []core.Request{"r"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result { do(w); return core.Result{} },
		}
	}
	waits := controller("waits", func(w *plain.World) { w.Require(x.Get(w) == 1); y.Set(w, 2) })
	writes := controller("writes", func(w *plain.World) { y.Set(w, 1) })
	allows := controller("allows", func(w *plain.World) { x.Set(w, 1) })
	for _, test := range []struct {
		name        string
		controllers []plain.Controller
		// unwritten is the verdict on y never being written.
		unwritten core.Verdict
	}{
		{"nobody allows it", []plain.Controller{waits, writes}, core.Violated},
		{"the only one", []plain.Controller{waits}, core.Holds},
		{"somebody allows it", []plain.Controller{waits, allows}, core.Violated},
	} {
		for _, reduction := range []orrery.Reduction{orrery.NoReduction, orrery.ByPartialOrder, orrery.BySymmetry} {
			for _, granularity := range []orrery.Granularity{orrery.PerReconcile, orrery.PerCall} {
				for workers := 1; workers <= 2; workers++ {
					for _, order := range []orrery.Search{orrery.BreadthFirst, orrery.DepthFirst} {
						t.Run(fmt.Sprint(test.name, reduction, granularity, workers, order), func(t *testing.T) {
							model := plain.Model{
								Name: "blocked", Controllers: test.controllers,
								Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0))},
								Properties: []core.Property{
									properties.Always("unwritten", func(s core.State) bool { return y.Get(s) == 0 }),
									properties.NoDeadlock(), properties.StableConvergence(),
								},
							}
							system, err := model.System()
							if err != nil {
								t.Fatal(err)
							}
							system.Interchangeable = [][]string{{"one", "other"}}
							result, err := orrery.Run(context.Background(), system, orrery.Options{
								Reduction: reduction, Granularity: granularity, Workers: workers, Search: order,
							})
							if err != nil {
								t.Fatal(err)
							}
							want := map[string]core.Verdict{"unwritten": test.unwritten, "no deadlock": core.Violated, "stable convergence": core.Holds}
							for _, p := range result.Report.Properties {
								if verdict, asked := want[p.Name]; asked && p.Verdict != verdict {
									t.Errorf("%q: %s, want %s", p.Name, p.Verdict, verdict)
								}
							}
							if result.Report.TerminalStates == 0 {
								t.Error("a state in which all work is blocked is not terminal")
							}
						})
					}
				}
			}
		}
	}
}
