package controllerruntime_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/properties"
)

// owner registers a controller that makes a ConfigMap for each Widget, which belongs to it. It may watch ConfigMaps, too.
func owner(watches bool) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		builder := ctrl.NewControllerManagedBy(mgr).Named("owner").For(&Widget{})
		if watches {
			builder = builder.Owns(&corev1.ConfigMap{})
		}
		return builder.Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			var w Widget
			if err := c.Get(ctx, request.NamespacedName, &w); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			owned := configMap(w.Name, nil)
			err := c.Get(ctx, request.NamespacedName, &corev1.ConfigMap{})
			if !apierrors.IsNotFound(err) {
				return reconcile.Result{}, err
			}
			if err := controllerutil.SetControllerReference(&w, owned, mgr.GetScheme()); err != nil {
				return reconcile.Result{}, err
			}
			return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, owned))
		}))
	})
}

// TestClimbImplies wants a controller that does not notice that the object of a Widget's predecessor goes to be found out by a climb, where a user deletes the Widget and creates it again. The
// finding is replayed, though the system says nothing of users.
func TestClimbImplies(t *testing.T) {
	const again = "a user takes the actions: delete Widget default/a, then create Widget default/a"
	for name, test := range map[string]struct {
		watches, collects bool
		want              string
		rungs             int
	}{
		"it watches":                 {true, true, "", 7},
		"it does not watch":          {false, true, again, 7},
		"nothing would be collected": {false, false, "", 6},
	} {
		t.Run(name, func(t *testing.T) {
			options := []controllerruntime.Option{
				controllerruntime.CRDBytes(widgetDefinition), owner(test.watches), controllerruntime.ObjectValues(widget("a", 1)),
				controllerruntime.Properties(properties.Convergent()...),
			}
			if test.collects {
				options = append(options, controllerruntime.GarbageCollection(&corev1.ConfigMap{}))
			}
			system := controllerruntime.ForTest(t, newScheme(), options...)
			ladder, err := orrery.Climb(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			if failed := ladder.Failed(); failed != nil {
				found = failed.Name
			}
			if found != test.want || len(ladder.Rungs) != test.rungs {
				t.Fatalf("it was found where %q, want %q, of %d rungs:\n%s", found, test.want, test.rungs, ladder)
			}
			for _, f := range ladder.Result().Report.Findings {
				if d, err := orrery.Replay(t.Context(), system, f.Trace, orrery.Options{}); d != nil || err != nil {
					t.Errorf("the replay: %v, %v", d, err)
				}
			}
		})
	}
}
