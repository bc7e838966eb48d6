package controllerruntime_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// TestEventsSayHowMuchIsKnown checks what handlers are told of objects that were there at a
// start, and of deletions that nobody has seen.
func TestEventsSayHowMuchIsKnown(t *testing.T) {
	var got []string
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	told := handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) {
			got = append(got, fmt.Sprintf("create %s, initial %t", e.Object.GetName(), e.IsInInitialList))
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ queue) {
			got = append(got, fmt.Sprintf("delete %s, unknown %t", e.Object.(*corev1.ConfigMap).Name, e.DeleteStateUnknown))
		},
	}
	w := newWorld(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("probe").Watches(&corev1.ConfigMap{}, told).
			Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, nil
			}))
	}), controllerruntime.ObjectValues(configMap("a", nil)))
	key := core.Key{Kind: "ConfigMap", Namespace: "default", Name: "a"}
	there := w.Get(key)
	for _, test := range []struct {
		event core.Event
		want  string
	}{
		{core.Event{Key: key, New: there}, "create a, initial false"},
		{core.Event{Key: key, New: there, Initial: true}, "create a, initial true"},
		{core.Event{Key: key, Old: there}, "delete a, unknown false"},
		{core.Event{Key: key, Old: there, Missed: true}, "delete a, unknown true"},
	} {
		got = nil
		w.instance("probe").Handle(w, test.event)
		equal(t, "events", got, []string{test.want})
	}
}

// TestEventsOfASearch checks what handlers are told where a controller crashes and where it
// lists anew: they enqueue what they are told.
func TestEventsOfASearch(t *testing.T) {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	enqueue := func(q queue, format string, args ...any) {
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: fmt.Sprintf(format, args...)}})
	}
	told := handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			enqueue(q, "create %s, initial %t", e.Object.GetName(), e.IsInInitialList)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			enqueue(q, "delete %s, unknown %t", e.Object.GetName(), e.DeleteStateUnknown)
		},
	}
	for _, test := range []struct {
		stale orrery.StaleRule
		want  []string
	}{
		{orrery.Fresh, []string{"probe(create a, initial true)", "probe(create b, initial false)", "probe(create b, initial true)", "probe(delete a, unknown false)"}},
		{orrery.Relist, []string{"probe(create a, initial true)", "probe(create b, initial false)", "probe(create b, initial true)", "probe(delete a, unknown true)"}},
	} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("probe").Watches(&corev1.ConfigMap{}, told).
				Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					return reconcile.Result{}, nil
				}))
		}), controllerruntime.ObjectValues(configMap("a", nil)),
			controllerruntime.Scenario(controllerruntime.Create(configMap("b", nil)), controllerruntime.Delete(configMap("a", nil))))
		result, err := orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{{Rule: test.stale}}, Crashes: 1})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range result.Graph.Items() {
			got = append(got, item.String())
		}
		equal(t, "items of "+string(test.stale), got, test.want)
	}
}
