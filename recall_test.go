package orrery_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// TestWhatWasFoundOutIsKept checks controllers that show only once, in the first search, that they are no functions of
// what they read. The search is begun again, and nothing is wrong with them then.
func TestWhatWasFoundOutIsKept(t *testing.T) {
	things, x := plain.NewFamily[int]("things"), plain.NewVar[int]("x")
	for _, test := range []struct {
		name string
		// code returns what the controller does, with a variable that all its instances share.
		code func() func(*plain.World)
	}{
		{"a variable that keeps it from creating twice", func() func(*plain.World) {
			created := false
			return func(w *plain.World) {
				if len(things.All(w)) == 0 && !created {
					created = true
					things.At(0).Set(w, 1)
				}
			}
		}},
		{"a coin that falls otherwise once", func() func(*plain.World) {
			runs := 0
			return func(w *plain.World) {
				if runs++; runs == 2 {
					x.Get(w)
				}
				things.At(0).Set(w, 1)
			}
		}},
	} {
		for _, reduction := range []orrery.Reduction{orrery.NoReduction, orrery.ByPartialOrder, orrery.BySymmetry} {
			for workers := 1; workers <= 2; workers++ {
				t.Run(fmt.Sprint(test.name, reduction, workers), func(t *testing.T) {
					code := test.code()
					remembers := func(w *plain.World, _ core.Request) core.Result { code(w); return core.Result{} }
					counts := func(w *plain.World, _ core.Request) core.Result { x.Set(w, 1); return core.Result{} }
					system, err := plain.Model{
						Name:    "remembers",
						Initial: []core.Initial{plain.Start(x.Is(0))},
						Controllers: []plain.Controller{
							{Name: "remembers", Requests: []core.Request{"r"}, Reconcile: remembers},
							{Name: "counts", Requests: []core.Request{"r"}, Reconcile: counts},
						},
					}.System()
					if err != nil {
						t.Fatal(err)
					}
					system.Interchangeable = [][]string{{"one", "other"}}
					result, err := orrery.Run(context.Background(), system, orrery.Options{Reduction: reduction, Workers: workers})
					if err != nil {
						t.Fatal(err)
					}
					if r := result.Report; r.Verdict == core.Holds || len(r.Reasons) == 0 {
						t.Errorf("the verdict is %s, with the reasons %q", r.Verdict, r.Reasons)
					}
				})
			}
		}
	}
}
