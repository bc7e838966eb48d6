package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// lookup is a way to find out whether there is a ConfigMap.
type lookup func(context.Context, ctrl.Manager, types.NamespacedName) (bool, error)

// lookups are ways to read a ConfigMap, all but the last through the cache.
func lookups() map[string]lookup {
	found := func(err error) (bool, error) { return err == nil, client.IgnoreNotFound(err) }
	untyped := func() *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("v1")
		u.SetKind("ConfigMap")
		return u
	}
	return map[string]lookup{
		"get": func(ctx context.Context, mgr ctrl.Manager, key types.NamespacedName) (bool, error) {
			return found(mgr.GetClient().Get(ctx, key, &corev1.ConfigMap{}))
		},
		"list": func(ctx context.Context, mgr ctrl.Manager, key types.NamespacedName) (bool, error) {
			var list corev1.ConfigMapList
			err := mgr.GetClient().List(ctx, &list, client.InNamespace(key.Namespace))
			return len(list.Items) > 0, err
		},
		"cache": func(ctx context.Context, mgr ctrl.Manager, key types.NamespacedName) (bool, error) {
			return found(mgr.GetCache().Get(ctx, key, &corev1.ConfigMap{}))
		},
		"metadata": func(ctx context.Context, mgr ctrl.Manager, key types.NamespacedName) (bool, error) {
			m := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
			return found(mgr.GetClient().Get(ctx, key, m))
		},
		"untyped": func(ctx context.Context, mgr ctrl.Manager, key types.NamespacedName) (bool, error) {
			return found(mgr.GetCache().Get(ctx, key, untyped()))
		},
		"live": func(ctx context.Context, mgr ctrl.Manager, key types.NamespacedName) (bool, error) {
			return found(mgr.GetAPIReader().Get(ctx, key, &corev1.ConfigMap{}))
		},
	}
}

// counter returns a controller that makes a ConfigMap for a Widget unless it finds one, and counts in the status of the
// Widget how often it did. It does not watch ConfigMaps.
func counter(look lookup) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).Named("counter").For(&Widget{}).
			Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				var w Widget
				if err := c.Get(ctx, request.NamespacedName, &w); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				there, err := look(ctx, mgr, request.NamespacedName)
				if there || err != nil || w.Status.Ready > 1 {
					return reconcile.Result{}, err
				}
				if err := c.Create(ctx, configMap(w.Name, nil)); client.IgnoreAlreadyExists(err) != nil {
					return reconcile.Result{}, err
				}
				w.Status.Ready++
				return reconcile.Result{}, c.Status().Update(ctx, &w)
			}))
	})
}

// TestCachedReadsAreStale checks that what is read through the cache of a manager has a view, in whatever way it is
// read and whether or not it is watched, and that live reads have none.
func TestCachedReadsAreStale(t *testing.T) {
	once := core.Property{Name: "it is made once", Invariant: func(s core.State) error { return readyAtMostOnce(s) }}
	for name, look := range lookups() {
		for _, stale := range []orrery.Staleness{{Rule: orrery.Lag(1)}, {Controller: "counter", Kind: "ConfigMap", Rule: orrery.Lag(1)}} {
			t.Run(name+" "+stale.String(), func(t *testing.T) {
				system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), counter(look),
					controllerruntime.ObjectValues(widget("a", 1)), controllerruntime.Properties(once))
				result, err := orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{stale}})
				if name == "live" {
					if stale.Controller != "" {
						if want := `controller "counter" does not watch "ConfigMap" or read it through a cache: its cached kinds are Widget.example.org`; err == nil || err.Error() != want {
							t.Errorf("%v, want %s", err, want)
						}
						return
					}
					if err != nil || slices.ContainsFunc(result.Report.Views, func(v core.ViewReport) bool { return v.Kind == "ConfigMap" }) {
						t.Errorf("a live read has a view: %v, %v", err, result)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				report := result.Report
				if !slices.Contains(report.Views, core.ViewReport{Controller: "counter", Kind: "ConfigMap", Rule: "lag(1)"}) {
					t.Errorf("the views are %v", report.Views)
				}
				if report.Verdict != core.Violated || !slices.ContainsFunc(report.Findings, func(f core.Finding) bool { return f.Property == once.Name }) {
					t.Errorf("%s: %v", report.Verdict, report.Reasons)
				}
			})
		}
	}
}

// TestKindsOfViewsAreNamed checks what may be called stale before anything runs.
func TestKindsOfViewsAreNamed(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), counter(lookups()["get"]),
		controllerruntime.ObjectValues(widget("a", 1)))
	for whose, want := range map[[2]string]string{
		{"counter", "Widget"}:             "",
		{"counter", "Widget.example.org"}: "",
		{"counter", "Deployment"}:         "",
		{"counter", "Deployments"}:        `controller "counter" does not watch "Deployments"`,
		{"conter", "Widget"}:              `did you mean "counter" instead of "conter"?`,
	} {
		stale := orrery.Staleness{Controller: whose[0], Kind: core.Kind(whose[1]), Rule: orrery.Lag(1)}
		err := orrery.Options{Stale: []orrery.Staleness{stale}}.Validate(system)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", stale, err, want)
		}
	}
}

func readyAtMostOnce(s core.State) error {
	for _, o := range s.List("Widget.example.org", "") {
		if ready := o.Content.Fields().(map[string]any)["status"]; ready != nil && strings.Contains(fmt.Sprint(ready), "2") {
			return errTwice
		}
	}
	return nil
}

var errTwice = errors.New("it was made twice")
