package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		"it watches":                 {true, true, "", 11},
		"it does not watch":          {false, true, again, 11},
		"nothing would be collected": {true, false, "", 8},
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

// TestClimbDeletesWhatControllersMade wants a controller to be found out that would make an object again, and does not
// notice that it is gone: not one that looks at times, nor one that knows that its work is done.
func TestClimbDeletesWhatControllersMade(t *testing.T) {
	for name, test := range map[string]struct {
		watches, polls, once bool
		want                 string
	}{
		"it watches":     {true, false, false, ""},
		"it forgot to":   {false, false, false, "ConfigMap default/b"},
		"it looks again": {false, true, false, ""},
		"it is done":     {false, false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
				controllerruntime.Properties(properties.Convergent()...), controllerruntime.GarbageCollection(), controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					b := ctrl.NewControllerManagedBy(mgr).Named("maker").For(&Widget{})
					if test.watches {
						b = b.Owns(&corev1.ConfigMap{})
					}
					return b.Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
						var w Widget
						if err := c.Get(ctx, request.NamespacedName, &w); err != nil || w.Annotations["done"] != "" {
							return result, client.IgnoreNotFound(err)
						}
						for _, name := range []string{"b", "c"} {
							made := configMap(name, nil)
							if err := controllerutil.SetControllerReference(&w, made, mgr.GetScheme()); err != nil {
								return result, err
							}
							if err := c.Create(ctx, made); client.IgnoreAlreadyExists(err) != nil {
								return result, err
							}
							var there corev1.ConfigMap // that of another Widget of the name goes sooner or later
							if err := mgr.GetAPIReader().Get(ctx, client.ObjectKeyFromObject(made), &there); err != nil || !metav1.IsControlledBy(&there, &w) {
								return result, errors.Join(err, fmt.Errorf("%s is not there yet", name))
							}
						}
						if test.once {
							w.Annotations = map[string]string{"done": "yes"}
							return result, c.Update(ctx, &w)
						}
						if test.polls {
							result.RequeueAfter = time.Hour
						}
						return result, nil
					}))
				}))
			ladder, err := orrery.Climb(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" {
				if found := foundOn(ladder); found != "" {
					t.Errorf("found where %s:\n%s", found, ladder)
				}
				return
			}
			if found := foundOn(ladder); found != "somebody deletes one object that controllers have made: ConfigMap default/b, ConfigMap default/c" {
				t.Fatalf("found where %q:\n%s", found, ladder)
			}
			for _, f := range ladder.Result().Report.Findings {
				deletes := func(step core.TraceStep) bool {
					return step.Controller == core.User && string(step.Request) == "delete "+test.want
				}
				if !strings.Contains(f.Summary, test.want) || !slices.ContainsFunc(f.Trace.Steps, deletes) {
					t.Errorf("found: %s, with %v", f.Summary, f.Trace.Steps)
				}
				if d, err := orrery.Replay(t.Context(), system, f.Trace, orrery.Options{}); d != nil || err != nil {
					t.Errorf("the replay: %v, %v", d, err)
				}
			}
		})
	}
}

// TestClimbDisturbsDeletions wants a finalizer to be found out that is gone before what it is for has been done, or
// although that has failed.
func TestClimbDisturbsDeletions(t *testing.T) {
	const crashes, fails, user = "a controller crashes once", "a call fails once", ", and a user takes the actions: delete Widget default/a, then create Widget default/a"
	for name, test := range map[string]struct {
		early, forgives bool
		want            string
	}{
		"right":                      {false, false, ""},
		"it is removed before":       {true, false, crashes + user},
		"it is removed all the same": {false, true, fails + user},
	} {
		t.Run(name, func(t *testing.T) {
			aboutWidget := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
				return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(widget("a", 1))}}
			})
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
				controllerruntime.Properties(properties.Convergent()...), controllerruntime.GarbageCollection(), controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					return ctrl.NewControllerManagedBy(mgr).Named("cleaner").For(&Widget{}).Watches(&corev1.ConfigMap{}, aboutWidget).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
						var w Widget
						if err := c.Get(ctx, request.NamespacedName, &w); err != nil {
							return result, client.IgnoreNotFound(err)
						}
						if w.DeletionTimestamp == nil {
							if controllerutil.AddFinalizer(&w, "example.com/clean-up") {
								return result, c.Update(ctx, &w)
							}
							return result, client.IgnoreAlreadyExists(c.Create(ctx, configMap("elsewhere", nil)))
						}
						release := func() error {
							if controllerutil.RemoveFinalizer(&w, "example.com/clean-up") {
								return c.Update(ctx, &w)
							}
							return nil
						}
						if test.early {
							if err := release(); err != nil {
								return result, err
							}
						}
						if err := c.Delete(ctx, configMap("elsewhere", nil)); client.IgnoreNotFound(err) != nil && !test.forgives {
							return result, err
						}
						return result, release()
					}))
				}))
			ladder, err := orrery.Climb(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if found := foundOn(ladder); found != test.want {
				t.Errorf("found where %q, want %q:\n%s", found, test.want, ladder)
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

// TestClimbChangesInitialObjects wants a controller to be found out that writes what it has read in an object of a user,
// and does not notice when that changes.
func TestClimbChangesInitialObjects(t *testing.T) {
	for _, watches := range []bool{true, false} {
		settings := configMap("settings", nil)
		settings.Data = map[string]string{"color": "red"}
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1), settings),
			controllerruntime.Properties(properties.Convergent()...), controllerruntime.GarbageCollection(), controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				b := ctrl.NewControllerManagedBy(mgr).Named("painter").For(&Widget{})
				if watches {
					b = b.Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
						return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(widget("a", 1))}}
					}))
				}
				return b.Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
					var w Widget
					if err := c.Get(ctx, request.NamespacedName, &w); err != nil {
						return reconcile.Result{}, client.IgnoreNotFound(err)
					}
					var read corev1.ConfigMap
					if err := c.Get(ctx, client.ObjectKeyFromObject(settings), &read); err != nil || w.Annotations["color"] == read.Data["color"] {
						return reconcile.Result{}, client.IgnoreNotFound(err)
					}
					w.Annotations = map[string]string{"color": read.Data["color"]}
					return reconcile.Result{}, c.Update(ctx, &w)
				}))
			}))
		ladder, err := orrery.Climb(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if !watches {
			want = "somebody changes one value: spec.parts of Widget.example.org default/a, data.color of ConfigMap default/settings"
		}
		if found := foundOn(ladder); found != want {
			t.Fatalf("it watches: %t; found where %q, want %q:\n%s", watches, found, want, ladder)
		}
		for _, f := range ladder.Result().Report.Findings {
			if d, err := orrery.Replay(t.Context(), system, f.Trace, orrery.Options{}); d != nil || err != nil {
				t.Errorf("the replay: %v, %v", d, err)
			}
		}
	}
}
