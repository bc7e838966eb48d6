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
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestHeartbeat has a controller that writes the time each hour, and nothing else, settle, unless it is woken by that.
// What others do beside it is compared all the same.
func TestHeartbeat(t *testing.T) {
	toggled := map[string]string{"": "on", "on": "off", "off": "on"}
	now := func(*corev1.ConfigMap) string { return time.Now().UTC().Format(time.RFC3339) }
	for name, test := range map[string]struct {
		beat  func(*corev1.ConfigMap) string
		woken bool
		races bool
		want  string // the property that is violated, if one is
	}{
		"each hour":                      {beat: now},
		"as soon as it has written":      {beat: now, woken: true, want: "stable convergence"},
		"each hour, and it toggles":      {beat: func(m *corev1.ConfigMap) string { return toggled[m.Data["at"]] }, want: "stable convergence"},
		"each hour, and two others race": {beat: now, races: true, want: "same outcome"},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(configMap("beat", nil), widget("a", 1)),
				controllerruntime.Properties(properties.Convergent()...), controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					var woken []builder.ForOption
					if !test.woken {
						woken = append(woken, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
					}
					beats := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
						var beat corev1.ConfigMap
						if err := c.Get(ctx, request.NamespacedName, &beat); err != nil || beat.Name != "beat" {
							return reconcile.Result{}, client.IgnoreNotFound(err)
						}
						beat.Data = map[string]string{"at": test.beat(&beat)}
						return reconcile.Result{RequeueAfter: time.Hour}, c.Update(ctx, &beat)
					})
					if err := ctrl.NewControllerManagedBy(mgr).Named("beats").For(&corev1.ConfigMap{}, woken...).Complete(beats); err != nil {
						return err
					}
					for _, name := range []string{"one", "other"} {
						if !test.races {
							break
						}
						claims := reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
							claim := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "claim"}, StringData: map[string]string{"by": name}}
							return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, claim))
						})
						if err := ctrl.NewControllerManagedBy(mgr).Named(name).For(&Widget{}).Complete(claims); err != nil {
							return err
						}
					}
					return nil
				}))
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			violated := ""
			for _, f := range result.Report.Findings {
				violated = f.Property
			}
			if report := result.Report; violated != test.want || (report.Verdict == core.Holds) != (test.want == "") {
				t.Errorf("%s, violated is %q, want %q: %q", report.Verdict, violated, test.want, report.Reasons)
			}
		})
	}
}
