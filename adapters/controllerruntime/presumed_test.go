package controllerruntime_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// forWidgets is a controller that does something for each Widget.
func forWidgets(name string, do func(context.Context, client.Client, *Widget) error) controllerruntime.Option {
	return controllerruntime.Reconciler(name, func(c client.Client) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
			var w Widget
			if err := c.Get(ctx, r.NamespacedName, &w); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			return ctrl.Result{}, do(ctx, c, &w)
		})
	}, controllerruntime.For(&Widget{}))
}

// TestNamespacesThatSomebodyMakes has one controller make a namespace, and another one create something in it, which
// comes too early in some runs. A namespace that nobody makes is taken to be there.
func TestNamespacesThatSomebodyMakes(t *testing.T) {
	long(t)
	namespace := func(w *Widget) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "of-" + w.Name}}
	}
	within := func(w *Widget) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "of-" + w.Name}}
	}
	makes := forWidgets("maker", func(ctx context.Context, c client.Client, w *Widget) error {
		return client.IgnoreAlreadyExists(c.Create(ctx, namespace(w)))
	})
	once := forWidgets("maker", func(ctx context.Context, c client.Client, w *Widget) error {
		if w.Annotations["made"] != "" {
			return nil
		}
		if err := c.Create(ctx, namespace(w)); client.IgnoreAlreadyExists(err) != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&w.ObjectMeta, "made", "yes")
		return c.Update(ctx, w)
	})
	users := controllerruntime.Scenario(controllerruntime.Delete(namespace(widget("a", 1))).OnceSettled(),
		controllerruntime.Change("ask again", widget("a", 1), func(w *Widget) { metav1.SetMetaDataAnnotation(&w.ObjectMeta, "again", "yes") }).OnceSettled())
	givesUp := forWidgets("filler", func(ctx context.Context, c client.Client, w *Widget) error {
		err := c.Create(ctx, within(w))
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			return nil
		}
		return client.IgnoreAlreadyExists(err)
	})
	triesAgain := forWidgets("filler", func(ctx context.Context, c client.Client, w *Widget) error {
		return client.IgnoreAlreadyExists(c.Create(ctx, within(w)))
	})
	for name, test := range map[string]struct {
		controllers []controllerruntime.Option
		objects     []client.Object
		want        core.Verdict
	}{
		"who gives up":                  {[]controllerruntime.Option{makes, givesUp}, nil, core.Violated},
		"who tries again":               {[]controllerruntime.Option{makes, triesAgain}, nil, core.Holds},
		"a namespace that nobody makes": {[]controllerruntime.Option{givesUp}, nil, core.Holds},
		"a namespace that is there":     {[]controllerruntime.Option{makes, givesUp}, []client.Object{namespace(widget("a", 1)), namespace(widget("b", 1))}, core.Holds},
		"a namespace with an object":    {[]controllerruntime.Option{givesUp}, []client.Object{configMap("other", nil)}, core.Holds},
		"a namespace that goes":         {[]controllerruntime.Option{once, triesAgain, users, controllerruntime.NamespaceDeletion(&corev1.ConfigMap{})}, nil, core.Violated},
	} {
		t.Run(name, func(t *testing.T) {
			for _, options := range []orrery.Options{{Workers: 1}, {Workers: 2, Reduction: orrery.NoReduction}} {
				system := controllerruntime.ForTest(t, newScheme(), append(test.controllers, controllerruntime.CRDBytes(widgetDefinition),
					controllerruntime.ObjectValues(append(test.objects, widget("a", 1), widget("b", 1))...), controllerruntime.Properties(properties.Convergent()...))...)
				result, err := orrery.Run(t.Context(), system, options)
				if err != nil {
					t.Fatal(err)
				}
				r := result.Report
				if r.Verdict != test.want {
					t.Errorf("%s, want %s: %v", r.Verdict, test.want, r.Reasons)
					for _, f := range r.Findings {
						t.Log(f.Property, f.Summary)
					}
				}
				for _, f := range r.Findings {
					traces := []core.Trace{f.Trace}
					if f.Other != nil {
						traces = append(traces, *f.Other)
					}
					for _, trace := range traces {
						if !slices.Contains(trace.Made, core.Key{Kind: "Namespace", Name: "of-a"}) {
							t.Errorf("a trace says that these are made: %v", trace.Made)
						}
						if d, err := orrery.Replay(t.Context(), system, trace, orrery.Options{}); d != nil || err != nil {
							t.Errorf("the replay: %v, %v", d, err)
						}
					}
				}
			}
		})
	}
}
