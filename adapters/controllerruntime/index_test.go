package controllerruntime_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// indexing registers an index of an object's kind with its name as the value, and of the other forms of the
// kind with other values.
func indexing(mgr ctrl.Manager) error {
	for object, prefix := range map[client.Object]string{&corev1.ConfigMap{}: "typed ", untypedConfigMap(): "untyped ", metadataOfConfigMap(): "metadata "} {
		err := mgr.GetFieldIndexer().IndexField(context.Background(), object, "name", func(o client.Object) []string {
			return []string{prefix + o.GetName()}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func TestIndexesAreLookedUpByTheServer(t *testing.T) {
	list := configMapsKind.GroupVersion().WithKind("ConfigMapList")
	typed, untyped, metadata := &corev1.ConfigMapList{}, &unstructured.UnstructuredList{}, &metav1.PartialObjectMetadataList{}
	untyped.SetGroupVersionKind(list)
	metadata.SetGroupVersionKind(list)
	for _, test := range []struct {
		into  client.ObjectList
		value string
		want  string
	}{
		{typed, "typed a", "cached list ConfigMap in default where name=typed a"},
		{untyped, "untyped a", "cached list ConfigMap in default where name (untyped)=untyped a"},
		{metadata, "metadata a", "cached list ConfigMap in default where name (metadata)=metadata a"},
		{typed, "a,b=c", `cached list ConfigMap in default where name=a\,b\=c`},
	} {
		w := newWorld(t, controllerruntime.Setup(indexing), using(func(ctx context.Context, mgr ctrl.Manager) error {
			return mgr.GetCache().List(ctx, test.into, client.InNamespace("default"), client.MatchingFields{"name": test.value})
		}), controllerruntime.ObjectValues(configMap("a", nil), configMap("b", nil)))
		if err := use(w); err != nil {
			t.Fatal(err)
		}
		call := w.calls[0]
		equal(t, "calls", w.said(), []string{test.want})
		var found []string
		if err := eachItem(test.into, func(name string) { found = append(found, name) }); err != nil {
			t.Fatal(err)
		}
		answer, err := w.system.Store.Answer(w, call)
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, object := range answer.Response.(core.Versioned).Versions() {
			shown = append(shown, object.Key.Name)
		}
		want := []string{"a"}
		if strings.Contains(test.value, ",") {
			want = nil
		}
		equal(t, "found objects", found, want)
		equal(t, "objects in the response", shown, want)
	}
}

// TestIndexesOfAnyName looks objects up in indexes whose names mean something else in the text of a field selector, as
// a real cache does.
func TestIndexesOfAnyName(t *testing.T) {
	for name, want := range map[string]string{
		"kind=a":   "kind%3Da",
		"kind,a":   "kind%2Ca",
		"kind!":    "kind%21",
		`kind\a`:   "kind%5Ca",
		"kind%3Da": "kind%253Da",
	} {
		found := &corev1.ConfigMapList{}
		w := newWorld(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
			for _, index := range []string{name, "kind"} {
				err := mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.ConfigMap{}, index, func(o client.Object) []string { return []string{index + " " + o.GetName()} })
				if err != nil {
					return err
				}
			}
			return nil
		}), using(func(ctx context.Context, mgr ctrl.Manager) error {
			return mgr.GetCache().List(ctx, found, client.InNamespace("default"), client.MatchingFields{name: name + " a", "kind": "kind a"})
		}), controllerruntime.ObjectValues(configMap("a", nil), configMap("b", nil)))
		if err := use(w); err != nil {
			t.Fatal(err)
		}
		if len(found.Items) != 1 || found.Items[0].Name != "a" {
			t.Errorf("%s: found %v", name, found.Items)
		}
		call := w.calls[0]
		if said := w.said(); len(said) != 1 || !strings.Contains(said[0], want+"=") {
			t.Errorf("%s: the call is %q", name, said)
		}
		recorded, _, err := w.system.Store.(*kube.Server).Recorded(call)
		if err != nil {
			t.Fatal(err)
		}
		// What a recording has is what the selector of the client says of itself.
		terms := []string{selectorText(client.MatchingFields{name: name + " a"}), selectorText(client.MatchingFields{"kind": "kind a"})}
		if got, want := recorded.Selection.Fields, strings.Join(terms, ","); got != want {
			t.Errorf("%s: a recording has %s, not %s", name, got, want)
		}
	}
}

// selectorText is the text of the field selector that an option of a list makes.
func selectorText(fields client.MatchingFields) string {
	var options client.ListOptions
	fields.ApplyToList(&options)
	return options.FieldSelector.String()
}

func TestIndexesThatPanic(t *testing.T) {
	w := newWorld(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.ConfigMap{}, "no", func(client.Object) []string { panic("no index") })
	}), using(func(context.Context, ctrl.Manager) error { return nil }), controllerruntime.ObjectValues(configMap("a", nil)))
	_, err := w.system.Store.Answer(w, &kube.Request{Verb: kube.List, Kind: configMapsKind, Namespace: "default", FieldSelector: "no=x", FromCache: true})
	if err == nil || !strings.Contains(err.Error(), "index no of ConfigMap: it panicked: no index") {
		t.Errorf("got the error %v", err)
	}
}

// TestIndexesThatAreAddedOnce has a program add an index the first time only that it is set up in this process:
// instances that come later have it.
func TestIndexesThatAreAddedOnce(t *testing.T) {
	var once sync.Once
	r := marked(t, marking(func(mgr ctrl.Manager) func(context.Context, *corev1.ConfigMap) error {
		once.Do(func() {
			if err := mgr.GetFieldIndexer().IndexField(t.Context(), &corev1.ConfigMap{}, "color", func(o client.Object) []string { return []string{o.GetLabels()["color"]} }); err != nil {
				t.Error(err)
			}
		})
		return func(ctx context.Context, _ *corev1.ConfigMap) error {
			return mgr.GetClient().List(ctx, &corev1.ConfigMapList{}, client.MatchingFields{"color": "red"})
		}
	}))
	if r.Verdict != core.Holds {
		t.Errorf("%s, %v, %v", r.Verdict, r.Reasons, r.Findings)
	}
}
