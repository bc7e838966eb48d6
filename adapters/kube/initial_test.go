package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// parse reads objects for a test.
func parse(t *testing.T, server *Server, text string) []runtime.Object {
	t.Helper()
	parsed, err := server.ParseObjects("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	objects := make([]runtime.Object, len(parsed))
	for i, o := range parsed {
		objects[i] = o
	}
	return objects
}

func TestInitialObjects(t *testing.T) {
	w := newWorld(t)
	objects := append(parse(t, w.server, `
apiVersion: example.com/v1beta1
kind: Widget
metadata: {name: a}
status: {ready: true}
---
apiVersion: example.com/v1
kind: Gadget
metadata:
  name: g
  generation: 7
  deletionTimestamp: 2024-05-05T00:00:00Z
  finalizers: [example.com/x]
  ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: a}]
`), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c:1"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	})
	initial, err := w.server.Initial(objects...)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range initial.Objects {
		w.objects[o.Key] = o.Content
	}
	a := w.must(request(Get, widgetKind, "a"))
	expect(t, "namespace", a.GetNamespace(), "default")
	expect(t, "status", a.Object["status"], tree{"ready": true})
	expect(t, "creationTimestamp", jsontree.At(a, "metadata", "creationTimestamp"), "2000-01-01T00:00:00Z")
	expect(t, "generation", a.GetGeneration(), 1)
	if _, writes := w.do(updating(widgetKind, a)); writes != 0 {
		t.Error("an identical update of an initial object writes")
	}
	g := w.must(request(Get, gadgetKind, "g"))
	expect(t, "uid of the owner", g.GetOwnerReferences()[0].UID, a.GetUID())
	expect(t, "deletionTimestamp", jsontree.At(g, "metadata", "deletionTimestamp"), "2000-01-01T00:00:00Z")
	expect(t, "generation", g.GetGeneration(), 1)
	expect(t, "phase", jsontree.At(w.must(request(Get, podKind, "p")), "status", "phase"), "Running")

	w.must(request(Delete, widgetKind, "a"))
	if w.widget("a", nil).GetUID() == a.GetUID() {
		t.Error("the reference of an initial object is not known")
	}
}

func TestInitialErrors(t *testing.T) {
	server := newTestServer(t)
	for _, test := range []struct{ name, text, want string }{
		{"no name", "{apiVersion: v1, kind: Pod}", "initial object 1: the Pod has no metadata.name: add one"},
		{"twice", "{apiVersion: v1, kind: ConfigMap, metadata: {name: p}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: p, namespace: default}}", "initial object 2: ConfigMap default/p is given twice: remove one"},
		{"invalid", "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: -1}}", "spec.size"},
		{"invalid spec", "{apiVersion: v1, kind: Pod, metadata: {name: p}}", "Pod default/p: spec.containers: Required value"},
		{"wrong type", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: 7}", "the Pod cannot be read"},
		{"would be gone", "{apiVersion: v1, kind: Pod, metadata: {name: p, deletionTimestamp: 2024-01-01T00:00:00Z}}", "no finalizers"},
		{"no owner", "{apiVersion: v1, kind: ConfigMap, metadata: {name: p, ownerReferences: [{apiVersion: v1, kind: Pod, name: q}]}}", "owner Pod default/q is not among the initial objects"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := server.Initial(parse(t, server, test.text)...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := server.Initial(nil); err == nil {
		t.Error("nil is admitted")
	}
}
