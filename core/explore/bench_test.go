package explore_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/examples/tenants"
)

// counters returns n counters that each count to k and share nothing: (k+1)^n
// states.
func counters(tb testing.TB, n, k int) *core.System {
	tb.Helper()
	model := plain.Model{Name: "counters"}
	var start []core.Object
	for i := range n {
		counter := plain.NewVar[int](fmt.Sprintf("c%d", i))
		start = append(start, counter.Is(0))
		model.Processes = append(model.Processes, plain.Process{
			Name: fmt.Sprintf("p%d", i),
			Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) {
				now := counter.Get(w)
				w.Require(now < k)
				counter.Set(w, now+1)
			}}},
		})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	system, err := model.System()
	if err != nil {
		tb.Fatal(err)
	}
	return system
}

func options(workers int) explore.Options {
	return explore.Options{
		Workers: workers,
		Run:     behavior.Limits{Deadline: 10 * time.Second, Calls: 10_000},
	}
}

// BenchmarkSearch searches counters in full. states/s is what the search stores a
// second; B/state is what the process holds beyond what it held before, at its
// peak as the runtime sees it.
func BenchmarkSearch(b *testing.B) {
	for _, size := range []struct{ n, k int }{{12, 2}, {14, 2}} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("n=%d/k=%d/workers=%d", size.n, size.k, workers), func(b *testing.B) {
				for b.Loop() {
					runtime.GC()
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					began := time.Now()
					space, err := explore.Search(context.Background(), counters(b, size.n, size.k), options(workers))
					if err != nil {
						b.Fatal(err)
					}
					elapsed := time.Since(began)
					runtime.ReadMemStats(&after)
					b.ReportMetric(float64(space.States())/elapsed.Seconds(), "states/s")
					b.ReportMetric(float64(after.HeapSys-before.HeapInuse)/float64(space.States()), "B/state")
					b.ReportMetric(float64(space.States()), "states")
				}
			})
		}
	}
}

// BenchmarkSteps searches tenants in full, whose controllers are built with controller-runtime. steps/s is how many
// steps of a second are taken from behaviour trees, without running code.
func BenchmarkSteps(b *testing.B) {
	for _, n := range []int{4, 5, 6} {
		b.Run(fmt.Sprintf("tenants=%d", n), func(b *testing.B) {
			for b.Loop() {
				system, err := tenants.System(n)
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				space, err := explore.Search(context.Background(), system, options(1))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(space.Stats.FromTree)/time.Since(began).Seconds(), "steps/s")
				b.ReportMetric(float64(space.States()), "states")
				b.ReportMetric(float64(space.Stats.FromTree), "steps")
			}
		})
	}
}
