package controllerruntime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// see reads a ConfigMap past the cache, and returns its labels.
func see(ctx context.Context, mgr ctrl.Manager, name string) (map[string]string, error) {
	var found corev1.ConfigMap
	err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, &found)
	return found.Labels, err
}

// spoil labels the ConfigMap that must never be labeled so.
func spoil(ctx context.Context, mgr ctrl.Manager) error { return set(ctx, mgr, "bad") }

// set labels a ConfigMap, unless it is labeled so.
func set(ctx context.Context, mgr ctrl.Manager, label string) error {
	var found corev1.ConfigMap
	if err := mgr.GetAPIReader().Get(ctx, keyA, &found); err != nil || found.Labels[label] == "yes" {
		return err
	}
	if found.Labels == nil {
		found.Labels = map[string]string{}
	}
	found.Labels[label] = "yes"
	return mgr.GetClient().Update(ctx, &found)
}

// waiting waits, and reports whether nobody ended that.
func waiting(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// grace is a controller that spoils the ConfigMap once a time is over, and ticks meanwhile.
type grace struct {
	mgr   ctrl.Manager
	polls bool
	over  atomic.Bool
}

// Start implements [manager.Runnable].
func (g *grace) Start(ctx context.Context) error {
	time.AfterFunc(5*time.Minute, func() { g.over.Store(true) })
	for waiting(ctx, 10*time.Second) {
		if g.polls {
			_, _ = see(ctx, g.mgr, "nobody")
		}
	}
	return nil
}

// Reconcile implements [reconcile.Reconciler].
func (g *grace) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if g.over.Load() {
		return reconcile.Result{}, spoil(ctx, g.mgr)
	}
	return reconcile.Result{}, nil
}

// TestBackgroundIsNotMissed checks that no check holds where something goes wrong in the background, if only after a
// long time, or in another order than the one in which goroutines come to run. What depends on variables that nobody
// can see may be a reason.
func TestBackgroundIsNotMissed(t *testing.T) {
	type code = func(ctrl.Manager, context.Context) error
	polling := func(times int) code {
		return func(mgr ctrl.Manager, ctx context.Context) error {
			for range times {
				if _, err := see(ctx, mgr, "nobody"); err == nil || !waiting(ctx, 10*time.Second) {
					return nil
				}
			}
			return spoil(ctx, mgr)
		}
	}
	still := func(ctrl.Manager, context.Context) error { return nil }
	// Another controller labels the ConfigMap as good, which a reconcile must not see.
	unlessGood := func(then func(ctx context.Context, mgr ctrl.Manager) error) code {
		return func(mgr ctrl.Manager, ctx context.Context) error {
			if labels, err := see(ctx, mgr, "a"); err != nil || labels["good"] != "" {
				return err
			}
			return then(ctx, mgr)
		}
	}
	ifGood := func(ctx context.Context, mgr ctrl.Manager) {
		if labels, err := see(ctx, mgr, "a"); err == nil && labels["good"] == "yes" {
			_ = spoil(ctx, mgr)
		}
	}
	for name, test := range map[string]struct {
		reconcile, run code
		also           func(ctrl.Manager) error
		want           []core.Verdict
	}{
		"a poll that gives up at once": {run: polling(1), want: []core.Verdict{core.Violated}},
		"a poll that gives up soon":    {run: polling(2), want: []core.Verdict{core.Violated}},
		"a poll that gives up":         {run: polling(3), want: []core.Verdict{core.Violated, core.Inconclusive}},
		"a poll that gives up late":    {run: polling(30), want: []core.Verdict{core.Violated, core.Inconclusive}},
		"a deadline beside a poll": {run: func(mgr ctrl.Manager, ctx context.Context) error {
			late := time.After(5 * time.Minute)
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(10 * time.Second):
					_, _ = see(ctx, mgr, "nobody")
				case <-late:
					return spoil(ctx, mgr)
				}
			}
		}, want: []core.Verdict{core.Violated, core.Inconclusive}},
		"a goroutine that the reconcile does not wait for": {
			reconcile: unlessGood(func(_ context.Context, mgr ctrl.Manager) error {
				go ifGood(context.Background(), mgr)
				return nil
			}),
			also: func(mgr ctrl.Manager) error { return labeling(mgr, "good") }, want: []core.Verdict{core.Violated},
		},
		"a reconcile that sleeps": {
			reconcile: func(mgr ctrl.Manager, ctx context.Context) error {
				time.Sleep(time.Millisecond)
				if labels, err := see(ctx, mgr, "a"); err != nil || labels["good"] == "yes" {
					return err
				}
				return spoil(ctx, mgr)
			},
			run: func(mgr ctrl.Manager, ctx context.Context) error { return set(ctx, mgr, "good") }, want: []core.Verdict{core.Violated},
		},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("a", nil)), neverBad(), controllerruntime.Setup(func(mgr ctrl.Manager) error {
				if test.reconcile == nil {
					test.reconcile = still
				}
				err := ctrl.NewControllerManagedBy(mgr).Named("it").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
					return reconcile.Result{}, test.reconcile(mgr, ctx)
				}))
				if test.run != nil {
					err = errors.Join(err, mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return test.run(mgr, ctx) })))
				}
				if test.also != nil {
					err = errors.Join(err, test.also(mgr))
				}
				return err
			}))
			comesTo(t, system, test.want...)
		})
	}
	for _, polls := range []bool{false, true} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("a", nil)), neverBad(),
			controllerruntime.Scenario(controllerruntime.Create(configMap("b", nil))), controllerruntime.Setup(func(mgr ctrl.Manager) error {
				g := &grace{mgr: mgr, polls: polls}
				return errors.Join(mgr.Add(g), ctrl.NewControllerManagedBy(mgr).Named("grace").For(&corev1.ConfigMap{}).Complete(g))
			}))
		want := []core.Verdict{core.Violated}
		if polls {
			want = append(want, core.Inconclusive)
		}
		comesTo(t, system, want...)
	}
}

// locker is a controller with a runnable, each of which holds a lock over a call.
type locker struct {
	mgr ctrl.Manager
	mu  sync.Mutex
}

// Start implements [manager.Runnable].
func (l *locker) Start(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return set(ctx, l.mgr, "started")
}

// Reconcile implements [reconcile.Reconciler].
func (l *locker) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return reconcile.Result{}, set(ctx, l.mgr, "reconciled")
}

// TestLockOverACall checks that waiting for a lock that is held over a call is a reason, not a finding.
func TestLockOverACall(t *testing.T) {
	neverEnds(t)
	comesTo(t, controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("a", nil)), controllerruntime.Setup(func(mgr ctrl.Manager) error {
		l := &locker{mgr: mgr}
		return errors.Join(mgr.Add(l), ctrl.NewControllerManagedBy(mgr).Named("locker").For(&corev1.ConfigMap{}).Complete(l))
	})), core.Inconclusive)
}

// labeling adds a controller that sets a label.
func labeling(mgr ctrl.Manager, label string) error {
	return ctrl.NewControllerManagedBy(mgr).Named("labels").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, set(ctx, mgr, label)
	}))
}

// neverBad says that no ConfigMap is spoiled.
func neverBad() controllerruntime.Option {
	return controllerruntime.Properties(properties.Always("nothing is bad", func(s core.State) bool {
		return !slices.ContainsFunc(s.List("ConfigMap", ""), func(o core.Object) bool { return strings.Contains(o.Content.Canonical(), `"bad":"yes"`) })
	}))
}

// comesTo checks a system, with reductions and without, and with two workers.
func comesTo(t *testing.T, system *core.System, want ...core.Verdict) {
	t.Helper()
	for _, options := range []orrery.Options{{Workers: 1}, {Workers: 2}, {Reduction: orrery.NoReduction}} {
		options.StepDeadline = 2 * time.Second
		result, err := orrery.Run(t.Context(), system, options)
		if err != nil {
			t.Fatal(err)
		}
		if report := result.Report; !slices.Contains(want, report.Verdict) {
			t.Errorf("%s, %d states: %q, %+v; want one of %q", report.Verdict, report.States, report.Reasons, report.Findings, want)
		}
	}
}
