package controllerruntime_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
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

// remembering returns a system with a controller that keeps something.
func remembering(t *testing.T, keep func(r *rememberer, name string) (again bool)) *core.System {
	return controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			r := &rememberer{Client: mgr.GetClient(), unused: map[string]int{"a": 1}, seen: map[string]bool{}, known: &sync.Map{}, keep: keep}
			return ctrl.NewControllerManagedBy(mgr).Named("remembers").For(&Widget{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).Complete(r)
		}))
}

// TestMemoryIsPartOfTheState checks controllers that remember what they have done: once in all, but once more after
// each crash. The fields are named.
func TestMemoryIsPartOfTheState(t *testing.T) {
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
		{"a number", func(r *rememberer, _ string) bool { r.tries.count++; return r.tries.count > 1 }, "rememberer.tries.count"},
		{"a map for many", func(r *rememberer, name string) bool {
			_, again := r.known.LoadOrStore(name, 1)
			return again
		}, "rememberer.known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := remembering(t, test.keep)
			for crashes := range 3 {
				result, err := orrery.Run(t.Context(), system, orrery.Options{Crashes: crashes})
				if err != nil {
					t.Fatal(err)
				}
				report := result.Report
				if len(report.Reasons) > 0 {
					t.Errorf("there are reasons: %v", report.Reasons)
				}
				if len(report.Memory) != 1 || report.Memory[0].Contents == 0 || !slices.Equal(report.Memory[0].Fields, []string{test.want}) {
					t.Errorf("the memory is %+v", report.Memory)
				}
				// It has written once, and may have once more after each crash.
				if report.Outcomes != crashes+1 {
					t.Errorf("with %d crashes there are %d outcomes", crashes, report.Outcomes)
				}
			}
		})
	}
}

// plugged is a reconciler with plugins in the order of a map, and with their names. The order makes no difference to
// what it does.
type plugged struct {
	client.Client
	plugins []any
	names   []string
}

// Reconcile looks at the object as long as one of its plugins wants to be asked.
func (p *plugged) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	for _, plugin := range p.plugins {
		if e, is := plugin.(*every); is && e.asked < 2 && slices.Contains(p.names, "every") {
			e.asked++
			return reconcile.Result{Requeue: true}, p.Get(ctx, request.NamespacedName, &Widget{})
		}
	}
	return reconcile.Result{}, nil
}

type (
	once  struct{ label string }
	never struct{}
	every struct{ asked int }
)

// TestSetupsThatShuffle wants a check to come to the same each time although each set-up fills lists in another order,
// and what is kept in their elements to be memory.
func TestSetupsThatShuffle(t *testing.T) {
	for range 8 {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)), controllerruntime.Setup(func(mgr ctrl.Manager) error {
			p := &plugged{Client: mgr.GetClient()}
			for name, plugin := range map[string]any{"once": &once{"x"}, "never": &never{}, "every": &every{}} {
				p.plugins, p.names = append(p.plugins, plugin), append(p.names, name)
			}
			return ctrl.NewControllerManagedBy(mgr).Named("plugged").For(&Widget{}).Complete(p)
		}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		report := result.Report
		if report.Verdict != core.Holds || report.States != 4 || len(report.Memory) != 1 || !slices.Equal(report.Memory[0].Fields, []string{"plugged.plugins"}) {
			t.Errorf("%s, %d states, the memory is %+v: %v", report.Verdict, report.States, report.Memory, report.Reasons)
		}
	}
}

// TestMemoryWithoutEnd checks a controller that counts its runs, and runs every minute.
func TestMemoryWithoutEnd(t *testing.T) {
	long(t)
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("counts").For(&Widget{}).Complete(&counting{Client: mgr.GetClient(), last: map[string]int{}})
		}))
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reasons := strings.Join(result.Report.Reasons, "; ")
	if result.Report.Verdict != core.Inconclusive || !strings.Contains(reasons, "counting.runs") || strings.Contains(reasons, "counting.last") {
		t.Errorf("%s: %s", result.Report.Verdict, reasons)
	}
	result, err = orrery.Run(t.Context(), system, orrery.Options{IgnoreMemory: []string{"counting.runs"}})
	if err != nil {
		t.Fatal(err)
	}
	if result.Report.Verdict != core.Holds || !strings.Contains(strings.Join(result.Report.Assumptions, "; "), "counting.runs") {
		t.Errorf("without the field: %s %v", result.Report.Verdict, result.Report.Reasons)
	}
}

// TestIgnoredMemory checks a system that says what does not count: one controller, and two in a process, whose ways
// begin with their names.
func TestIgnoredMemory(t *testing.T) {
	for _, names := range [][]string{{"counts"}, {"counts", "counts/widgets.example.org"}} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
			controllerruntime.IgnoreMemory("counting.runs", "counting.last"),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				for _, name := range names {
					reconciler := &counting{Client: mgr.GetClient(), last: map[string]int{}}
					if err := ctrl.NewControllerManagedBy(mgr).Named(name).For(&Widget{}).Complete(reconciler); err != nil {
						return err
					}
				}
				return nil
			}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := result.Report; r.Verdict != core.Holds || len(r.Memory) > 0 || !slices.Equal(r.IgnoredMemory, []string{"counting.last", "counting.runs"}) {
			t.Errorf("%q: %s %v; memory %v, ignored %v", names, r.Verdict, r.Reasons, r.Memory, r.IgnoredMemory)
		}
	}
}

// counting is a reconciler that counts its runs.
type counting struct {
	client.Client
	runs int
	last map[string]int
}

// Reconcile counts.
func (c *counting) Reconcile(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
	c.runs++
	c.last[request.Name] = 1
	return reconcile.Result{RequeueAfter: time.Minute}, nil
}

// sightings is a reconciler that remembers the resource version which it saw last, and counts in another object how
// often it saw a new one.
type sightings struct {
	client.Client
	last string
}

// Reconcile counts.
func (s *sightings) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	w, count := &Widget{}, &Widget{}
	if err := s.Get(ctx, request.NamespacedName, w); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if request.Name != "w" || w.ResourceVersion == s.last {
		return reconcile.Result{}, nil
	}
	s.last = w.ResourceVersion
	if err := s.Get(ctx, client.ObjectKey{Namespace: "default", Name: "count"}, count); err != nil {
		return reconcile.Result{}, err
	}
	count.Spec.Parts++
	return reconcile.Result{}, s.Update(ctx, count)
}

// flips is a reconciler that changes an object and changes it back, once the object was counted.
type flips struct{ client.Client }

// Reconcile changes the object twice.
func (f *flips) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	w, count := &Widget{}, &Widget{}
	if err := f.Get(ctx, client.ObjectKey{Namespace: "default", Name: "count"}, count); err != nil || count.Spec.Parts != 1 {
		return reconcile.Result{}, err
	}
	if err := f.Get(ctx, client.ObjectKey{Namespace: "default", Name: "w"}, w); err != nil {
		return reconcile.Result{}, err
	}
	for _, parts := range []int{2, 1} {
		w.Spec.Parts = parts
		if err := f.Update(ctx, w); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, nil
}

// TestRememberedVersions has an object changed and changed back. For who remembers the version from before, the one
// after is a new one.
func TestRememberedVersions(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1), widget("count", 0)),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			if err := ctrl.NewControllerManagedBy(mgr).Named("flips").For(&Widget{}).Complete(&flips{mgr.GetClient()}); err != nil {
				return err
			}
			return ctrl.NewControllerManagedBy(mgr).Named("sightings").For(&Widget{}).Complete(&sightings{Client: mgr.GetClient()})
		}))
	for _, options := range []orrery.Options{{}, {Reduction: orrery.NoReduction}, {Workers: 2}} {
		result, err := orrery.Run(t.Context(), system, options)
		if err != nil {
			t.Fatal(err)
		}
		counts := partsOf(t, result, "count")
		if !slices.Equal(counts, []int{2}) || len(result.Report.Reasons) > 0 {
			t.Errorf("it has counted %v versions, want 2; %v", counts, result.Report.Reasons)
		}
	}
}

// adder adds to the parts of a widget that it does not know to be done.
type adder struct {
	client.Client
	parts int
	done  map[string]bool
}

func (a *adder) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if a.done[req.Name] {
		return reconcile.Result{}, nil
	}
	var w Widget
	if err := a.Get(ctx, req.NamespacedName, &w); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	w.Spec.Parts += a.parts
	a.done[req.Name] = true
	return reconcile.Result{}, a.Update(ctx, &w)
}

// TestProcesses has two controllers that add to a widget once: together if they share the memory of what is done, each
// of them if not; and a crash takes both memories.
func TestProcesses(t *testing.T) {
	done := map[string]bool{}
	add := func(name string, parts int, done map[string]bool) func(ctrl.Manager) error {
		return func(mgr ctrl.Manager) error {
			a := &adder{Client: mgr.GetClient(), parts: parts, done: done}
			if done == nil {
				a.done = map[string]bool{}
			}
			return ctrl.NewControllerManagedBy(mgr).Named(name).For(&Widget{}).Complete(a)
		}
	}
	both := func(sharing bool) func(ctrl.Manager) error {
		return func(mgr ctrl.Manager) error {
			one, other := map[string]bool{}, map[string]bool{}
			if sharing {
				other = one
			}
			return errors.Join(add("one", 10, one)(mgr), add("other", 20, other)(mgr))
		}
	}
	for _, test := range []struct {
		name    string
		setups  []func(ctrl.Manager) error
		crashes int
		// views are whose caches there are.
		views  []string
		parts  []int
		reason string
	}{
		{name: "one memory", setups: []func(ctrl.Manager) error{both(true)}, views: []string{"one+other"}, parts: []int{11, 21}},
		{name: "two memories", setups: []func(ctrl.Manager) error{both(false)}, views: []string{"one+other"}, parts: []int{31}},
		{
			name: "one memory and a crash", setups: []func(ctrl.Manager) error{both(true)}, crashes: 1, views: []string{"one+other"},
			parts: []int{11, 21, 31, 41},
		},
		{
			name: "two memories and a crash", setups: []func(ctrl.Manager) error{both(false)}, crashes: 1, views: []string{"one+other"},
			parts: []int{31, 41, 51, 61},
		},
		{
			name: "two processes and a crash", setups: []func(ctrl.Manager) error{add("one", 10, nil), add("other", 20, nil)}, crashes: 1,
			views: []string{"one"}, parts: []int{31, 41, 51},
		},
		{
			name: "two processes with one memory", setups: []func(ctrl.Manager) error{add("one", 10, done), add("other", 20, done)},
			reason: "keeps adder.done outside of its instances",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := []controllerruntime.Option{controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1))}
			for _, setup := range test.setups {
				options = append(options, controllerruntime.Setup(setup))
			}
			system := controllerruntime.ForTest(t, newScheme(), options...)
			for _, reduction := range []orrery.Reduction{orrery.NoReduction, orrery.ByPartialOrder} {
				result, err := orrery.Run(t.Context(), system, orrery.Options{Crashes: test.crashes, Reduction: reduction})
				if err != nil {
					t.Fatal(err)
				}
				reasons := strings.Join(result.Report.Reasons, "; ")
				if (reasons == "") != (test.reason == "") || !strings.Contains(reasons, test.reason) {
					t.Errorf("%s: %s", result.Report.Verdict, reasons)
				}
				if parts := partsOf(t, result, "w"); test.reason == "" && !slices.Equal(parts, test.parts) {
					t.Errorf("there are %v parts in the end, want %v", parts, test.parts)
				}
			}
			result, err := orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{{Controller: "one", Rule: "lag(1)"}}})
			if err != nil {
				t.Fatal(err)
			}
			var views []string
			for _, v := range result.Report.Views {
				views = append(views, v.Controller)
			}
			if test.reason == "" && !slices.Equal(views, test.views) {
				t.Errorf("the caches of %v are stale, want those of %v", views, test.views)
			}
		})
	}
}

// partsOf returns how many parts a widget has in the outcomes, in order.
func partsOf(t *testing.T, result *orrery.Result, name string) []int {
	t.Helper()
	var parts []int
	for _, outcome := range result.Report.OutcomeList {
		for _, o := range outcome.Objects {
			if o.Name != name {
				continue
			}
			var w Widget
			text, err := json.Marshal(o.Fields)
			if err == nil {
				err = json.Unmarshal(text, &w)
			}
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, w.Spec.Parts)
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}

// TestRestartWithoutMemory checks a controller that hears of the first object only: one that it would find first after
// a restart counts, too, when the end is judged.
func TestRestartWithoutMemory(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
		controllerruntime.Properties(properties.Fixpoint()),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			f := &firsts{Client: mgr.GetClient()}
			return ctrl.NewControllerManagedBy(mgr).Named("firsts").Watches(&Widget{}, handler.Funcs{
				CreateFunc: func(_ context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
					if !f.told {
						f.told = true
						queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e.Object)})
					}
				},
			}).Complete(f)
		}))
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report := result.Report
	if len(report.Findings) != 1 || report.Findings[0].Property != "fixpoint" || !strings.Contains(report.Findings[0].Summary, "firsts(default/a)") {
		t.Errorf("%s: %+v %q", report.Verdict, report.Findings, report.Reasons)
	}
}

// firsts is a reconciler that is given the first object only. It counts once on each that it is given, and makes
// another one.
type firsts struct {
	client.Client
	told bool
}

// Reconcile implements [reconcile.Reconciler].
func (f *firsts) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	w := &Widget{}
	if err := f.Get(ctx, request.NamespacedName, w); err != nil || w.Status.Ready > 0 {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	w.Status.Ready = 1
	if err := f.Status().Update(ctx, w); err != nil || request.Name == "a" {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, f.Create(ctx, widget("a", 1))
}
