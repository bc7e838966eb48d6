package controllerruntime_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
)

// sums writes how many parts all other widgets have together, by what its event handlers have told it of them.
type sums struct {
	client.Client
	parts map[string]int
	// counts tells that it also counts the events and the reconciles, each with a mistake of its own.
	countsEvents, countsRuns bool
	events, runs             int
}

func (s *sums) note(object client.Object, gone bool) {
	w, ok := object.(*Widget)
	if !ok || w.Name == "sum" {
		return
	}
	if s.countsEvents {
		s.events++
	}
	if delete(s.parts, w.Name); !gone {
		s.parts[w.Name] = w.Spec.Parts
	}
}

func (s *sums) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if s.countsRuns {
		s.runs++
	}
	all := 0
	for _, parts := range s.parts {
		all += parts
	}
	var sum Widget
	if err := s.Get(ctx, types.NamespacedName{Namespace: "default", Name: "sum"}, &sum); err != nil || sum.Spec.Parts == all {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	sum.Spec.Parts = all
	return reconcile.Result{}, s.Update(ctx, &sum)
}

// handlers feed the memory and ask for a reconcile.
func (s *sums) handlers() handler.Funcs {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "sum"}}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { s.note(e.Object, false); q.Add(request) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { s.note(e.ObjectNew, false); q.Add(request) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { s.note(e.Object, true); q.Add(request) },
	}
}

// TestMemoryFromCache has a controller keep an index that its event handlers fill, as a part of the state and rebuilt
// for each run.
func TestMemoryFromCache(t *testing.T) {
	for _, test := range []struct {
		name                     string
		option                   bool
		countsEvents, countsRuns bool
		remembers                bool
		reason                   string
	}{
		{name: "as a part of the state", remembers: true},
		{name: "from the cache", option: true},
		{name: "what events add up to", option: true, countsEvents: true, reason: "keeping sums.events in memory, which sums changes by itself"},
		{name: "what reconciles add up to", option: true, countsRuns: true, reason: "keeping sums.runs in memory, which sums changes by itself"},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := []controllerruntime.Option{
				controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 2), widget("b", 3), widget("sum", 0)),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					s := &sums{Client: mgr.GetClient(), parts: map[string]int{}, countsEvents: test.countsEvents, countsRuns: test.countsRuns}
					return ctrl.NewControllerManagedBy(mgr).Named("sums").Watches(&Widget{}, s.handlers()).Complete(s)
				}),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					grow := reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
						var w Widget
						if err := mgr.GetClient().Get(ctx, req.NamespacedName, &w); err != nil || w.Name != "a" || w.Spec.Parts > 2 {
							return reconcile.Result{}, client.IgnoreNotFound(err)
						}
						w.Spec.Parts = 7
						return reconcile.Result{}, mgr.GetClient().Update(ctx, &w)
					})
					return ctrl.NewControllerManagedBy(mgr).Named("grows").For(&Widget{}).Watches(&Widget{}, &handler.EnqueueRequestForObject{}).Complete(grow)
				}),
			}
			if test.option {
				options = append(options, controllerruntime.MemoryFromCache("sums"))
			}
			system := controllerruntime.ForTest(t, newScheme(), options...)
			for _, o := range []orrery.Options{{}, {Crashes: 1}, {Stale: []orrery.Staleness{{Rule: "lag(1)"}}}} {
				result, err := orrery.Run(t.Context(), system, o)
				if err != nil {
					t.Fatal(err)
				}
				report := result.Report
				if reasons := strings.Join(report.Reasons, "; "); (reasons == "") != (test.reason == "") || !strings.Contains(reasons, test.reason) {
					t.Errorf("%+v: %s: %s", o, report.Verdict, reasons)
				}
				if test.reason != "" {
					continue
				}
				if parts := partsOf(t, result, "sum"); !slices.Equal(parts, []int{10}) {
					t.Errorf("%+v: the sum is %v", o, parts)
				}
				if (len(report.Memory) > 0) != test.remembers {
					t.Errorf("%+v: memory %v", o, report.Memory)
				}
				says := slices.Contains(report.Assumptions, "What sums keeps in memory is a function of what its cache shows, and is never behind it.")
				if says != test.option {
					t.Errorf("%+v: assumptions %q", o, report.Assumptions)
				}
			}
		})
	}
}

// TestMemoryFromCacheOfNobody names the controllers that there are.
func TestMemoryFromCacheOfNobody(t *testing.T) {
	_, err := controllerruntime.New(newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.MemoryFromCache("sum"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("sums").For(&Widget{}).Complete(&sums{Client: mgr.GetClient()})
		}))
	if err == nil || !strings.Contains(err.Error(), `there is no such controller: use one of sums`) {
		t.Errorf("got %v", err)
	}
}
