package controllerruntime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// older reports whether the first of two was created earlier.
func older(a, b corev1.ConfigMap) bool { return a.CreationTimestamp.Before(&b.CreationTimestamp) }

// keeping is a controller that deletes all ConfigMaps but the first one in an order.
func keeping(before func(a, b corev1.ConfigMap) bool) controllerruntime.Option {
	return controllerruntime.Reconciler("keeper", func(c client.Client) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
			var all corev1.ConfigMapList
			if err := c.List(ctx, &all); err != nil {
				return ctrl.Result{}, err
			}
			for i := range all.Items {
				if slices.ContainsFunc(all.Items[:i], func(b corev1.ConfigMap) bool { return !before(all.Items[i], b) }) ||
					slices.ContainsFunc(all.Items[i+1:], func(b corev1.ConfigMap) bool { return before(b, all.Items[i]) }) {
					if err := c.Delete(ctx, &all.Items[i]); client.IgnoreNotFound(err) != nil {
						return ctrl.Result{}, err
					}
				}
			}
			return ctrl.Result{}, nil
		})
	}, controllerruntime.For(&corev1.ConfigMap{}))
}

// keepingLater is a controller that deletes the last ConfigMap in an order, as long as there are two, in a goroutine
// that no run waits for.
func keepingLater(before func(a, b corev1.ConfigMap) bool) controllerruntime.Option {
	return controllerruntime.Reconciler("keeper", func(c client.Client) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
			var all corev1.ConfigMapList
			if err := c.List(ctx, &all); err != nil || len(all.Items) < 2 {
				return ctrl.Result{}, err
			}
			last := &all.Items[0]
			for i := range all.Items {
				if before(*last, all.Items[i]) {
					last = &all.Items[i]
				}
			}
			go func() { _ = c.Delete(context.Background(), last) }()
			return ctrl.Result{}, nil
		})
	}, controllerruntime.For(&corev1.ConfigMap{}))
}

// recalling notes in memory the first ConfigMap in an order of those that it was asked about.
type recalling struct {
	client.Client
	before func(a, b *corev1.ConfigMap) bool
	first  *corev1.ConfigMap
	all    map[string]*corev1.ConfigMap
}

// Reconcile implements [reconcile.Reconciler].
func (r *recalling) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	o := &corev1.ConfigMap{}
	if err := r.Get(ctx, request.NamespacedName, o); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r.all[o.Name] = o
	if r.first == nil || r.before(o, r.first) {
		r.first = o
	}
	return ctrl.Result{}, nil
}

func recall(before func(a, b *corev1.ConfigMap) bool) controllerruntime.Option {
	return controllerruntime.Reconciler("rememberer", func(c client.Client) reconcile.Reconciler {
		return &recalling{Client: c, before: before, all: map[string]*corev1.ConfigMap{}}
	}, controllerruntime.For(&corev1.ConfigMap{}))
}

// kept says that an object is never deleted.
func kept(name string) core.Property {
	return core.Property{Name: name + " is kept", Invariant: func(state core.State) error {
		if state.Get(core.Key{Kind: "ConfigMap", Namespace: "default", Name: name}) == nil {
			return fmt.Errorf("%s is deleted", name)
		}
		return nil
	}}
}

// TestAgesOfObjects checks controllers that look at when objects were created. What they make of it is found, whichever
// of two that are there at the start is older, and whichever is created later; what they do not compare costs no second
// search.
func TestAgesOfObjects(t *testing.T) {
	long(t)
	both := controllerruntime.ObjectValues(configMap("a", nil), configMap("b", nil))
	later := func(there, made string) controllerruntime.Option {
		return controllerruntime.With(controllerruntime.ObjectValues(configMap(there, nil)), controllerruntime.Scenario(controllerruntime.Create(configMap(made, nil))))
	}
	touching := func(text func(corev1.ConfigMap, []corev1.ConfigMap) string) controllerruntime.Option {
		return reconcilesConfigMaps("toucher", func(ctx context.Context, c client.Client, o *corev1.ConfigMap) (ctrl.Result, error) {
			var all corev1.ConfigMapList
			if err := c.List(ctx, &all); err != nil || o.Annotations["text"] != "" {
				return ctrl.Result{}, err
			}
			metav1.SetMetaDataAnnotation(&o.ObjectMeta, "text", text(*o, all.Items))
			return ctrl.Result{}, c.Update(ctx, o)
		})
	}
	for about, test := range map[string]struct {
		system   []controllerruntime.Option
		property core.Property
		want     core.Verdict
		aged     bool
	}{
		"the oldest is kept":          {[]controllerruntime.Option{both, keeping(older)}, kept("a"), core.Violated, true},
		"the youngest is kept":        {[]controllerruntime.Option{both, keeping(func(a, b corev1.ConfigMap) bool { return older(b, a) })}, kept("a"), core.Violated, true},
		"the oldest is kept, in time": {[]controllerruntime.Option{both, keepingLater(older)}, kept("b"), core.Violated, true},
		"the first is kept, in time":  {[]controllerruntime.Option{both, keepingLater(func(a, b corev1.ConfigMap) bool { return a.Name < b.Name })}, kept("a"), core.Holds, false},
		"the first is kept":           {[]controllerruntime.Option{both, keeping(func(a, b corev1.ConfigMap) bool { return a.Name < b.Name })}, kept("a"), core.Holds, false},
		// Where both are created in the same second, it depends on the order in which the cache lists them.
		"the oldest is kept, made first": {[]controllerruntime.Option{later("a", "b"), keeping(older)}, kept("a"), core.Inconclusive, true},
		"of those that are equally old, the first is kept": {[]controllerruntime.Option{later("a", "b"), keeping(func(a, b corev1.ConfigMap) bool {
			return older(a, b) || a.CreationTimestamp.Equal(&b.CreationTimestamp) && a.Name < b.Name
		})}, kept("a"), core.Holds, true},
		"the youngest is kept, made last":   {[]controllerruntime.Option{later("a", "b"), keeping(func(a, b corev1.ConfigMap) bool { return older(b, a) })}, kept("a"), core.Violated, true},
		"all are kept in memory":            {[]controllerruntime.Option{both, recall(func(a, b *corev1.ConfigMap) bool { return a.Name < b.Name })}, kept("a"), core.Holds, false},
		"the oldest is kept in memory":      {[]controllerruntime.Option{both, recall(func(a, b *corev1.ConfigMap) bool { return older(*a, *b) })}, kept("a"), core.Holds, true},
		"the oldest is kept, which is late": {[]controllerruntime.Option{later("b", "a"), keeping(older)}, kept("b"), core.Violated, false},
		"the time is written": {[]controllerruntime.Option{both, touching(func(o corev1.ConfigMap, _ []corev1.ConfigMap) string {
			return o.CreationTimestamp.UTC().Format(time.RFC3339)
		})}, kept("a"), core.Holds, false},
		"an age is written": {[]controllerruntime.Option{both, touching(func(o corev1.ConfigMap, _ []corev1.ConfigMap) string {
			return time.Since(o.CreationTimestamp.Time).String()
		})}, kept("a"), core.Inconclusive, false},
		"a difference is written": {[]controllerruntime.Option{both, touching(func(_ corev1.ConfigMap, all []corev1.ConfigMap) string {
			slices.SortFunc(all, func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
			return all[len(all)-1].CreationTimestamp.Sub(all[0].CreationTimestamp.Time).String()
		})}, kept("a"), core.Holds, true},
	} {
		t.Run(about, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), test.system...)
			system.Properties = append(properties.Convergent(), test.property)
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := result.Report
			if r.Verdict != test.want || (len(r.Ages) > 0) != test.aged {
				t.Errorf("%s with the ages of %v, want %s\n%v\n%v", r.Verdict, r.Ages, test.want, r.Reasons, r.Findings)
			}
			says := slices.ContainsFunc(r.Assumptions, func(text string) bool {
				return strings.Contains(text, " looks at which objects of kind ConfigMap were created first. ")
			})
			if says != test.aged {
				t.Errorf("the report assumes %q", r.Assumptions)
			}
			for _, f := range r.Findings {
				options, err := orrery.Options{}.Again(&r)
				if err != nil {
					t.Fatal(err)
				}
				deviation, err := orrery.Replay(t.Context(), controllerruntime.ForTest(t, newScheme(), test.system...), f.Trace, options)
				if deviation != nil || err != nil {
					t.Errorf("%s is replayed otherwise: %v %v", f.Property, deviation, err)
				}
			}
		})
	}
}

// TestOrderOfUIDs: who keeps the first of several by their uids keeps another one on each cluster. Who only writes one
// down, or looks for its own, does not.
func TestOrderOfUIDs(t *testing.T) {
	byUID := func(a, b corev1.ConfigMap) bool { return a.UID < b.UID }
	for about, test := range map[string]struct {
		keeper controllerruntime.Option
		want   core.Verdict
	}{
		"the first one":       {keeping(byUID), core.Inconclusive},
		"the first by name":   {keeping(func(a, b corev1.ConfigMap) bool { return a.Name < b.Name }), core.Holds},
		"the one that is not": {keeping(func(a, b corev1.ConfigMap) bool { return a.UID != b.UID && a.Name < b.Name }), core.Holds},
		"one that is noted": {reconcilesConfigMaps("keeper", func(ctx context.Context, c client.Client, o *corev1.ConfigMap) (ctrl.Result, error) {
			if o.Annotations["uid"] == string(o.UID) {
				return ctrl.Result{}, nil
			}
			metav1.SetMetaDataAnnotation(&o.ObjectMeta, "uid", string(o.UID))
			return ctrl.Result{}, c.Update(ctx, o)
		}), core.Holds},
	} {
		t.Run(about, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), test.keeper, controllerruntime.ObjectValues(configMap("a", nil), configMap("b", nil), configMap("c", nil)))
			system.Properties = properties.Convergent()
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			says := slices.ContainsFunc(result.Report.Reasons, func(text string) bool {
				return strings.HasPrefix(text, "keeper heeds the order of uids, which a server makes at random")
			})
			if r := result.Report; r.Verdict != test.want || says != (test.want == core.Inconclusive) {
				t.Errorf("%s, want %s: %v %v", r.Verdict, test.want, r.Reasons, r.Findings)
			}
		})
	}
}

// TestNoTimeForAges: a search that comes to its limit of time says so once, and that there was no time for objects of
// other ages. No other one is begun in what is left for judging.
func TestNoTimeForAges(t *testing.T) {
	var objects []client.Object
	for i := range 12 {
		objects = append(objects, configMap(fmt.Sprint("m", i), nil))
	}
	lag, err := orrery.ParseStaleness("all=lag(2)")
	if err != nil {
		t.Fatal(err)
	}
	system := controllerruntime.ForTest(t, newScheme(), keeping(older), controllerruntime.ObjectValues(objects...))
	result, err := orrery.Run(t.Context(), system, orrery.Options{Crashes: 2, Failures: 2, Stale: lag, Granularity: orrery.PerCall, MaxTime: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	limits, ages := 0, 0
	for _, reason := range result.Report.Reasons {
		if strings.Contains(reason, "reached the time limit") {
			limits++
		}
		if strings.Contains(reason, "there was no time to search with others of them older") {
			ages++
		}
	}
	if limits != 1 || ages != 1 || result.Report.States == 0 {
		t.Errorf("%d states: %q", result.Report.States, result.Report.Reasons)
	}
}
