package kube

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
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
	initial, err := w.server.Initial(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range initial.Objects {
		w.objects[object.Key] = object.Content
	}
	w.refuse(everywhere(request(Delete, namespaceKind, "kube-system")), 403, `namespaces "kube-system" is forbidden: this namespace may not be deleted`)
	w.refuse(everywhere(request(DeleteCollection, namespaceKind, "")), 405, "the server does not allow this method on the requested resource")
	w.refuse(everywhere(ofStatus(patching(namespaceKind, "kube-system", types.MergePatchType, `{"status":{"phase":"Terminating"}}`))), 422,
		"Namespace \"kube-system\" is invalid: status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty")
}

// TestImpliedNamespaces reads the Namespaces that are there although nobody has given them: those that every cluster
// has, and those in which there are objects at the start.
func TestImpliedNamespaces(t *testing.T) {
	implying := func(options ...Option) *world {
		w := newWorld(t, options...)
		if _, err := w.server.Initial(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}); err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := implying()
	for _, name := range []string{"shop", "default", "kube-system", "kube-public", "kube-node-lease"} {
		n := w.must(everywhere(request(Get, namespaceKind, name)))
		expect(t, "phase", jsontree.At(n, "status", "phase"), "Active")
		expect(t, "label", n.GetLabels(), map[string]string{"kubernetes.io/metadata.name": name})
		expect(t, "the uid once more", n.GetUID(), w.must(everywhere(request(Get, namespaceKind, name))).GetUID())
		w.refuse(everywhere(creation(namespaceKind, tree{"name": name}, nil)), 409, `namespaces "`+name+`" already exists`)
		for _, r := range []*Request{request(Delete, namespaceKind, name), patching(namespaceKind, name, types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`)} {
			var unsupported *core.Unsupported
			if _, err := w.server.Answer(w, everywhere(r)); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "add it to them") {
				t.Errorf("%s: %v", r, err)
			}
		}
	}
	w.refuse(everywhere(request(Get, namespaceKind, "other")), 404, `namespaces "other" not found`)

	w = implying(StrictNamespaces())
	w.refuse(everywhere(request(Get, namespaceKind, "shop")), 404, `namespaces "shop" not found`)
	w = implying()
	w.server = w.server.Making([]core.Key{{Kind: "Namespace", Name: "default"}}).(*Server)
	w.refuse(everywhere(request(Get, namespaceKind, "default")), 404, `namespaces "default" not found`)
}
