package kube

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// everywhere takes the namespace from a request.
func everywhere(r *Request) *Request {
	r.Namespace = ""
	return r
}

func (w *world) namespace(name string, finalizers ...any) *unstructured.Unstructured {
	w.t.Helper()
	return w.must(everywhere(creation(namespaceKind, tree{"name": name, "finalizers": finalizers}, nil)))
}

func TestNamespaceTerminates(t *testing.T) {
	w := newWorld(t)
	w.namespace("n")
	w.must(everywhere(request(Delete, namespaceKind, "n")))
	n := w.must(everywhere(request(Get, namespaceKind, "n")))
	expect(t, "status", n.Object["status"], tree{"phase": "Terminating"})
	expect(t, "deletionTimestamp", jsontree.At(n, "metadata", "deletionTimestamp"), "2000-01-01T00:00:00Z")
	expect(t, "grace period", n.GetDeletionGracePeriodSeconds(), nil)
	if _, writes := w.do(everywhere(request(Delete, namespaceKind, "n"))); writes != 0 {
		t.Error("a second delete writes")
	}
	// Only the subresource changes the finalizers in the spec.
	delete(n.Object, "spec")
	if _, writes := w.do(everywhere(updating(namespaceKind, n))); writes != 0 {
		t.Error("an update takes off the finalizers")
	}
	w.must(everywhere(of("finalize", updating(namespaceKind, n))))
	w.refuse(everywhere(request(Get, namespaceKind, "n")), 404, `namespaces "n" not found`)
}

func TestNamespaceWithFinalizersOfItsOwn(t *testing.T) {
	w := newWorld(t)
	w.namespace("n", "example.com/x")
	w.must(everywhere(request(Delete, namespaceKind, "n")))
	n := w.must(everywhere(request(Get, namespaceKind, "n")))
	delete(n.Object, "spec")
	n = w.must(everywhere(of("finalize", updating(namespaceKind, n))))
	expect(t, "spec", n.Object["spec"], tree{})
	w.must(everywhere(patching(namespaceKind, "n", types.MergePatchType, `{"metadata":{"finalizers":null}}`)))
	w.refuse(everywhere(request(Get, namespaceKind, "n")), 404, `namespaces "n" not found`)
}

func TestNamespacesThatStay(t *testing.T) {
	w := newWorld(t)
	w.namespace("kube-system")
	w.refuse(everywhere(request(Delete, namespaceKind, "kube-system")), 403, `namespaces "kube-system" is forbidden: this namespace may not be deleted`)
	w.refuse(everywhere(request(DeleteCollection, namespaceKind, "")), 405, "the server does not allow this method on the requested resource")
	w.refuse(everywhere(ofStatus(patching(namespaceKind, "kube-system", types.MergePatchType, `{"status":{"phase":"Terminating"}}`))), 422,
		"Namespace \"kube-system\" is invalid: status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty")
}

// TestNamespaceController runs the controller until nothing is left to do.
func TestNamespaceController(t *testing.T) {
	w := newWorld(t)
	controller, err := NamespaceController(w.server, "Widget.example.com", "ConfigMap")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "watches", controller.Describe().Watches, []core.Kind{"Namespace", "ConfigMap", "Widget.example.com"})
	instance, err := controller.New()
	if err != nil {
		t.Fatal(err)
	}
	in := func(namespace string, r *Request) *Request {
		r.Namespace = namespace
		return r
	}
	w.namespace("n")
	w.must(in("n", creation(widgetKind, tree{"name": "kept", "finalizers": []any{"example.com/x"}}, nil)))
	w.must(in("n", creation(configMapKind, tree{"name": "c"}, nil)))
	w.must(in("other", creation(configMapKind, tree{"name": "c"}, nil)))

	// run handles what has changed since, and works on what that asks for.
	before := map[core.Key]core.Content{}
	run := func() int {
		var requests []core.Request
		for _, key := range slices.SortedFunc(maps.Keys(union(before, w.objects)), core.Key.Compare) {
			if before[key] != w.objects[key] && !storage.IsRecord(key.Kind) {
				requests = append(requests, instance.Handle(w, core.Event{Key: key, Old: before[key], New: w.objects[key]})...)
			}
		}
		before = maps.Clone(w.objects)
		for _, r := range requests {
			if result := instance.Reconcile(w, r); result.Err != nil {
				t.Fatal(result.Err)
			}
		}
		return len(requests)
	}
	expect(t, "requests while nothing is deleted", run(), 0)
	w.must(everywhere(request(Delete, namespaceKind, "n")))
	for run() > 0 {
	}
	w.must(in("n", request(Get, widgetKind, "kept")))
	w.must(everywhere(request(Get, namespaceKind, "n")))
	w.refuse(in("n", request(Get, configMapKind, "c")), 404, `configmaps "c" not found`)
	w.must(in("n", patching(widgetKind, "kept", types.MergePatchType, `{"metadata":{"finalizers":null}}`)))
	for run() > 0 {
	}
	w.refuse(everywhere(request(Get, namespaceKind, "n")), 404, `namespaces "n" not found`)
	w.must(in("other", request(Get, configMapKind, "c")))
}

func union(a, b map[core.Key]core.Content) map[core.Key]core.Content {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func TestNamespaceControllerMistakes(t *testing.T) {
	server := newTestServer(t)
	for _, kind := range []core.Kind{"Gizmo.example.com", "Fleet.example.com"} {
		if _, err := NamespaceController(server, kind); err == nil {
			t.Errorf("%s is accepted", kind)
		}
	}
}
