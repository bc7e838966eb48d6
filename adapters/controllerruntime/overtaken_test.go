package controllerruntime_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestOvertaken wants a controller that leaves a conflict to the event of the write that was first to get that event,
// unless it does not ask for such events. One that leaves other failures to nobody is stuck.
func TestOvertaken(t *testing.T) {
	for name, test := range map[string]struct {
		forgives func(error) bool
		heeds    []builder.ForOption
		want     core.Verdict
	}{
		"a conflict":                     {apierrors.IsConflict, nil, core.Holds},
		"a conflict, and no event of it": {apierrors.IsConflict, []builder.ForOption{builder.WithPredicates(predicate.GenerationChangedPredicate{})}, core.Violated},
		"any failure":                    {func(error) bool { return true }, nil, core.Violated},
		"none":                           {func(error) bool { return false }, nil, core.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("app", nil)),
				controllerruntime.Properties(properties.Convergent()...),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					return ctrl.NewControllerManagedBy(mgr).Named("marks").For(&corev1.ConfigMap{}, test.heeds...).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
						var app corev1.ConfigMap
						if err := c.Get(ctx, request.NamespacedName, &app); err != nil || app.Data != nil {
							return reconcile.Result{}, client.IgnoreNotFound(err)
						}
						app.Data = map[string]string{"marked": "yes"}
						if err := c.Update(ctx, &app); err != nil && !test.forgives(err) {
							return reconcile.Result{}, err
						}
						return reconcile.Result{}, nil
					}))
				}))
			result, err := orrery.Run(t.Context(), system, orrery.Options{Failures: 1})
			if err != nil {
				t.Fatal(err)
			}
			if report := result.Report; report.Verdict != test.want {
				t.Errorf("%s, %q, %v", report.Verdict, report.Reasons, report.Findings)
			}
		})
	}
}
