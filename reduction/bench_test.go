package reduction_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/reduction"
)

// tight is a system in which nothing commutes: all counters change one object, so that no order can be left out.
func tight(b *testing.B, counters int) *core.System {
	b.Helper()
	object := plain.NewVar[[8]int]("counts")
	model := plain.Model{Name: "tight", Initial: []core.Initial{plain.Start(object.Is([8]int{}))}}
	for i := range counters {
		model.Controllers = append(model.Controllers, plain.Controller{
			Name: fmt.Sprintf("counter%d", i), Requests: []core.Request{"r"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				counts := object.Get(w)
				if counts[i] == 3 {
					return core.Result{}
				}
				counts[i]++
				object.Set(w, counts)
				return core.Result{Requeue: true}
			},
		})
	}
	system, err := model.System()
	if err != nil {
		b.Fatal(err)
	}
	return system
}

// BenchmarkTight measures what looking for orders that can be left out costs where there are none.
func BenchmarkTight(b *testing.B) {
	for _, granularity := range []explore.Granularity{explore.PerReconcile, explore.PerCall} {
		counters := 5 - 3*int(granularity)
		system := tight(b, counters)
		for _, reducer := range []explore.Reducer{nil, reduction.Stubborn{}} {
			b.Run(fmt.Sprintf("granularity=%d/reduced=%t", granularity, reducer != nil), func(b *testing.B) {
				for b.Loop() {
					o := options()
					o.Reducer = reducer
					o.Conditions.Granularity = granularity
					space, err := explore.Search(context.Background(), system, o)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(space.States()), "states")
				}
			})
		}
	}
}
