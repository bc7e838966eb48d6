package controllerruntime_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestReconcileIDs has a controller write the id of its reconcile, which is another one each time, or only ask whether
// there is one.
func TestReconcileIDs(t *testing.T) {
	for name, test := range map[string]struct {
		label func(id string) string
		want  core.Verdict
	}{
		"written": {func(id string) string { return id }, core.Violated}, // it goes on for ever
		"there":   {func(id string) string { return map[bool]string{true: "none", false: "some"}[id == ""] }, core.Holds},
	} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("a", nil)),
			reconcilesConfigMaps("writer", func(ctx context.Context, c client.Client, o *corev1.ConfigMap) (ctrl.Result, error) {
				id := string(controller.ReconcileIDFromContext(ctx))
				if again := string(controller.ReconcileIDFromContext(ctx)); again != id {
					id = "two ids"
				}
				metav1.SetMetaDataLabel(&o.ObjectMeta, "by", test.label(id))
				return ctrl.Result{}, c.Update(ctx, o)
			}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{MaxStates: 30})
		if err != nil {
			t.Fatal(err)
		}
		r := result.Report
		if r.Verdict != test.want {
			t.Errorf("%s: %s, want %s: %v", name, r.Verdict, test.want, r.Reasons)
		}
		if test.want == core.Holds && r.Outcomes != 1 {
			t.Errorf("%s: %d outcomes", name, r.Outcomes)
		}
	}
}

// TestTimersOfOneDeadline has a controller note when it began, set one timer, and act only if its time is over when that
// fires. It looks up the namespace of its object, too, which is there although nobody has given it.
func TestTimersOfOneDeadline(t *testing.T) {
	for after, want := range map[time.Duration]core.Verdict{10 * time.Minute: core.Holds, time.Minute: core.Violated} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("a", nil)),
			controllerruntime.Properties(properties.Convergent()...), controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				waits := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
					var o corev1.ConfigMap
					err := c.Get(ctx, client.ObjectKey{Name: request.Namespace}, &corev1.Namespace{})
					if err == nil {
						err = c.Get(ctx, request.NamespacedName, &o)
					}
					if err != nil || o.Data["over"] != "" {
						return reconcile.Result{}, err
					}
					began, err := time.Parse(time.RFC3339, o.Data["began"])
					switch {
					case err != nil:
						o.Data = map[string]string{"began": time.Now().Format(time.RFC3339)}
						return reconcile.Result{RequeueAfter: after}, c.Update(ctx, &o)
					case time.Since(began) < 5*time.Minute:
						return reconcile.Result{}, nil
					}
					o.Data["over"] = "yes"
					return reconcile.Result{}, c.Update(ctx, &o)
				})
				return ctrl.NewControllerManagedBy(mgr).Named("waits").For(&corev1.ConfigMap{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).Complete(waits)
			}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := result.Report; r.Verdict != want {
			t.Errorf("after %s: %s, want %s: %v", after, r.Verdict, want, r.Reasons)
		}
	}
}
