package controllerruntime_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestTickAtDeadline checks a poll whose last tick comes at the moment at which it is given up: either may be the first, and both are searched.
func TestTickAtDeadline(t *testing.T) {
	for timeout, want := range map[time.Duration]core.Verdict{5500 * time.Millisecond: core.Holds, 5 * time.Second: core.Holds} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
			controllerruntime.Scenario(controllerruntime.Create(configMap("needed", nil))),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
					err := wait.PollUntilContextTimeout(ctx, time.Second, timeout, true, func(ctx context.Context) (bool, error) {
						return exists(ctx, c, "needed"), nil
					})
					if wait.Interrupted(err) {
						return ctrl.Result{RequeueAfter: time.Minute}, nil
					}
					return ctrl.Result{}, create(ctx, c, "done")
				}))
			}))
		system.Properties = properties.Convergent()
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(result.Report.Reasons, "\n")
		if result.Report.Verdict != want {
			t.Errorf("with a timeout of %s: %s, want %s; it says:\n%s", timeout, result.Report.Verdict, want, text)
		}
	}
}
