package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// ticker is a runnable that is left out.
type ticker struct{}

// Start implements [manager.Runnable].
func (*ticker) Start(context.Context) error { panic("it is left out") }

// waits is a runnable that does nothing.
func waits(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// reconciling returns a set-up with a controller of ConfigMaps that runs the code.
func reconciling(code func(context.Context, ctrl.Manager, controller.Controller) error) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		var c controller.Controller
		c, err := ctrl.NewControllerManagedBy(mgr).Named("dynamic").For(&corev1.ConfigMap{}).
			Build(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, code(ctx, mgr, c)
			}))
		return err
	})
}

// adding returns a set-up with a controller that does nothing, and with what the code adds.
func adding(code func(ctrl.Manager) error) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		if err := ctrl.NewControllerManagedBy(mgr).Named("still").For(&corev1.ConfigMap{}).Complete(idle); err != nil {
			return err
		}
		return code(mgr)
	})
}

// handling adds a handler by hand, which is not modelled.
func handling(mgr ctrl.Manager) error {
	informer, err := mgr.GetCache().GetInformer(context.Background(), &corev1.Secret{})
	if err == nil {
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{})
	}
	return err
}

// deleting returns a set-up with a controller that deletes a ConfigMap.
func deleting(options ...client.DeleteOption) controllerruntime.Option {
	return reconciling(func(ctx context.Context, mgr ctrl.Manager, _ controller.Controller) error {
		return client.IgnoreNotFound(mgr.GetClient().Delete(ctx, configMap("a", nil), options...))
	})
}

// TestWhatIsNotModelledIsAReason checks that no check holds of a system whose verdict may depend on what is not run,
// that the reason says what it is, and that what the user leaves out, or what does no harm, is none.
func TestWhatIsNotModelledIsAReason(t *testing.T) {
	channel := adding(func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("listener").
			WatchesRawSource(source.Channel(make(chan event.GenericEvent), &handler.EnqueueRequestForObject{})).
			WatchesRawSource(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
				queue.Add(request("first"))
				return nil
			})).Complete(idle)
	})
	runnables := adding(func(mgr ctrl.Manager) error { return mgr.Add(&ticker{}) })
	byHand := adding(handling)
	waiting := configMap("w", nil)
	now := metav1.Now()
	waiting.DeletionTimestamp, waiting.Finalizers = &now, []string{metav1.FinalizerDeleteDependents}
	for name, test := range map[string]struct {
		options []controllerruntime.Option
		// want is what the reason says, empty if there is none.
		want string
	}{
		"nothing":    {[]controllerruntime.Option{adding(func(ctrl.Manager) error { return nil })}, ""},
		"a runnable": {[]controllerruntime.Option{adding(func(mgr ctrl.Manager) error { return mgr.Add(manager.RunnableFunc(waits)) })}, ""},
		"a runnable that fails": {[]controllerruntime.Option{adding(func(mgr ctrl.Manager) error {
			return mgr.Add(manager.RunnableFunc(func(context.Context) error { return errors.New("no luck") }))
		})}, "a runnable that fails ends its manager"},
		"a runnable that is left out": {[]controllerruntime.Option{runnables, controllerruntime.WithoutRunnables("*controllerruntime_test.ticker")}, ""},
		"a certificate watcher":       {[]controllerruntime.Option{adding(func(mgr ctrl.Manager) error { return mgr.Add(&certwatcher.CertWatcher{}) })}, ""},
		"a server":                    {[]controllerruntime.Option{adding(func(mgr ctrl.Manager) error { return mgr.Add(&manager.Server{}) })}, ""},
		"a channel":                   {[]controllerruntime.Option{channel}, ""},
		"a channel that is left out":  {[]controllerruntime.Option{channel, controllerruntime.WithoutSources("listener")}, ""},
		"a handler":                   {[]controllerruntime.Option{byHand}, `controllerruntime.WithoutHandlers("Secret")`},
		"a handler that is left out":  {[]controllerruntime.Option{byHand, controllerruntime.WithoutHandlers("Secret")}, ""},
		"a request of the set-up": {[]controllerruntime.Option{adding(func(mgr ctrl.Manager) error {
			return client.IgnoreNotFound(ignored(mgr.GetAPIReader().Get(context.Background(), keyA, &corev1.ConfigMap{})))
		})}, "the set-up got no answer"},
		"a watch in a reconcile": {[]controllerruntime.Option{reconciling(func(_ context.Context, mgr ctrl.Manager, c controller.Controller) error {
			return c.Watch(source.Kind(mgr.GetCache(), &corev1.Secret{}, &handler.TypedEnqueueRequestForObject[*corev1.Secret]{}))
		})}, "a watch that is added while controllers run"},
		"an informer in a reconcile": {[]controllerruntime.Option{reconciling(func(ctx context.Context, mgr ctrl.Manager, _ controller.Controller) error {
			informer, err := mgr.GetCache().GetInformer(ctx, &corev1.Secret{})
			if err == nil {
				_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{})
			}
			return err
		})}, "informer of Secret by hand"},
		"a warm cache": {[]controllerruntime.Option{reconciling(func(ctx context.Context, mgr ctrl.Manager, _ controller.Controller) error {
			_, err := mgr.GetCache().GetInformer(ctx, &corev1.Secret{})
			return err
		})}, ""},
		"removing an informer in a reconcile": {[]controllerruntime.Option{reconciling(func(ctx context.Context, mgr ctrl.Manager, _ controller.Controller) error {
			return ignored(mgr.GetCache().RemoveInformer(ctx, &corev1.Secret{}))
		})}, "removing an informer"},
		"a runnable in a reconcile": {[]controllerruntime.Option{reconciling(func(_ context.Context, mgr ctrl.Manager, _ controller.Controller) error {
			return mgr.Add(&ticker{})
		})}, "*controllerruntime_test.ticker that is added to the manager"},
		"a controller in a reconcile": {[]controllerruntime.Option{reconciling(func(_ context.Context, mgr ctrl.Manager, _ controller.Controller) error {
			return ctrl.NewControllerManagedBy(mgr).Named("late").For(&corev1.Secret{}).Complete(idle)
		})}, "adding the controller"},
		"an index in a reconcile": {[]controllerruntime.Option{reconciling(func(ctx context.Context, mgr ctrl.Manager, _ controller.Controller) error {
			return mgr.GetFieldIndexer().IndexField(ctx, &corev1.Secret{}, "late", func(client.Object) []string { return nil })
		})}, "adding the index late"},
		"a kind without a definition": {[]controllerruntime.Option{reconciling(func(ctx context.Context, mgr ctrl.Manager, _ controller.Controller) error {
			return fmt.Errorf("first: %w", mgr.GetClient().Create(ctx, undefined()))
		})}, "kind Gadget of example.com: the API server of the check does not know it"},
		"a kind without a definition in a cache": {[]controllerruntime.Option{reconciling(func(ctx context.Context, mgr ctrl.Manager, _ controller.Controller) error {
			return mgr.GetClient().Get(ctx, keyA, undefined())
		})}, "add its custom resource definition with CRDs"},
		"a kind without a definition that is not needed": {[]controllerruntime.Option{reconciling(func(ctx context.Context, mgr ctrl.Manager, _ controller.Controller) error {
			if err := mgr.GetClient().Get(ctx, keyA, undefined()); !meta.IsNoMatchError(err) {
				return fmt.Errorf("it is known: %w", err)
			}
			return nil
		})}, ""},
		"background deletion": {[]controllerruntime.Option{deleting()}, ""},
		"foreground deletion": {[]controllerruntime.Option{deleting(client.PropagationPolicy(metav1.DeletePropagationForeground))}, "waits for the garbage collector (finalizer foregroundDeletion)"},
		"orphaning":           {[]controllerruntime.Option{deleting(client.PropagationPolicy(metav1.DeletePropagationOrphan))}, "waits for the garbage collector (finalizer orphan)"},
		"foreground deletion with a collector": {[]controllerruntime.Option{
			deleting(client.PropagationPolicy(metav1.DeletePropagationForeground)), controllerruntime.GarbageCollection(),
		}, ""},
		"orphaning with a collector": {[]controllerruntime.Option{deleting(client.PropagationPolicy(metav1.DeletePropagationOrphan)), controllerruntime.GarbageCollection()}, ""},
		"foreground deletion by a user": {[]controllerruntime.Option{adding(func(ctrl.Manager) error { return nil }),
			controllerruntime.Scenario(controllerruntime.Action{Name: "delete", Do: func(ctx context.Context, c client.Client) error {
				return c.Delete(ctx, configMap("a", nil), client.PropagationPolicy(metav1.DeletePropagationForeground))
			}})}, "waits for the garbage collector"},
		"a kind that the collector does not look after": {[]controllerruntime.Option{
			reconciling(func(ctx context.Context, mgr ctrl.Manager, _ controller.Controller) error {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "made"}}
				if err := client.IgnoreAlreadyExists(mgr.GetClient().Create(ctx, secret)); err != nil {
					return err
				}
				return mgr.GetClient().Delete(ctx, secret, client.PropagationPolicy(metav1.DeletePropagationForeground))
			}), controllerruntime.GarbageCollection(),
		}, "does not look after Secret"},
		"an object that waits from the start": {[]controllerruntime.Option{adding(func(ctrl.Manager) error { return nil }), controllerruntime.ObjectValues(waiting)}, "w waits for the garbage collector"},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), append(test.options, controllerruntime.ObjectValues(configMap("a", nil)))...)
			for _, reduction := range []orrery.Reduction{orrery.NoReduction, orrery.ByPartialOrder} {
				result, err := orrery.Run(t.Context(), system, orrery.Options{Reduction: reduction})
				if err != nil {
					t.Fatal(err)
				}
				report := result.Report
				if test.want == "" {
					if report.Verdict != core.Holds {
						t.Errorf("%s: %v", report.Verdict, report.Reasons)
					}
					continue
				}
				if report.Verdict != core.Inconclusive || !slices.ContainsFunc(report.Reasons, func(reason string) bool { return strings.Contains(reason, test.want) }) {
					t.Errorf("%s: %v, want %q", report.Verdict, report.Reasons, test.want)
				}
				for _, p := range report.Properties {
					if p.Verdict != core.Inconclusive {
						t.Errorf("%s: %s", p.Name, p.Verdict)
					}
				}
			}
		})
	}
}

// undefined returns an object of a kind that is in no scheme and has no definition.
func undefined() *unstructured.Unstructured {
	gadget := &unstructured.Unstructured{}
	gadget.SetAPIVersion("example.com/v1")
	gadget.SetKind("Gadget")
	gadget.SetNamespace("default")
	gadget.SetName("a")
	return gadget
}

// ignored takes an error for none.
func ignored(error) error { return nil }

// TestWhatIsNotModelledDoesNotHideFindings checks that what was found stays found.
func TestWhatIsNotModelledDoesNotHideFindings(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), adding(handling),
		controllerruntime.ObjectValues(configMap("a", nil)), controllerruntime.Properties(core.Property{
			Name: "broken", Invariant: func(core.State) error { return errTwice },
		}))
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Report.Verdict != core.Violated || len(result.Report.Reasons) != 1 {
		t.Errorf("%s: %v", result.Report.Verdict, result.Report.Reasons)
	}
}

// TestWhatIsLeftOutMustBeThere checks that options that leave nothing out are refused, as are clusters and caches of
// one's own.
func TestWhatIsLeftOutMustBeThere(t *testing.T) {
	runnables := adding(func(mgr ctrl.Manager) error { return mgr.Add(&ticker{}) })
	for name, test := range map[string]struct {
		options []controllerruntime.Option
		want    string
	}{
		"another runnable": {[]controllerruntime.Option{runnables, controllerruntime.WithoutRunnables("*main.ticker")},
			`WithoutRunnables names "*main.ticker", which the set-up does not register: there is *controllerruntime_test.ticker`},
		"no source": {[]controllerruntime.Option{runnables, controllerruntime.WithoutSources("still")}, `WithoutSources names "still", but the set-up registers nothing`},
		"no name":   {[]controllerruntime.Option{runnables, controllerruntime.WithoutHandlers()}, "WithoutHandlers leaves nothing out"},
		"a cluster": {[]controllerruntime.Option{adding(func(mgr ctrl.Manager) error {
			other, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) { o.MapperProvider = nil; o.Scheme = mgr.GetScheme() })
			if err != nil {
				return err
			}
			return mgr.Add(other)
		})}, "cluster"},
		"a cache": {[]controllerruntime.Option{adding(func(mgr ctrl.Manager) error { return mgr.Add(mgr.GetCache()) })}, "a cache of one's own"},
	} {
		_, err := controllerruntime.New(newScheme(), test.options...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestAStandInMayCollect checks that a strategy which is called like the garbage collector stands in for it.
func TestAStandInMayCollect(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), deleting(client.PropagationPolicy(metav1.DeletePropagationForeground)),
		controllerruntime.ObjectValues(configMap("a", nil)),
		controllerruntime.Reconciler(kube.GarbageCollectorName, func(c client.Client) reconcile.Reconciler {
			return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				var found corev1.ConfigMap
				err := c.Get(ctx, request.NamespacedName, &found)
				if err == nil && found.DeletionTimestamp != nil && len(found.Finalizers) > 0 {
					found.Finalizers = nil
					err = c.Update(ctx, &found)
				}
				return reconcile.Result{}, client.IgnoreNotFound(err)
			})
		}, controllerruntime.For(&corev1.ConfigMap{})))
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil || result.Report.Verdict != core.Holds {
		t.Errorf("%v, %+v", err, result)
	}
}
