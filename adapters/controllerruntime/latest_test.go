package controllerruntime_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// registry knows the ConfigMaps that it has seen, which look alike there, and which of them was seen last. It writes
// down which one that was.
type registry struct {
	client client.Client
	all    map[string]*struct{ size int }
	latest *struct{ size int }
}

func (r *registry) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if request.Name != "out" {
		if r.all[request.Name] == nil {
			r.all[request.Name] = &struct{ size int }{1}
			r.latest = r.all[request.Name]
		}
		return reconcile.Result{}, nil
	}
	if len(r.all) < 2 {
		return reconcile.Result{}, errors.New("too early")
	}
	out := &corev1.ConfigMap{}
	if err := r.client.Get(ctx, request.NamespacedName, out); err != nil || out.Data["last"] != "" {
		return reconcile.Result{}, err
	}
	for name, of := range r.all {
		if of == r.latest {
			out.Data = map[string]string{"last": name}
		}
	}
	return reconcile.Result{}, r.client.Update(ctx, out)
}

// TestLatest wants both outcomes of a controller that acts by which of two things in its memory a pointer is to.
func TestLatest(t *testing.T) {
	named := func(name string) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	system := controllerruntime.ForTest(t, scheme.Scheme,
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(&registry{client: mgr.GetClient(), all: map[string]*struct{ size int }{}})
		}),
		controllerruntime.ObjectValues(named("a"), named("b"), named("out")),
		controllerruntime.Properties(properties.SameOutcome()),
	)
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Outcomes != 2 || r.Verdict != core.Violated {
		t.Errorf("%s with %d outcomes in %d states: %v", r.Verdict, r.Outcomes, r.States, r.Reasons)
	}
}
