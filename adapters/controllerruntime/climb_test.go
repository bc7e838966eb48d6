package controllerruntime_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// owner registers a controller that makes a ConfigMap for each Widget, which belongs to it. It may watch ConfigMaps,
// too.
func owner(watches bool) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		builder := ctrl.NewControllerManagedBy(mgr).Named("owner").For(&Widget{})
		if watches {
			builder = builder.Owns(&corev1.ConfigMap{})
		}
		return builder.Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			var w Widget
			if err := c.Get(ctx, request.NamespacedName, &w); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			owned := configMap(w.Name, nil)
			err := c.Get(ctx, request.NamespacedName, &corev1.ConfigMap{})
			if !apierrors.IsNotFound(err) {
				return reconcile.Result{}, err
			}
			if err := controllerutil.SetControllerReference(&w, owned, mgr.GetScheme()); err != nil {
				return reconcile.Result{}, err
			}
			return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, owned))
		}))
	})
}

// foundOn names the rung on which something was found, empty if there is none.
func foundOn(ladder *orrery.Ladder) string {
	if failed := ladder.Failed(); failed != nil {
		return failed.Name
	}
	return ""
}

// TestClimbKeepsPromises wants those who wait for an object that a user has deleted not to be blamed for it, since the
// user creates it again, but those who fail at the object itself. They may be called the same.
func TestClimbKeepsPromises(t *testing.T) {
	const again = "a user takes the actions: delete Widget default/a, then create Widget default/a"
	for name, test := range map[string]struct {
		// waiting is the ConfigMap whose controller waits for the Widget, and forgives tells that the controller of the
		// Widget does nothing once it is gone.
		waiting  string
		forgives bool
		want     string
	}{
		"another one waits":              {"z", true, ""},
		"one of the same name waits":     {"a", true, ""},
		"it looks for the Widget itself": {"z", false, again},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				err := ctrl.NewControllerManagedBy(mgr).Named("widgets").For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
					err := c.Get(ctx, request.NamespacedName, &Widget{})
					if test.forgives {
						err = client.IgnoreNotFound(err)
					}
					return reconcile.Result{}, err
				}))
				if err != nil {
					return err
				}
				waits := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
					return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: "default", Name: test.waiting}}}
				})
				return ctrl.NewControllerManagedBy(mgr).Named("copies").For(&corev1.ConfigMap{}).Watches(&Widget{}, waits).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
					var source Widget
					if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, &source); err != nil {
						return reconcile.Result{}, err
					}
					var copied corev1.ConfigMap
					if err := c.Get(ctx, request.NamespacedName, &copied); err != nil || copied.Data != nil {
						return reconcile.Result{}, client.IgnoreNotFound(err)
					}
					copied.Data = map[string]string{"parts": strconv.Itoa(source.Spec.Parts)}
					return reconcile.Result{}, c.Update(ctx, &copied)
				}))
			}), controllerruntime.ObjectValues(widget("a", 1), configMap(test.waiting, nil)), controllerruntime.GarbageCollection(),
				controllerruntime.Properties(properties.Convergent()...), controllerruntime.Properties(properties.Eventually("it is copied", func(s core.State) bool {
					content := s.Get(core.Key{Kind: "ConfigMap", Namespace: "default", Name: test.waiting})
					return content != nil && strings.Contains(content.Canonical(), `"parts":"1"`)
				})))
			ladder, err := orrery.Climb(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if found := foundOn(ladder); found != test.want {
				t.Errorf("it was found where %q, want %q:\n%s", found, test.want, ladder)
			}
		})
	}
}

// TestClimbImplies wants a controller that does not notice that the object of a Widget's predecessor goes to be found
// out by a climb, where a user deletes the Widget and creates it again. The finding is replayed, though the system says
// nothing of users.
func TestClimbImplies(t *testing.T) {
	const again = "a user takes the actions: delete Widget default/a, then create Widget default/a"
	for name, test := range map[string]struct {
		watches, collects bool
		want              string
		rungs             int
	}{
		"it watches":                 {true, true, "", 7},
		"it does not watch":          {false, true, again, 7},
		"nothing would be collected": {false, false, "", 6},
	} {
		t.Run(name, func(t *testing.T) {
			options := []controllerruntime.Option{
				controllerruntime.CRDBytes(widgetDefinition), owner(test.watches), controllerruntime.ObjectValues(widget("a", 1)),
				controllerruntime.Properties(properties.Convergent()...),
			}
			if test.collects {
				options = append(options, controllerruntime.GarbageCollection(&corev1.ConfigMap{}))
			}
			system := controllerruntime.ForTest(t, newScheme(), options...)
			ladder, err := orrery.Climb(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if found := foundOn(ladder); found != test.want || len(ladder.Rungs) != test.rungs {
				t.Fatalf("it was found where %q, want %q, of %d rungs:\n%s", found, test.want, test.rungs, ladder)
			}
			for _, f := range ladder.Result().Report.Findings {
				if d, err := orrery.Replay(t.Context(), system, f.Trace, orrery.Options{}); d != nil || err != nil {
					t.Errorf("the replay: %v, %v", d, err)
				}
			}
		})
	}
}

// TestClimbCollectsWhatNobodyWatches wants an object of a kind that no controller watches to be collected once its
// owner is gone: what is left over otherwise would be the outcome of a cluster without a garbage collector.
func TestClimbCollectsWhatNobodyWatches(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), owner(false), controllerruntime.ObjectValues(widget("a", 1)),
		controllerruntime.Scenario(controllerruntime.Delete(widget("a", 1))), controllerruntime.GarbageCollection(), controllerruntime.Properties(properties.Convergent()...))
	var all sync.WaitGroup // searches of one system that find out at the same time what has to be collected
	for n := range 4 {
		all.Go(func() {
			result, err := orrery.Run(t.Context(), system, orrery.Options{Workers: 1 + n%2, Stale: []orrery.Staleness{{Controller: "owner", Rule: orrery.Lag(1)}}})
			if err != nil {
				t.Error(err)
				return
			}
			if report := result.Report; report.Verdict != core.Holds || report.Outcomes != 2 || !slices.Equal(report.Adopted, []core.Kind{"ConfigMap"}) {
				t.Errorf("%s, %d outcomes, %q is adopted: %v, %v", report.Verdict, report.Outcomes, report.Adopted, report.Reasons, report.Findings)
			}
		})
	}
	all.Wait()
}

// TestPromisesExceptTheObjectItself wants a controller that fails at the very object that a user has deleted to be
// found although the user promises to create it again, whatever handler enqueues its requests.
func TestPromisesExceptTheObjectItself(t *testing.T) {
	type wrapped struct{ handler.EventHandler }
	for name, watch := range map[string]func(*builder.Builder) *builder.Builder{
		"For": func(b *builder.Builder) *builder.Builder { return b.For(&Widget{}) },
		"wrapped": func(b *builder.Builder) *builder.Builder {
			return b.For(&corev1.ConfigMap{}).Watches(&Widget{}, wrapped{&handler.EnqueueRequestForObject{}})
		},
	} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)), controllerruntime.Setup(func(mgr ctrl.Manager) error {
			c := mgr.GetClient()
			return watch(ctrl.NewControllerManagedBy(mgr).Named("looks")).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, c.Get(ctx, request.NamespacedName, &Widget{})
			}))
		}), controllerruntime.Properties(properties.Convergent()...), controllerruntime.InOrder(controllerruntime.Delete(widget("a", 1)), controllerruntime.Create(widget("a", 1)).Promised()))
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if result.Report.Verdict != core.Violated {
			t.Errorf("%s: %s", name, result.Report.Verdict)
		}
	}
}
