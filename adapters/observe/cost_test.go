//go:build unix

package observe_test

import (
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/internal/cputime"
	"github.com/orrery-dev/orrery/record/live"
)

// cost is what a round takes.
type cost struct {
	// elapsed is the time until everything was reconciled, and processor the time that the process computed until the
	// manager and the recording had ended.
	elapsed, processor time.Duration
	// heap is the most memory that objects had, with garbage.
	heap uint64
}

// highWater watches the memory of objects, and returns the most that it was until it is called.
func highWater() (most func() uint64) {
	stop := make(chan struct{})
	var highest uint64
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			metrics.Read(sample)
			highest = max(highest, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	})
	return func() uint64 {
		close(stop)
		watching.Wait()
		return highest
	}
}

// median returns the middle of some numbers.
func median(numbers []float64) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// BenchmarkRealServer tells what recording costs, of time, of computing, and of memory: run it with -benchtime 300x,
// the number of objects in a round. Rounds with and without a recording come in pairs, so that other work on the
// machine bears on both, and what is reported is the median of the pairs. The time by the clock is that of a server
// which waits for its disk, and differs much from round to round; what recording computes for an object, as a share of
// that time, is the most that it can be slower.
func BenchmarkRealServer(b *testing.B) {
	configuration := realServer(b)
	const pairs = 6
	rounds := 0
	round := func(recorded bool) cost {
		rounds++
		mgr := realManager(b, configuration)
		if recorded {
			mgr = observe.Manager(mgr, observe.Options{Folder: b.TempDir()})
		}
		return reconciled(b, mgr, fmt.Sprintf("round-%d", rounds), b.N)
	}
	round(false) // the first one meets cold caches
	var plain, recorded []cost
	b.ResetTimer()
	for pair := range pairs {
		if pair%2 == 0 {
			plain, recorded = append(plain, round(false)), append(recorded, round(true))
		} else {
			recorded, plain = append(recorded, round(true)), append(plain, round(false))
		}
	}
	b.StopTimer()
	// of returns the median of what the pairs say.
	of := func(say func(plain, recorded cost) float64) float64 {
		var all []float64
		for i := range plain {
			all = append(all, say(plain[i], recorded[i]))
		}
		return median(all)
	}
	perObject := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(b.N) }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(of(func(p, _ cost) float64 { return perObject(p.elapsed) / 1000 }), "µs/object")
	b.ReportMetric(of(func(p, r cost) float64 { return 100 * float64(r.elapsed-p.elapsed) / float64(p.elapsed) }), "%-slower")
	b.ReportMetric(of(func(p, _ cost) float64 { return perObject(p.processor) }), "cpu-ns/object")
	b.ReportMetric(of(func(p, r cost) float64 { return perObject(r.processor - p.processor) }), "cpu-ns-added/object")
	b.ReportMetric(of(func(p, r cost) float64 { return 100 * float64(r.processor-p.processor) / float64(p.elapsed) }), "%-of-time-computed")
	b.ReportMetric(of(func(p, r cost) float64 { return (float64(r.heap) - float64(p.heap)) / (1 << 20) }), "MiB-heap-added")
}

// measured runs something after a collection of garbage. What it does returns the time by the clock.
func measured(t testing.TB, do func() time.Duration) cost {
	t.Helper()
	runtime.GC()
	most, before := highWater(), cputime.Used()
	elapsed := do()
	return cost{elapsed, cputime.Used() - before, most()}
}

// TestMemoryAtBlockedDisk lets the disk hang while large and small objects come: what waits for it takes no more memory
// than it may, and what is dropped is counted.
func TestMemoryAtBlockedDisk(t *testing.T) {
	for _, size := range []int{100, 10_000, 1_000_000} {
		out := &stuck{released: make(chan struct{})}
		recorder := observe.NewRecorder(observe.Options{Open: func(int) (io.WriteCloser, error) { return out, nil }, FlushEvery: time.Millisecond})
		handler := recorder.Handler("counting", scheme.Scheme, toolscache.ResourceEventHandlerFuncs{})
		events := min(20_000, 200_000_000/size)
		heap := func() uint64 {
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return stats.HeapAlloc
		}
		before := heap()
		for i := range events {
			cm := configMap(fmt.Sprintf("cm-%d", i))
			cm.UID, cm.ResourceVersion = types.UID(cm.Name), strconv.Itoa(i+1)
			cm.Data = map[string]string{"text": strings.Repeat("x", size)}
			handler.OnAdd(cm, false)
		}
		if after := heap(); after > before+50<<20 {
			t.Errorf("objects of %d bytes: recording holds %d MiB, want 50 at most", size, (after-before)>>20)
		} else {
			t.Logf("objects of %d bytes: recording holds %.1f MiB", size, (float64(after)-float64(before))/(1<<20))
		}
		close(out.released)
		if err := recorder.Close(); err != nil {
			t.Error(err)
		}
		entries := entriesOf(t, out.Bytes())
		told, missing := len(the[live.Event](entries)), 0
		for _, gap := range the[live.Gap](entries) {
			missing += gap.Entries
		}
		if told+missing != events || told < 10 || missing == 0 {
			t.Errorf("objects of %d bytes: %d events and %d missing, want %d", size, told, missing, events)
		}
	}
}
