package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// idle does nothing.
var idle = reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
	return reconcile.Result{}, nil
})

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}}
}

func names(system *core.System) []string {
	var names []string
	for _, s := range system.Strategies {
		names = append(names, s.Describe().Name)
	}
	return names
}

func TestSeveralControllers(t *testing.T) {
	w := newWorld(t,
		controllerruntime.Name("several"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return errors.Join(
				setupWidgets(mgr),
				ctrl.NewControllerManagedBy(mgr).Named("second").For(&appsv1.Deployment{}, builder.OnlyMetadata).Complete(idle))
		}),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("third").For(untypedConfigMap()).Complete(idle)
		}),
		controllerruntime.GarbageCollection(&corev1.Pod{}))
	equal(t, "names", names(w.system), []string{"widget", "second", "third", "garbage-collector"})
	equal(t, "watches", w.strategy("second").Describe().Watches, []core.Kind{"Deployment.apps"})
	equal(t, "watches", w.strategy("garbage-collector").Describe().Watches,
		[]core.Kind{"ConfigMap", "Deployment.apps", "Pod", "Widget.example.org"})
	if w.system.Name != "several" {
		t.Errorf("name: %q", w.system.Name)
	}
	for _, name := range names(w.system) {
		w.instance(name)
	}
}

func TestManagerOptionsReachControllers(t *testing.T) {
	w := newWorld(t,
		controllerruntime.ManagerOptions(ctrl.Options{Controller: config.Controller{GroupKindConcurrency: map[string]int{"ConfigMap": 4}}}),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(idle)
		}))
	if workers := w.strategy("configmap").Describe().Workers; workers != 4 {
		t.Errorf("workers: got %d, want 4", workers)
	}
}

func TestFormsOfEvents(t *testing.T) {
	var seen []string
	see := func(name string) handler.EventHandler {
		return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
			seen = append(seen, fmt.Sprintf("%s %T %s %t", name, o, o.GetObjectKind().GroupVersionKind().Kind, o.GetResourceVersion() != ""))
			return []reconcile.Request{request("b"), request("a"), request("b")}
		})
	}
	w := newWorld(t, controllerruntime.Reconciler("probe", func(client.Client) reconcile.Reconciler { return idle },
		controllerruntime.Watches(&corev1.ConfigMap{}, see("first")),
		controllerruntime.Watches(untypedConfigMap(), see("second")),
		controllerruntime.Watches(&corev1.ConfigMap{}, see("third"), builder.OnlyMetadata),
	), controllerruntime.ObjectValues(configMap("a", nil)))
	key := core.Key{Kind: "ConfigMap", Namespace: "default", Name: "a"}
	for range 10 { // handlers come in the order of their registration
		seen = nil
		requests := w.instance("probe").Handle(w, core.Event{Key: key, New: w.Get(key)})
		equal(t, "requests", requests, []core.Request{"default/a", "default/b"})
		equal(t, "seen", seen, []string{
			"first *v1.ConfigMap  true",
			"second *unstructured.Unstructured ConfigMap true",
			"third *v1.PartialObjectMetadata ConfigMap true",
		})
	}
}

func TestReconcilerByHand(t *testing.T) {
	w := newWorld(t, controllerruntime.Reconciler("deployment-controller",
		func(c client.Client) reconcile.Reconciler {
			return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, c.Create(ctx, configMap(request.Name+"-made", nil))
			})
		},
		controllerruntime.For(&appsv1.Deployment{}),
		controllerruntime.Owns(&corev1.Pod{}),
		controllerruntime.InitialRequests(request("b"), request("a")),
	))
	d := w.strategy("deployment-controller").Describe()
	equal(t, "initial requests", d.Initial, []core.Request{"default/a", "default/b"})
	equal(t, "watches", d.Watches, []core.Kind{"Deployment.apps", "Pod"})
	w.settle()
	w.field("ConfigMap", "b-made", "metadata")
	equal(t, "assumptions", w.system.Assumptions, nil)
}

// ticking is a source of a user's own.
type ticking struct{}

func (ticking) Start(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	panic("sources that are not modelled must not be started")
}

// widgetDefaulter is an admission webhook.
type widgetDefaulter struct{}

func (widgetDefaulter) Handle(context.Context, admission.Request) admission.Response {
	return admission.Allowed("")
}

func TestWhatIsNotRun(t *testing.T) {
	w := newWorld(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
		informer, err := mgr.GetCache().GetInformer(context.Background(), &corev1.Secret{})
		if err != nil {
			return err
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{}); err != nil {
			return err
		}
		if !informer.HasSynced() || informer.IsStopped() {
			return errors.New("the informer has not synced")
		}
		mgr.GetWebhookServer().Register("/mutate-widget", &admission.Webhook{Handler: widgetDefaulter{}})
		//nolint:staticcheck // the older API must work as well
		mgr.GetEventRecorderFor("widget").Event(widget("a", 1), "Normal", "Started", "it has")
		mgr.GetEventRecorder("widget").Eventf(widget("a", 1), nil, "Normal", "Started", "Start", "it has")
		if err := mgr.GetAPIReader().Get(context.Background(), keyA, &corev1.ConfigMap{}); err == nil {
			return errors.New("the API server answers during the set-up")
		}
		<-mgr.Elected()
		return errors.Join(
			mgr.Add(manager.RunnableFunc(func(context.Context) error { return nil })),
			mgr.AddHealthzCheck("ping", healthz.Ping),
			mgr.AddReadyzCheck("ping", healthz.Ping),
			mgr.AddMetricsServerExtraHandler("/debug", nil),
			ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
				WatchesRawSource(source.Channel(make(chan event.GenericEvent), &handler.EnqueueRequestForObject{})).
				WatchesRawSource(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
					queue.AddRateLimited(request("first"))
					return nil
				})).
				WatchesRawSource(&source.Informer{Informer: informer, Handler: &handler.EnqueueRequestForObject{}}).
				WatchesRawSource(ticking{}).
				Complete(idle))
	}))
	d := w.strategy("configmap").Describe()
	equal(t, "watches", d.Watches, []core.Kind{"ConfigMap", "Secret"})
	equal(t, "initial requests", d.Initial, []core.Request{"default/first"})
	equal(t, "assumptions", w.system.Assumptions, nil)
	want := []string{
		`no answer to "GET /api/v1/namespaces/default/configmaps/a"`, "the webhook at /mutate-widget is not run: give what asks it with WebhookConfigurations",
		`informer of Secret by hand is not run: if it does not matter to what is checked, say so with controllerruntime.WithoutHandlers("Secret")`,
	}
	if len(w.system.Unmodelled) != len(want) {
		t.Fatalf("not modelled:%s", lines(w.system.Unmodelled))
	}
	for i, part := range want {
		if !strings.Contains(w.system.Unmodelled[i], part) {
			t.Errorf("%q does not say %q", w.system.Unmodelled[i], part)
		}
	}
	w.instance("configmap")
}

func TestWebhookBuilders(t *testing.T) {
	w := newWorld(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return errors.Join(setupWidgets(mgr), buildWebhooks(mgr))
	}))
	equal(t, "assumptions", w.system.Assumptions, []string{
		"The webhook at /mutate-apps-v1-deployment is asked about creations and updates.",
		"The webhook at /validate-apps-v1-deployment is asked about creations and updates.",
	})
	w.instance("widget")
}

// typedRequest is a work item of a user's own.
type typedRequest struct{}

func TestSetupFailures(t *testing.T) {
	bare := newScheme()
	definition := controllerruntime.CRDBytes(widgetDefinition)
	for _, test := range []struct {
		name    string
		scheme  *runtime.Scheme
		options []controllerruntime.Option
		want    []string
	}{
		{name: "nothing", scheme: bare, want: []string{"add a Setup or a Reconciler"}},
		{name: "no scheme", options: []controllerruntime.Option{controllerruntime.Setup(setupWidgets)}, want: []string{"the scheme is nil"}},
		{name: "nil set-up", scheme: bare, options: []controllerruntime.Option{controllerruntime.Setup(nil)}, want: []string{"a set-up is nil", "add a Setup"}},
		{name: "several mistakes", options: []controllerruntime.Option{controllerruntime.ObjectValues(nil)}, want: []string{"an initial object is nil", "scheme is nil", "no controllers"}},
		{
			name: "error", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(func(ctrl.Manager) error { return errors.New("no flag") })},
			want:    []string{"set-up number 1: no flag"},
		}, {
			name: "panic", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(setupWidgets), controllerruntime.Setup(func(ctrl.Manager) error { panic("oops") })},
			want:    []string{"set-up number 2: it panicked: oops", "registration_test.go"},
		}, {
			name: "panic of a source", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(func(mgr ctrl.Manager) error {
				panics := func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error { panic("oops") }
				return ctrl.NewControllerManagedBy(mgr).Named("probe").WatchesRawSource(source.Func(panics)).Complete(idle)
			})},
			want: []string{"it panicked: oops"},
		}, {
			name: "registers nothing", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(func(ctrl.Manager) error { return nil })},
			want:    []string{"registers no controllers"},
		}, {
			name: "kind not in the scheme", scheme: runtime.NewScheme(),
			options: []controllerruntime.Option{controllerruntime.Setup(setupWidgets)},
			want:    []string{"no kind is registered for the type controllerruntime_test.Widget", "add the type to the scheme"},
		}, {
			name: "watched kind is not served", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(func(mgr ctrl.Manager) error {
				gadget := untypedConfigMap()
				gadget.SetKind("Gadget")
				return ctrl.NewControllerManagedBy(mgr).Named("gadgets").For(gadget).Complete(idle)
			})},
			want: []string{"controller gadgets", `no matches for kind "Gadget"`, "add its custom resource definition with CRDs"},
		}, {
			name: "own work items", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(func(mgr ctrl.Manager) error {
				_, err := controller.NewTyped("typed", mgr, controller.TypedOptions[typedRequest]{
					Reconciler: reconcile.TypedFunc[typedRequest](func(context.Context, typedRequest) (reconcile.Result, error) { return reconcile.Result{}, nil }),
				})
				return err
			})},
			want: []string{"typedRequest cannot be checked"},
		}, {
			name: "same name twice", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(setupWidgets), controllerruntime.Setup(setupWidgets), definition},
			want:    []string{`two controllers are called "widget"`},
		}, {
			name: "manager started", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(func(mgr ctrl.Manager) error { return mgr.Start(context.Background()) })},
			want:    []string{"leave mgr.Start out of the set-up"},
		}, {
			name: "cache started", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(func(mgr ctrl.Manager) error { return mgr.GetCache().Start(context.Background()) })},
			want:    []string{"cannot be started"},
		}, {
			name: "read from the cache", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(func(mgr ctrl.Manager) error {
				return mgr.GetClient().List(context.Background(), &corev1.ConfigMapList{})
			})},
			want: []string{"the cache is not started"},
		}, {
			name: "ends its goroutine", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(func(ctrl.Manager) error { goruntime.Goexit(); return nil })},
			want:    []string{"do not call FailNow"},
		}, {
			name: "index twice", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(func(mgr ctrl.Manager) error {
				none := func(client.Object) []string { return nil }
				return errors.Join(
					mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, "f", none),
					mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, "f", none))
			})},
			want: []string{"indexer conflict"},
		}, {
			name: "restricted cache", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.ManagerOptions(restrictedCache()), controllerruntime.Setup(setupWidgets)},
			want:    []string{"ReaderFailOnMissingInformer of the manager's cache is not modelled"},
		}, {
			name: "no such file", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(setupWidgets), controllerruntime.Objects("testdata/none.yaml")},
			want:    []string{"testdata/none.yaml"},
		}, {
			name: "no such definitions", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(setupWidgets), controllerruntime.CRDs("testdata/none")},
			want:    []string{"testdata/none"},
		}, {
			name: "malformed definition", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(setupWidgets), controllerruntime.CRDBytes([]byte("kind: [")), definition},
			want:    []string{"number 1 of the texts given to CRDBytes: document 1"},
		}, {
			name: "not a definition", scheme: bare,
			options: []controllerruntime.Option{controllerruntime.Setup(setupWidgets), controllerruntime.CRDBytes([]byte("apiVersion: v1\nkind: Pod\n"))},
			want:    []string{"document 1 is a Pod, not a CustomResourceDefinition"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := controllerruntime.New(test.scheme, test.options...)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %q, want it to contain %q", err, part)
				}
			}
		})
	}
}

func TestSetupThatBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, err := controllerruntime.New(newScheme(), controllerruntime.Setup(func(ctrl.Manager) error {
			<-release
			return nil
		}))
		close(release)
		if err == nil || !strings.Contains(err.Error(), "has not returned after 10s") {
			t.Errorf("got %v", err)
		}
	})
}

// fatal records how a test ends.
type fatal struct{ message string }

func (*fatal) Helper() {}

func (f *fatal) Fatalf(format string, args ...any) { f.message = fmt.Sprintf(format, args...) }

func TestForTestEndsTheTest(t *testing.T) {
	var ended fatal
	controllerruntime.ForTest(&ended, newScheme())
	if !strings.Contains(ended.message, "there are no controllers") {
		t.Errorf("got %q", ended.message)
	}
}

func TestObjectsAndDefinitionsFromFiles(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(),
		controllerruntime.CRDs("testdata/crds"),
		controllerruntime.Objects("testdata/widget.yaml"),
		controllerruntime.ObjectValues(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}),
		controllerruntime.Setup(setupWidgets))
	var keys []string
	for _, object := range system.Initial[0].Objects {
		keys = append(keys, object.Key.String())
	}
	equal(t, "objects", keys, []string{"Node n", "Widget.example.org default/a"})
}

// deploymentHooks are a defaulter and a validator.
type deploymentHooks struct{}

func (deploymentHooks) Default(context.Context, *appsv1.Deployment) error { return nil }

func (deploymentHooks) ValidateCreate(context.Context, *appsv1.Deployment) (admission.Warnings, error) {
	return nil, nil
}

func (deploymentHooks) ValidateUpdate(context.Context, *appsv1.Deployment, *appsv1.Deployment) (admission.Warnings, error) {
	return nil, nil
}

func (deploymentHooks) ValidateDelete(context.Context, *appsv1.Deployment) (admission.Warnings, error) {
	return nil, nil
}

func buildWebhooks(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &appsv1.Deployment{}).
		WithDefaulter(deploymentHooks{}).WithValidator(deploymentHooks{}).Complete()
}

func restrictedCache() ctrl.Options {
	return ctrl.Options{Cache: cache.Options{ReaderFailOnMissingInformer: true}}
}
