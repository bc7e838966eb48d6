package controllerruntime_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestHandlersThatWait checks a controller that is woken for what is new after a time, unless it is so soon that
// changes are only brought together.
func TestHandlersThatWait(t *testing.T) {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	for name, test := range map[string]struct {
		add    func(queue, reconcile.Request)
		states int
	}{
		// It is waited for; queued; labelled, and waited for; queued; and done with.
		"a minute": {func(q queue, r reconcile.Request) { q.AddAfter(r, time.Minute) }, 5},
		"a minute, by options": {func(q queue, r reconcile.Request) {
			q.(priorityqueue.PriorityQueue[reconcile.Request]).AddWithOpts(priorityqueue.AddOpts{After: time.Minute}, r)
		}, 5},
		// It is queued; labelled, and queued; and done with.
		"a second": {func(q queue, r reconcile.Request) { q.AddAfter(r, time.Second) }, 3},
		"at once":  {func(q queue, r reconcile.Request) { q.Add(r) }, 3},
		"rated":    {func(q queue, r reconcile.Request) { q.AddRateLimited(r) }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					add := func(o client.Object, q queue) {
						test.add(q, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
					}
					handlers := handler.Funcs{
						CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(e.Object, q) },
						UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { add(e.ObjectNew, q) },
					}
					return ctrl.NewControllerManagedBy(mgr).Named("later").Watches(&Widget{}, handlers).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
						w := &Widget{}
						if err := c.Get(ctx, r.NamespacedName, w); err != nil {
							return ctrl.Result{}, err
						}
						if w.Labels["done"] != "" {
							return ctrl.Result{}, nil
						}
						w.Labels = map[string]string{"done": "yes"}
						return ctrl.Result{}, c.Update(ctx, w)
					}))
				}))
			system.Properties = properties.Convergent()
			result, err := orrery.Run(t.Context(), system, orrery.Options{Reduction: orrery.NoReduction})
			if err != nil {
				t.Fatal(err)
			}
			if r := result.Report; r.Verdict != core.Holds || r.States != test.states {
				t.Errorf("%s with %d states, want %d: %v", r.Verdict, r.States, test.states, r.Reasons)
			}
		})
	}
}
