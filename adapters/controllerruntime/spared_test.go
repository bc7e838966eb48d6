package controllerruntime_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestHandlersThatAsk has an event handler make again what a user deletes. It runs in the step of the user, in which
// nothing goes wrong: what comes of that is not known. Handlers that read their caches are as good as any.
func TestHandlersThatAsk(t *testing.T) {
	lag, err := orrery.ParseStaleness("all=lag(1)")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		asks    bool
		options orrery.Options
		want    core.Verdict
	}{
		"nothing goes wrong": {true, orrery.Options{}, core.Holds},
		"a call fails":       {true, orrery.Options{Failures: 1}, core.Inconclusive},
		"a crash":            {true, orrery.Options{Crashes: 1}, core.Inconclusive},
		"a cache is late":    {true, orrery.Options{Stale: lag}, core.Holds},
		"only a cache":       {false, orrery.Options{Crashes: 1, Stale: lag}, core.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				deleted := func(ctx context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
					if test.asks {
						_ = c.Create(ctx, configMap(e.Object.GetName(), nil))
						return
					}
					var all corev1.ConfigMapList
					_ = c.List(ctx, &all)
				}
				return ctrl.NewControllerManagedBy(mgr).Named("remake").For(&corev1.Secret{}).Watches(&corev1.ConfigMap{}, handler.Funcs{DeleteFunc: deleted}).
					Complete(reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil }))
			}), controllerruntime.ObjectValues(configMap("a", nil)), controllerruntime.Scenario(controllerruntime.Delete(configMap("a", nil))))
			system.Properties = properties.Convergent()
			result, err := orrery.Run(t.Context(), system, test.options)
			if err != nil {
				t.Fatal(err)
			}
			says := slices.ContainsFunc(result.Report.Reasons, func(reason string) bool {
				return strings.HasPrefix(reason, "remake asks the API in its event handlers")
			})
			if r := result.Report; r.Verdict != test.want || says != (test.want == core.Inconclusive) {
				t.Errorf("%s, want %s: %v %v", r.Verdict, test.want, r.Reasons, r.Findings)
			}
		})
	}
}
