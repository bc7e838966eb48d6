package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// use runs code as the reconciler of a controller, and returns its error. The
// manager is that of the set-up.
func use(w *world) error { return w.reconcile("probe", "default/probe").Err }

// using registers code that gets the manager and runs as a reconciler, with indexes.
func using(code func(context.Context, ctrl.Manager) error, index ...func(context.Context, client.FieldIndexer) error) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		for _, add := range index {
			if err := add(context.Background(), mgr.GetFieldIndexer()); err != nil {
				return err
			}
		}
		return ctrl.NewControllerManagedBy(mgr).Named("probe").For(&Widget{}).
			Complete(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, code(ctx, mgr)
			}))
	})
}

var (
	keyA           = client.ObjectKey{Namespace: "default", Name: "a"}
	configMapsKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

func untypedConfigMap() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(configMapsKind)
	return u
}

func metadataOfConfigMap() *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(configMapsKind)
	return m
}

func TestWhereReadsAreAnswered(t *testing.T) {
	cacheUntyped := ctrl.Options{Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}}}
	notCached := ctrl.Options{Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}}}}}
	get := func(object client.Object) func(context.Context, ctrl.Manager) error {
		return func(ctx context.Context, mgr ctrl.Manager) error {
			return mgr.GetClient().Get(ctx, keyA, object.DeepCopyObject().(client.Object))
		}
	}
	live := func(object client.Object) func(context.Context, ctrl.Manager) error {
		return func(ctx context.Context, mgr ctrl.Manager) error {
			return mgr.GetAPIReader().Get(ctx, keyA, object)
		}
	}
	for _, test := range []struct {
		name    string
		options ctrl.Options
		read    func(context.Context, ctrl.Manager) error
		want    string
	}{
		{name: "typed", read: get(&corev1.ConfigMap{}), want: "cached get ConfigMap default/a"},
		{name: "metadata", read: get(metadataOfConfigMap()), want: "cached get ConfigMap default/a"},
		{name: "unstructured", read: get(untypedConfigMap()), want: "live get ConfigMap default/a"},
		{name: "unstructured, cached", options: cacheUntyped, read: get(untypedConfigMap()), want: "cached get ConfigMap default/a"},
		{name: "not cached", options: notCached, read: get(&corev1.ConfigMap{}), want: "live get ConfigMap default/a"},
		{name: "API reader", read: live(&corev1.ConfigMap{}), want: "live get ConfigMap default/a"},
		{name: "API reader, metadata", read: live(metadataOfConfigMap()), want: "live get ConfigMap default/a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, using(test.read), controllerruntime.ManagerOptions(test.options),
				controllerruntime.ObjectValues(configMap("a", nil)))
			for range 2 { // the options are shared by all managers
				if err := use(w); err != nil {
					t.Fatal(err)
				}
				equal(t, "calls", w.said(), []string{test.want})
			}
		})
	}
}

func TestWhatReadsReturn(t *testing.T) {
	labelled := configMap("a", map[string]string{"app": "x"})
	labelled.Data = map[string]string{"key": "value"}
	code := func(ctx context.Context, mgr ctrl.Manager) error {
		for _, reader := range []client.Reader{mgr.GetClient(), mgr.GetAPIReader(), mgr.GetCache()} {
			object, untyped, partial := &corev1.ConfigMap{Data: map[string]string{"stale": "x"}}, untypedConfigMap(), metadataOfConfigMap()
			for _, into := range []client.Object{object, untyped, partial} {
				if err := reader.Get(ctx, keyA, into); err != nil {
					return err
				}
				if into.GetLabels()["app"] != "x" || into.GetUID() == "" || into.GetResourceVersion() == "" || into.GetGeneration() != 0 {
					return fmt.Errorf("%T from %T has metadata %+v", into, reader, into)
				}
			}
			if len(object.Data) != 1 || object.Data["key"] != "value" {
				return fmt.Errorf("data from %T: %v", reader, object.Data)
			}
			if value, _, _ := unstructured.NestedString(untyped.Object, "data", "key"); value != "value" {
				return fmt.Errorf("unstructured from %T: %v", reader, untyped.Object)
			}
			if untyped.GroupVersionKind() != configMapsKind || partial.GroupVersionKind() != configMapsKind {
				return fmt.Errorf("kinds from %T: %v, %v", reader, untyped.GroupVersionKind(), partial.GroupVersionKind())
			}
			// A cache names the kind of typed objects, a live client does not.
			if named := object.GroupVersionKind() == configMapsKind; named == (reader == mgr.GetAPIReader()) {
				return fmt.Errorf("kind of a typed object from %T: %v", reader, object.GroupVersionKind())
			}
			if err := reader.Get(ctx, client.ObjectKey{Namespace: "default", Name: "gone"}, object); !apierrors.IsNotFound(err) {
				return fmt.Errorf("missing object from %T: %v", reader, err)
			}
		}
		return nil
	}
	w := newWorld(t, using(code), controllerruntime.ObjectValues(labelled))
	if err := use(w); err != nil {
		t.Fatal(err)
	}
}

func TestLists(t *testing.T) {
	elsewhere := configMap("d", map[string]string{"app": "x"})
	elsewhere.Namespace = "other"
	objects := []client.Object{
		configMap("a", map[string]string{"app": "x"}),
		configMap("b", map[string]string{"app": "y"}),
		configMap("c", map[string]string{"app": "x"}),
		elsewhere,
		&corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "n"}},
	}
	configMaps := func() client.ObjectList { return &corev1.ConfigMapList{} }
	for _, test := range []struct {
		name    string
		list    func() client.ObjectList
		options []client.ListOption
		want    string
		err     string
	}{
		{name: "all", list: configMaps, want: "a b c d"},
		{name: "namespace", list: configMaps, options: []client.ListOption{client.InNamespace("default")}, want: "a b c"},
		{name: "labels", list: configMaps, options: []client.ListOption{client.MatchingLabels{"app": "x"}}, want: "a c d"},
		{name: "label set", list: configMaps, options: []client.ListOption{client.HasLabels{"app"}}, want: "a b c d"},
		{name: "nothing", list: configMaps, options: []client.ListOption{client.MatchingLabelsSelector{Selector: labels.Nothing()}}},
		{name: "limit", list: configMaps, options: []client.ListOption{client.Limit(2)}, want: "a b"},
		{name: "index", list: configMaps, options: []client.ListOption{client.MatchingFields{"app": "x"}}, want: "a c d"},
		{name: "index in a namespace", list: configMaps, options: []client.ListOption{client.MatchingFields{"app": "x"}, client.InNamespace("default")}, want: "a c"},
		{name: "two indexes", list: configMaps, options: []client.ListOption{client.MatchingFields{"app": "x", "name": "c"}}, want: "c"},
		{name: "index and limit", list: configMaps, options: []client.ListOption{client.MatchingFields{"app": "x"}, client.Limit(1)}, want: "a"},
		{name: "no such index", list: configMaps, options: []client.ListOption{client.MatchingFields{"colour": "x"}}, err: "Index with name field:colour does not exist"},
		{name: "second index missing", list: configMaps, options: []client.ListOption{client.MatchingFields{"app": "x", "colour": "x"}}, err: "index with name field:colour does not exist"},
		{name: "continue", list: configMaps, options: []client.ListOption{client.Continue("x")}, err: "continue list option is not supported by the cache"},
		{name: "untyped index", list: func() client.ObjectList {
			l := &metav1.PartialObjectMetadataList{}
			l.SetGroupVersionKind(configMapsKind.GroupVersion().WithKind("ConfigMapList"))
			return l
		}, options: []client.ListOption{client.MatchingFields{"app": "x"}}, err: "Index with name field:app does not exist"},
		{name: "cluster-scoped", list: func() client.ObjectList { return &corev1.NodeList{} }, want: "n"},
		{name: "cluster-scoped in a namespace", list: func() client.ObjectList { return &corev1.NodeList{} }, options: []client.ListOption{client.InNamespace("default")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			index := controllerruntime.Setup(func(mgr ctrl.Manager) error {
				byLabel := func(o client.Object) []string { return []string{o.(*corev1.ConfigMap).Labels["app"]} }
				byName := func(o client.Object) []string { return []string{"", o.GetName()} }
				indexer := mgr.GetFieldIndexer()
				return errors.Join(
					indexer.IndexField(context.Background(), &corev1.ConfigMap{}, "app", byLabel),
					indexer.IndexField(context.Background(), &corev1.ConfigMap{}, "name", byName))
			})
			w := newWorld(t, index, using(func(ctx context.Context, mgr ctrl.Manager) error {
				list := test.list()
				if err := mgr.GetClient().List(ctx, list, test.options...); err != nil {
					return err
				}
				return eachItem(list, func(name string) { got = append(got, name) })
			}), controllerruntime.ObjectValues(objects...))
			err := use(w)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("got error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if names := strings.Join(got, " "); names != test.want {
				t.Errorf("got %q, want %q", names, test.want)
			}
		})
	}
}

func TestWrites(t *testing.T) {
	merge := func(text string) client.Patch { return client.RawPatch("application/merge-patch+json", []byte(text)) }
	for _, test := range []struct {
		name  string
		write func(context.Context, client.Client, *Widget) error
		want  string
		check func(error) bool
	}{
		{
			name:  "update",
			write: func(ctx context.Context, c client.Client, w *Widget) error { w.Spec.Parts = 5; return c.Update(ctx, w) },
			want:  "update Widget default/a",
		}, {
			name: "conflict",
			write: func(ctx context.Context, c client.Client, w *Widget) error {
				w.Spec.Parts, w.ResourceVersion = 5, "1"
				return c.Update(ctx, w)
			},
			want:  "update Widget default/a",
			check: apierrors.IsConflict,
		}, {
			name: "status update",
			write: func(ctx context.Context, c client.Client, w *Widget) error {
				w.Status.Ready = 1
				return c.Status().Update(ctx, w)
			},
			want: "update Widget default/a (status)",
		}, {
			name: "status patch by metadata",
			write: func(ctx context.Context, c client.Client, w *Widget) error {
				m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}}
				m.SetGroupVersionKind(widgetKind)
				return c.Status().Patch(ctx, m, merge(`{"status":{"ready":3}}`))
			},
			want: "patch (merge) Widget default/a (status)",
		}, {
			name: "delete with preconditions",
			write: func(ctx context.Context, c client.Client, w *Widget) error {
				return c.Delete(ctx, w, client.Preconditions{UID: &w.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
			},
			want: "delete Widget default/a",
		}, {
			name: "delete with a failing precondition",
			write: func(ctx context.Context, c client.Client, w *Widget) error {
				version := "1"
				return c.Delete(ctx, w, client.Preconditions{ResourceVersion: &version})
			},
			want:  "delete Widget default/a",
			check: apierrors.IsConflict,
		}, {
			name: "dry run",
			write: func(ctx context.Context, c client.Client, w *Widget) error {
				w.Spec.Parts = 7
				return client.NewDryRunClient(c).Update(ctx, w)
			},
			want: "dry-run update Widget default/a",
		}, {
			name: "delete all",
			write: func(ctx context.Context, c client.Client, w *Widget) error {
				return c.DeleteAllOf(ctx, &Widget{}, client.InNamespace("default"), client.MatchingLabels{"app": "x"})
			},
			want: "deletecollection Widget in default with app=x",
		}, {
			name: "already exists",
			write: func(ctx context.Context, c client.Client, w *Widget) error {
				return c.Create(ctx, widget("a", 1))
			},
			want:  "create Widget default/a",
			check: apierrors.IsAlreadyExists,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, using(func(ctx context.Context, mgr ctrl.Manager) error {
				var a Widget
				if err := mgr.GetAPIReader().Get(ctx, keyA, &a); err != nil {
					return err
				}
				return test.write(ctx, mgr.GetClient(), &a)
			}), controllerruntime.ObjectValues(widget("a", 1)))
			err := use(w)
			if test.check == nil && err != nil || test.check != nil && !test.check(err) {
				t.Errorf("error: %v", err)
			}
			equal(t, "calls", w.said(), []string{"live get Widget default/a", "live " + test.want})
			if len(w.unsupported) > 0 {
				t.Errorf("unsupported: %v", w.unsupported)
			}
		})
	}
}

func TestClientSetsAreOnTheSameWire(t *testing.T) {
	w := newWorld(t, using(func(ctx context.Context, mgr ctrl.Manager) error {
		clients, err := kubernetes.NewForConfig(mgr.GetConfig())
		if err != nil {
			return err
		}
		deployments := clients.AppsV1().Deployments("default")
		made, err := deployments.Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: deploymentSpec()}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if made.UID == "" {
			return errors.New("the created object has no uid")
		}
		if _, err := clients.CoreV1().Namespaces().Get(ctx, "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("missing namespace: %v", err)
		}
		return deployments.Delete(ctx, "d", metav1.DeleteOptions{})
	}))
	if err := use(w); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", w.said(), []string{
		"live create Deployment default/d", "live get Namespace none", "live delete Deployment default/d",
	})
}

func TestWhatIsNotModelledIsSaid(t *testing.T) {
	for _, test := range []struct {
		name string
		ask  func(context.Context, ctrl.Manager) error
		want string
	}{
		{
			name: "schemas",
			ask: func(_ context.Context, mgr ctrl.Manager) error {
				clients, err := kubernetes.NewForConfig(mgr.GetConfig())
				if err != nil {
					return err
				}
				_, err = clients.Discovery().OpenAPISchema()
				return err
			},
			want: "schemas",
		}, {
			name: "watch",
			ask: func(ctx context.Context, mgr ctrl.Manager) error {
				c, err := client.NewWithWatch(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
				if err != nil {
					return err
				}
				_, err = c.Watch(ctx, &WidgetList{})
				return err
			},
			want: "watches are modelled only where a controller registers them",
		}, {
			name: "strict validation",
			ask: func(ctx context.Context, mgr ctrl.Manager) error {
				return client.WithFieldValidation(mgr.GetClient(), metav1.FieldValidationStrict).Create(ctx, widget("b", 1))
			},
			want: "strict field validation",
		}, {
			name: "old version",
			ask: func(ctx context.Context, mgr ctrl.Manager) error {
				return mgr.GetAPIReader().List(ctx, &WidgetList{}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "12"}})
			},
			want: "given resourceVersion",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, using(test.ask))
			if err := use(w); err == nil {
				t.Error("the call succeeded")
			}
			if len(w.unsupported) != 1 {
				t.Fatalf("unsupported: %v", w.unsupported)
			}
			var unsupported *core.Unsupported
			if err := w.unsupported[0]; !errors.As(err, &unsupported) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want it to name %q", err, test.want)
			}
		})
	}
}

func TestWhatClientsKnowOfKinds(t *testing.T) {
	w := newWorld(t, using(func(_ context.Context, mgr ctrl.Manager) error {
		c := mgr.GetClient()
		kind, err := c.GroupVersionKindFor(&Widget{})
		if err != nil || kind != widgetKind {
			return fmt.Errorf("kind %v, %w", kind, err)
		}
		namespaced, err := c.IsObjectNamespaced(&Widget{})
		if err != nil || !namespaced {
			return fmt.Errorf("widgets have namespaces: %v, %w", namespaced, err)
		}
		namespaced, err = apiutil.IsObjectNamespaced(&corev1.Node{}, mgr.GetScheme(), mgr.GetRESTMapper())
		if err != nil || namespaced {
			return fmt.Errorf("nodes have namespaces: %v, %w", namespaced, err)
		}
		return nil
	}))
	if err := use(w); err != nil {
		t.Error(err)
	}
}

func TestLiveLists(t *testing.T) {
	partial := &metav1.PartialObjectMetadataList{}
	partial.SetGroupVersionKind(configMapsKind.GroupVersion().WithKind("ConfigMapList"))
	untyped := &unstructured.UnstructuredList{}
	untyped.SetGroupVersionKind(configMapsKind.GroupVersion().WithKind("ConfigMapList"))
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, partial, untyped} {
		t.Run(fmt.Sprintf("%T", list), func(t *testing.T) {
			var got []string
			w := newWorld(t, using(func(ctx context.Context, mgr ctrl.Manager) error {
				err := mgr.GetAPIReader().List(ctx, list, client.InNamespace("default"), client.MatchingLabels{"app": "x"},
					client.MatchingFields{"metadata.namespace": "default", "metadata.name": "a"})
				if err != nil {
					return err
				}
				return eachItem(list, func(name string) { got = append(got, name) })
			}), controllerruntime.ObjectValues(configMap("a", map[string]string{"app": "x"}), configMap("b", map[string]string{"app": "x"})))
			if err := use(w); err != nil {
				t.Fatal(err)
			}
			equal(t, "names", got, []string{"a"})
			equal(t, "calls", w.said(), []string{"live list ConfigMap in default with app=x where metadata.name=a,metadata.namespace=default"})
		})
	}
}
