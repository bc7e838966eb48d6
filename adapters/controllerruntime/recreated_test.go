package controllerruntime_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestNotedCreation has a controller that notes when an object was created find one that was made again later, whether
// it compares the two times or orders them.
func TestNotedCreation(t *testing.T) {
	for name, test := range map[string]struct {
		isOther func(noted, created time.Time) bool
		want    core.Verdict
	}{
		"it is another time": {func(noted, created time.Time) bool { return !noted.Equal(created) }, core.Violated},
		"it is later":        {func(noted, created time.Time) bool { return noted.Before(created) }, core.Violated},
		"nobody looks":       {func(time.Time, time.Time) bool { return false }, core.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
				controllerruntime.Scenario(controllerruntime.Delete(configMap("made", nil))), controllerruntime.Properties(properties.Convergent()...),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					notes := reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
						var made corev1.ConfigMap
						if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "made"}, &made); apierrors.IsNotFound(err) {
							return reconcile.Result{}, c.Create(ctx, configMap("made", nil))
						} else if err != nil {
							return reconcile.Result{}, err
						}
						var note corev1.ConfigMap
						created := made.CreationTimestamp.UTC()
						err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "note"}, &note)
						if apierrors.IsNotFound(err) {
							wanted := configMap("note", nil)
							wanted.Data = map[string]string{"created": created.Format(time.RFC3339)}
							return reconcile.Result{}, c.Create(ctx, wanted)
						}
						noted, parsed := time.Parse(time.RFC3339, note.Data["created"])
						if err := errors.Join(err, parsed); err != nil {
							return reconcile.Result{}, err
						}
						if test.isOther(noted, created) {
							return reconcile.Result{}, errors.New("somebody has made another one")
						}
						return reconcile.Result{}, nil
					})
					toAll := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
						return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: "default", Name: "a"}}}
					})
					return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Watches(&corev1.ConfigMap{}, toAll).Complete(notes)
				}))
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if report := result.Report; report.Verdict != test.want {
				t.Errorf("%s, want %s: %q, %v", report.Verdict, test.want, report.Reasons, report.Findings)
			}
		})
	}
}
