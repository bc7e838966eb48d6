package controllerruntime_test

import (
	"context"
	"sync"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// TestMutexKeptOnError checks that a mutex which stays locked where a call fails is found as the reconcile behind it, which never returns.
func TestMutexKeptOnError(t *testing.T) {
	for forgets, want := range map[bool]core.Verdict{true: core.Violated, false: core.Holds} {
		var made []*locking
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				made = append(made, &locking{Client: mgr.GetClient(), forgets: forgets})
				return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(made[len(made)-1])
			}))
		system.Properties = properties.Convergent()
		result, err := orrery.Run(t.Context(), system, orrery.Options{Failures: 1, StepDeadline: time.Second})
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
