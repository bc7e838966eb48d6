package controllerruntime_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// widgetReconciler keeps one Deployment per part of a widget.
type widgetReconciler struct {
	client.Client
	runs int
}

func (r *widgetReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&Widget{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.widgetsOf)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 3}).
		Complete(r)
}

// widgetsOf lists the widgets that use a ConfigMap.
func (r *widgetReconciler) widgetsOf(ctx context.Context, object client.Object) []reconcile.Request {
	var widgets WidgetList
	if err := r.List(ctx, &widgets, client.InNamespace(object.GetNamespace())); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range widgets.Items {
		if widgets.Items[i].Spec.Config == object.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&widgets.Items[i])})
		}
	}
	return requests
}

func (r *widgetReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r.runs++
	if r.runs > 1 {
		return reconcile.Result{}, fmt.Errorf("run number %d of an instance that should be fresh", r.runs)
	}
	var w Widget
	if err := r.Get(ctx, request.NamespacedName, &w); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	ready := 0
	for part := range w.Spec.Parts {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("%s-%d", w.Name, part)}}
		_, err := controllerutil.CreateOrUpdate(ctx, r.Client, d, func() error {
			d.Labels = map[string]string{"widget": w.Name}
			if d.CreationTimestamp.IsZero() {
				d.Spec = deploymentSpec()
			}
			return controllerutil.SetControllerReference(&w, d, r.Scheme())
		})
		if err != nil {
			return reconcile.Result{}, err
		}
		ready++
	}
	before := w.DeepCopyObject().(*Widget)
	w.Status.Ready = ready
	return reconcile.Result{}, r.Status().Patch(ctx, &w, client.MergeFrom(before))
}

func setupWidgets(mgr ctrl.Manager) error {
	return (&widgetReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
}

func TestControllerFromItsSetup(t *testing.T) {
	w := newWorld(t, controllerruntime.Setup(setupWidgets), controllerruntime.ObjectValues(widget("a", 2)))

	d := w.strategy("widget").Describe()
	equal(t, "watches", d.Watches, []core.Kind{"ConfigMap", "Deployment.apps", "Widget.example.org"})
	if d.Workers != 3 {
		t.Errorf("workers: got %d, want 3", d.Workers)
	}
	w.settle()
	if ready := w.field("Widget.example.org", "a", "status", "ready"); fmt.Sprint(ready) != "2" {
		t.Errorf("ready: got %v, want 2", ready)
	}
	if owner := w.field("Deployment.apps", "a-1", "metadata", "ownerReferences"); owner == nil {
		t.Error("a-1 has no owner")
	}
	w.said()

	w.reconcile("widget", "default/a")
	equal(t, "calls of a run with nothing to do", w.said(), []string{
		"cached get Widget default/a",
		"cached get Deployment default/a-0",
		"cached get Deployment default/a-1",
		"live patch (merge) Widget default/a (status)",
	})
	w.reconcile("widget", "default/gone")
	equal(t, "calls of a run for a missing widget", w.said(), []string{"cached get Widget default/gone"})
	if len(w.unsupported) > 0 {
		t.Errorf("unsupported: %v", w.unsupported)
	}
}

func TestEventsGoThroughPredicatesAndHandlers(t *testing.T) {
	uses := widget("b", 0)
	uses.Spec.Config = "settings"
	w := newWorld(t, controllerruntime.Setup(setupWidgets),
		controllerruntime.ObjectValues(widget("a", 1), uses, configMap("settings", nil)))
	w.settle()
	w.said()

	contents := func(kind core.Kind, name string) core.Event {
		key := core.Key{Kind: kind, Namespace: "default", Name: name}
		return core.Event{Key: key, New: w.Get(key)}
	}
	created := contents("Widget.example.org", "a")
	owned := contents("Deployment.apps", "a-0")
	mapped := contents("ConfigMap", "settings")
	for _, test := range []struct {
		name  string
		event core.Event
		want  []core.Request
		calls []string
	}{
		{name: "create", event: created, want: []core.Request{"default/a"}},
		{name: "delete", event: core.Event{Key: created.Key, Old: created.New}, want: []core.Request{"default/a"}},
		{name: "update of the same generation", event: core.Event{Key: created.Key, Old: created.New, New: created.New}},
		{name: "owned", event: owned, want: []core.Request{"default/a"}},
		{name: "mapped", event: mapped, want: []core.Request{"default/b"}, calls: []string{"cached list Widget in default"}},
		{name: "kind that is not watched", event: core.Event{Key: core.Key{Kind: "Pod", Name: "p"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			equal(t, "requests", w.instance("widget").Handle(w, test.event), test.want)
			equal(t, "calls", w.said(), test.calls)
		})
	}
}
