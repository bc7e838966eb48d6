//go:build unix

package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	api "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
	"github.com/orrery-dev/orrery/examples/jobset/operator"
	"github.com/orrery-dev/orrery/internal/cputime"
)

// blockSize is how many JobSets a block has: a block is so short that what else the machine does hardly differs between two of them.
const blockSize = 8

// stopwatch adds up the time of reconciles, from outside of a recorder.
type stopwatch struct {
	mu    sync.Mutex
	times []time.Duration
}

// timed is a manager whose controllers are timed.
type timed struct {
	ctrl.Manager
	watch *stopwatch
}

// Add implements manager.Manager. A recorder has taken its place in the controller when ours is taken in front of it.
func (m timed) Add(runnable manager.Runnable) error {
	if err := m.Manager.Add(runnable); err != nil {
		return err
	}
	if value := reflect.ValueOf(runnable); value.Kind() == reflect.Pointer && value.Elem().Kind() == reflect.Struct {
		if do, is := value.Elem().FieldByName("Do"), reflect.TypeFor[reconcile.Reconciler](); do.IsValid() && do.Type() == is {
			inner := do.Interface().(reconcile.Reconciler)
			do.Set(reflect.ValueOf(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				began := time.Now()
				defer func() { m.watch.add(time.Since(began)) }()
				return inner.Reconcile(ctx, r)
			})))
		}
	}
	return nil
}

func (s *stopwatch) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, d)
}

// cost is what the reconciles of a block took.
type cost struct {
	// reconcile is how long one took by the clock on average, without the tenth that took longest: these waited for something else.
	reconcile time.Duration
	// processor is what the process computed in the block, for each reconcile.
	processor time.Duration
}

// block has some JobSets run, each of which is restarted once, with controllers of their own, and returns what that took.
func (l *cluster) block(t testing.TB, number int, off bool) cost {
	t.Helper()
	l.off, l.folder = off, filepath.Join(t.TempDir(), fmt.Sprint(number))
	watch := &stopwatch{}
	var cached cache.Cache
	register := func(mgr ctrl.Manager) error {
		mgr, cached = timed{mgr, watch}, mgr.GetCache()
		if err := operator.Setup(mgr); err != nil {
			return err
		}
		return newJobs(mgr.GetClient()).SetupWithManager(mgr)
	}
	if err := l.start(fmt.Sprintf("block-%d", number), false, register); err != nil {
		t.Fatal(err)
	}
	if !cached.WaitForCacheSync(l) {
		t.Fatal("the caches were not filled")
	}
	runtime.GC()
	before := cputime.Used()
	for i := range blockSize {
		if err := l.user.Create(l, newJobSet(fmt.Sprintf("js-%d-%d", number, i), 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.until("all JobSets are over", func() (bool, error) {
		var all api.JobSetList
		err := l.user.List(l, &all, client.InNamespace("default"))
		return !slices.ContainsFunc(all.Items, func(js api.JobSet) bool { return js.Status.TerminalState == "" }), err
	}); err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	processor := cputime.Used() - before
	for _, o := range []client.Object{&api.JobSet{}, &batchv1.Job{}, &corev1.Service{}} {
		if err := l.user.DeleteAllOf(l, o, client.InNamespace("default"), client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(watch.times)
	n := len(watch.times)
	var sum time.Duration
	for _, took := range watch.times[:n-n/10] {
		sum += took
	}
	return cost{sum / time.Duration(n-n/10), processor / time.Duration(n)}
}

// BenchmarkRecording tells what recording the controllers of JobSet on a real server adds to the time of a reconcile: run it with -benchtime 40x, the number of pairs of blocks with and without a
// recording. Blocks are short and take turns in one process, so that other work on the machine bears on both. Reported are the median of the pairs, and the lower and upper bound of its confidence interval of 95 %.
func BenchmarkRecording(b *testing.B) {
	needsServers(b)
	log.SetLogger(logr.Discard())
	binaries, err := controlplane.Present()
	if err != nil {
		b.Fatal(err)
	}
	plane, err := controlplane.Start(b.Context(), binaries)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			b.Error(err)
		}
	}()
	l, err := newLive(b.Context(), plane.Config(), "")
	if err != nil {
		b.Fatal(err)
	}
	l.block(b, 0, true) // meets cold caches
	l.block(b, 1, false)
	b.ResetTimer()
	var longer, computed, shares []float64
	var plain []time.Duration
	for pair := range b.N {
		var without, with cost
		for half := range 2 {
			if off := (pair+half)%2 == 0; off {
				without = l.block(b, 2*pair+half+2, true)
			} else {
				with = l.block(b, 2*pair+half+2, false)
			}
		}
		plain = append(plain, without.reconcile)
		longer = append(longer, 100*(float64(with.reconcile)/float64(without.reconcile)-1))
		computed = append(computed, float64(with.processor-without.processor)/1000)
		shares = append(shares, 100*float64(with.processor-without.processor)/float64(without.reconcile))
	}
	b.StopTimer()
	report := func(values []float64, unit string) {
		slices.Sort(values)
		low, high := interval(len(values))
		b.ReportMetric(values[len(values)/2], unit)
		b.ReportMetric(values[low], unit+"-low")
		b.ReportMetric(values[high], unit+"-high")
	}
	b.ReportMetric(0, "ns/op")
	slices.Sort(plain)
	b.ReportMetric(float64(plain[len(plain)/2].Microseconds()), "µs/reconcile")
	report(longer, "%-longer")
	report(computed, "cpu-µs-added/reconcile")
	report(shares, "%-of-reconcile-computed")
}

// interval returns the places of the bounds of a confidence interval of 95 % for the median among so many sorted values.
func interval(n int) (low, high int) {
	margin := 1.96 * math.Sqrt(float64(n)) / 2
	return max(0, int(float64(n)/2-margin)), min(n-1, int(math.Ceil(float64(n)/2+margin)))
}
