package controllerruntime_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/properties"
)

// loop is a controller of Widgets.
type loop struct {
	name string
	// maps tells that it also looks at a Widget when a ConfigMap of its name changes, and specs that it looks at a
	// Widget only when its specification does.
	maps, specs bool
	reconcile   func(ctx context.Context, c client.Client, w *Widget) error
}

// option registers the controller.
func (l loop) option() controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		b := ctrl.NewControllerManagedBy(mgr).Named(l.name)
		if l.specs {
			b = b.For(&Widget{}, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
		} else {
			b = b.For(&Widget{})
		}
		if l.maps {
			b = b.Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
				return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(widget("a", 1))}}
			}))
		}
		return b.Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			var w Widget
			if err := c.Get(ctx, request.NamespacedName, &w); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			return reconcile.Result{}, l.reconcile(ctx, c, &w)
		}))
	})
}

// count returns how many ConfigMaps the cache shows.
func count(ctx context.Context, c client.Client) (int, error) {
	var list corev1.ConfigMapList
	err := c.List(ctx, &list, client.InNamespace("default"))
	return len(list.Items), err
}

// create creates a ConfigMap, by its name unless that is generated, unless there is one.
func create(ctx context.Context, c client.Client, name string) error {
	owned := configMap(name, nil)
	if strings.HasSuffix(name, "-") {
		owned.Name, owned.GenerateName = "", name
	}
	return client.IgnoreAlreadyExists(c.Create(ctx, owned))
}

// annotate sets an annotation of a Widget, unless that is so.
func annotate(ctx context.Context, c client.Client, w *Widget, key, value string) error {
	if w.Annotations[key] == value {
		return nil
	}
	w.Annotations = map[string]string{key: value}
	return c.Update(ctx, w)
}

// signs adds a name to the list in an annotation of a Widget, with a patch that names the version that it has read or
// not.
func signs(name string, locks bool) loop {
	return loop{name: name, specs: true, reconcile: func(ctx context.Context, c client.Client, w *Widget) error {
		signed := map[string]bool{name: true}
		for s := range strings.SplitSeq(w.Annotations["signed"], " ") {
			signed[s] = true
		}
		delete(signed, "")
		before := w.DeepCopyObject().(*Widget)
		w.Annotations = map[string]string{"signed": strings.Join(slices.Sorted(maps.Keys(signed)), " ")}
		patch := client.MergeFrom(before)
		if locks {
			patch = client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		}
		return c.Patch(ctx, w, patch)
	}}
}

// sets has an annotation say what it wants.
func sets(name, value string) loop {
	return loop{name: name, reconcile: func(ctx context.Context, c client.Client, w *Widget) error { return annotate(ctx, c, w, "mode", value) }}
}

// makes has a Widget have a ConfigMap of a name, and says so in its status.
func makes(name string) loop {
	return loop{name: "maker", maps: true, reconcile: func(ctx context.Context, c client.Client, w *Widget) error {
		if n, err := count(ctx, c); n == 0 && err == nil {
			if err := create(ctx, c, name); err != nil {
				return err
			}
		}
		if w.Status.Ready == 1 {
			return nil
		}
		w.Status.Ready = 1
		return c.Status().Update(ctx, w)
	}}
}

// countsMaps writes into the status of a Widget how many ConfigMaps there are, after it has made one. It may look again
// when there are others.
func countsMaps(again bool) loop {
	return loop{name: "counter", maps: again, reconcile: func(ctx context.Context, c client.Client, w *Widget) error {
		if err := create(ctx, c, w.Name); err != nil {
			return err
		}
		n, err := count(ctx, c)
		if err != nil || n == w.Status.Ready {
			return err
		}
		w.Status.Ready = n
		return c.Status().Update(ctx, w)
	}}
}

// pair makes two ConfigMaps: the second only if the first is new, or each by itself.
func pair(each bool) loop {
	return loop{name: "pair", maps: true, reconcile: func(ctx context.Context, c client.Client, _ *Widget) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(configMap("first", nil)), &corev1.ConfigMap{})
		if err == nil && !each {
			return nil
		}
		return errors.Join(create(ctx, c, "first"), create(ctx, c, "second"))
	}}
}

// orders makes a ConfigMap each time and then fails, as what it waits for never comes, or makes one by its name and
// waits.
func orders(name string, fails bool) loop {
	return loop{name: "orders", maps: true, reconcile: func(ctx context.Context, c client.Client, _ *Widget) error {
		if err := create(ctx, c, name); err != nil || !fails {
			return err
		}
		return errors.New("not there yet")
	}}
}

// ends takes its finalizer from a Widget that is deleted, and deletes its ConfigMap first or afterwards.
func ends(first bool) loop {
	return loop{name: "ends", reconcile: func(ctx context.Context, c client.Client, w *Widget) error {
		if w.DeletionTimestamp == nil || len(w.Finalizers) == 0 {
			return nil
		}
		clean := func() error { return client.IgnoreNotFound(c.Delete(ctx, configMap(w.Name, nil))) }
		if first {
			if err := clean(); err != nil {
				return err
			}
		}
		w.Finalizers = nil
		if err := c.Update(ctx, w); err != nil || first {
			return client.IgnoreNotFound(err)
		}
		return clean()
	}}
}

// copies copies what a ConfigMap says into an annotation of the Widget, while another controller changes the ConfigMap
// once. It may watch ConfigMaps or not.
func copies(watches bool) []loop {
	return []loop{
		{name: "copies", maps: watches, reconcile: func(ctx context.Context, c client.Client, w *Widget) error {
			var m corev1.ConfigMap
			if err := c.Get(ctx, client.ObjectKeyFromObject(w), &m); err != nil {
				return client.IgnoreNotFound(err)
			}
			return annotate(ctx, c, w, "copy", m.Data["value"])
		}},
		{name: "editor", specs: true, reconcile: func(ctx context.Context, c client.Client, w *Widget) error {
			m := configMap(w.Name, nil)
			m.Data = map[string]string{"value": "2"}
			return c.Update(ctx, m)
		}},
	}
}

// allots gives a Widget a ConfigMap whose name is generated, or is that of the Widget, after it has asked the API
// server itself whether it has one.
func allots(name string) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		aboutWidget := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(widget("a", 1))}}
		})
		return ctrl.NewControllerManagedBy(mgr).Named("allots").For(&Widget{}).Watches(&corev1.ConfigMap{}, aboutWidget).
			Complete(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				var list corev1.ConfigMapList
				if err := mgr.GetAPIReader().List(ctx, &list, client.InNamespace("default")); err != nil || len(list.Items) > 0 {
					return reconcile.Result{}, err
				}
				return reconcile.Result{}, create(ctx, mgr.GetClient(), name)
			}))
	})
}

func options(loops ...loop) []controllerruntime.Option {
	var all []controllerruntime.Option
	for _, l := range loops {
		all = append(all, l.option())
	}
	return all
}

// TestPatterns wants classic mistakes of controllers to be found by a climb, with nothing else said, and what mends
// them to stand on all rungs.
func TestPatterns(t *testing.T) {
	finalized := widget("a", 1)
	finalized.Finalizers = []string{"example.org/end"}
	alone := []client.Object{widget("a", 1)}
	for name, p := range map[string]struct {
		objects        []client.Object
		more           []controllerruntime.Option
		mistake, mends []controllerruntime.Option
		rung           string
	}{
		"fighting fields":           {alone, nil, options(sets("left", "left"), sets("right", "right")), options(sets("left", "same"), sets("right", "same")), "nothing goes wrong"},
		"missing watch":             {[]client.Object{widget("a", 1), configMap("a", nil)}, nil, options(copies(false)...), options(copies(true)...), "nothing goes wrong"},
		"retries with side effects": {alone, nil, options(orders("a-", true)), options(orders("a", false)), "nothing goes wrong"},
		"lost update":               {alone, nil, options(signs("left", false), signs("right", false)), options(signs("left", true), signs("right", true)), "caches miss the latest change"},
		"generated names":           {alone, nil, options(makes("a-")), options(makes("a")), "caches miss the latest change"},
		"status from a stale read":  {alone, nil, options(countsMaps(false)), options(countsMaps(true)), "caches miss the latest change"},
		"crash between creations":   {alone, nil, options(pair(false)), options(pair(true)), "a controller crashes once"},
		"finalizer off too early":   {[]client.Object{finalized, configMap("a", nil)}, []controllerruntime.Option{controllerruntime.Scenario(controllerruntime.Delete(widget("a", 1)))}, options(ends(false)), options(ends(true)), "a controller crashes once"},
		"two leaders":               {alone, nil, []controllerruntime.Option{allots("a-")}, []controllerruntime.Option{allots("a")}, "two instances of allots are at work"},
	} {
		t.Run(name, func(t *testing.T) {
			climb := func(controllers []controllerruntime.Option) (string, *orrery.Ladder) {
				all := slices.Concat([]controllerruntime.Option{
					controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(p.objects...), controllerruntime.Properties(properties.Convergent()...),
				}, p.more, controllers)
				ladder, err := orrery.Climb(t.Context(), controllerruntime.ForTest(t, newScheme(), all...), orrery.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if failed := ladder.Failed(); failed != nil {
					return failed.Name, ladder
				}
				return "", ladder
			}
			if rung, ladder := climb(p.mistake); rung != p.rung {
				t.Errorf("the mistake is found where %q, want %q:\n%s", rung, p.rung, ladder)
			}
			if rung, ladder := climb(p.mends); rung != "" {
				t.Errorf("it is not mended where %q, as %s:\n%s", rung, ladder.Result().Report.Findings[0].Summary, ladder)
			}
		})
	}
}
