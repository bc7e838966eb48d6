package controllerruntime_test

import (
	"context"
	"strings"
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

func TestIndexesThatAreNotModelled(t *testing.T) {
	for _, name := range []string{"a=b", "a,b", "a!", `a\b`} {
		_, err := controllerruntime.New(newScheme(), controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.ConfigMap{}, name, func(client.Object) []string { return nil })
		}))
		if err == nil || !strings.Contains(err.Error(), "is not modelled: leave") {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
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
