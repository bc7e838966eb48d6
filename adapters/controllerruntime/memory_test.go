package controllerruntime_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// rememberer is a reconciler that keeps something in one of its fields.
type rememberer struct {
	client.Client
	unused map[string]int
	mu     sync.Mutex
	seen   map[string]bool
	tries  struct{ count int }
	known  *sync.Map
	keep   func(r *rememberer, name string) (again bool)
}

// Reconcile writes an object each time that it does not remember.
func (r *rememberer) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	w := &Widget{}
	if err := r.Get(ctx, request.NamespacedName, w); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keep(r, request.Name) {
		return reconcile.Result{}, nil
	}
	w.Status.Ready++
	return reconcile.Result{}, r.Status().Update(ctx, w)
}

// TestMemoryIsNamed checks that the fields are named in which a controller remembers something.
func TestMemoryIsNamed(t *testing.T) {
	for _, test := range []struct {
		name string
		keep func(r *rememberer, name string) bool
		want string
	}{
		{"a map", func(r *rememberer, name string) bool {
			again := r.seen[name]
			r.seen[name] = true
			return again
		}, "rememberer.seen"},
		{"a number", func(r *rememberer, _ string) bool { r.tries.count++; return r.tries.count > 3 }, "rememberer.tries.count"},
		{"a map for many", func(r *rememberer, name string) bool {
			_, again := r.known.LoadOrStore(name, 1)
			return again
		}, "rememberer.known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					r := &rememberer{Client: mgr.GetClient(), unused: map[string]int{"a": 1}, seen: map[string]bool{}, known: &sync.Map{}, keep: test.keep}
					return ctrl.NewControllerManagedBy(mgr).Named("remembers").For(&Widget{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).Complete(r)
				}))
			result, err := orrery.Run(context.Background(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			reasons := strings.Join(result.Report.Reasons, "; ")
			if result.Report.Verdict != core.Inconclusive || !strings.Contains(reasons, "it keeps memory between runs in "+test.want+" (") {
				t.Errorf("the verdict is %s: %s", result.Report.Verdict, reasons)
			}
		})
	}
}
