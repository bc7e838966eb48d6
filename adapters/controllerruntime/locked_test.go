package controllerruntime_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// locking is a reconciler that locks while it creates a ConfigMap, and may forget to unlock where that fails.
type locking struct {
	client.Client
	mu      sync.Mutex
	forgets bool
}

// Reconcile implements [reconcile.Reconciler].
func (l *locking) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	l.mu.Lock()
	err := create(ctx, l.Client, r.Name)
	if err == nil || !l.forgets {
		l.mu.Unlock()
	}
	return ctrl.Result{}, err
}

// TestMutexKeptOnError checks that a mutex which stays locked where a call fails is found as the reconcile behind it,
// which never returns.
func TestMutexKeptOnError(t *testing.T) {
	for forgets, want := range map[bool]core.Verdict{true: core.Violated, false: core.Holds} {
		var made []*locking
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				made = append(made, &locking{Client: mgr.GetClient(), forgets: forgets})
				return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(made[len(made)-1])
			}))
		system.Properties = properties.Convergent()
		result, err := orrery.Run(t.Context(), system, orrery.Options{Failures: 1, StepDeadline: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range made { // or those that wait for the lock would be left behind
			l.mu.TryLock()
			l.mu.Unlock()
		}
		if result.Report.Verdict != want {
			t.Errorf("it forgets to unlock: %t, and the check is %s for %v", forgets, result.Report.Verdict, result.Report.Reasons)
		}
		if len(result.Report.Findings) > 0 && result.Report.Findings[0].Property != "no stuck reconcile" {
			t.Errorf("found against %q", result.Report.Findings[0].Property)
		}
	}
}

// pairing is a reconciler that locks while it creates two ConfigMaps, the second one only if it has just created the
// first, and remembers for whom.
type pairing struct {
	client.Client
	mu   sync.Mutex
	made map[string]bool
}

// Reconcile implements [reconcile.Reconciler].
func (p *pairing) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made[r.Name] = true
	if err := p.Create(ctx, configMap(r.Name, nil)); err != nil {
		return ctrl.Result{}, client.IgnoreAlreadyExists(err)
	}
	return ctrl.Result{}, create(ctx, p.Client, r.Name+"-too")
}

// TestCrashWithMutex checks that what a crash loses is told without the lock that the run held: nobody keeps that.
func TestCrashWithMutex(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(&pairing{Client: mgr.GetClient(), made: map[string]bool{}})
		}))
	system.Properties = properties.Convergent()
	result, err := orrery.Run(t.Context(), system, orrery.Options{Crashes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Report.Findings) != 1 {
		t.Fatalf("%s, with the findings %+v", result.Report.Verdict, result.Report.Findings)
	}
	var lost []string
	for _, step := range result.Report.Findings[0].Trace.Steps {
		for _, change := range step.Memory {
			if change.Lost {
				lost = append(lost, change.String())
			}
		}
	}
	if want := []string{"loses pairing.made[a] = true"}; !slices.Equal(lost, want) {
		t.Errorf("it %q, want %q", lost, want)
	}
}

// TestMutexWhileTimePasses checks that waiting for a lock which is held while time passes, or while a call is answered,
// is a reason, not a finding, and that it is neither if the lock is let go before.
func TestMutexWhileTimePasses(t *testing.T) {
	neverEnds(t)
	for _, test := range []struct {
		name string
		held func(ctx context.Context, c client.Client, name string)
		free func(ctx context.Context, c client.Client, name string)
		want core.Verdict
	}{
		{"asleep", func(context.Context, client.Client, string) { time.Sleep(time.Second) }, nil, core.Inconclusive},
		{"in a call", func(ctx context.Context, c client.Client, name string) { _ = create(ctx, c, name) }, nil, core.Inconclusive},
		{"before both", nil, func(ctx context.Context, c client.Client, name string) {
			time.Sleep(time.Second)
			_ = create(ctx, c, name)
		}, core.Holds},
	} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
					var mu sync.Mutex
					var done sync.WaitGroup
					for _, name := range []string{"x", "y"} {
						done.Go(func() {
							mu.Lock()
							if test.held != nil {
								test.held(ctx, c, name)
							}
							mu.Unlock()
							if test.free != nil {
								test.free(ctx, c, name)
							}
						})
					}
					done.Wait()
					return ctrl.Result{}, nil
				}))
			}))
		system.Properties = properties.Convergent()
		result, err := orrery.Run(t.Context(), system, orrery.Options{StepDeadline: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if report := result.Report; report.Verdict != test.want || (test.want == core.Inconclusive) != strings.Contains(strings.Join(report.Reasons, "\n"), "a lock that is held meanwhile is not modelled") {
			t.Errorf("%s: %s, %q, %+v", test.name, report.Verdict, report.Reasons, report.Findings)
		}
	}
}
