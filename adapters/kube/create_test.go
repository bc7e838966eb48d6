package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

func TestCreateFillsInMetadata(t *testing.T) {
	w := newWorld(t)
	a := w.must(creation(widgetKind, tree{
		"name": "a", "uid": "chosen", "generation": 7, "creationTimestamp": "2020-02-02T00:00:00Z",
		"deletionTimestamp": "2020-02-02T00:00:00Z", "managedFields": []any{tree{"manager": "m"}},
	}, tree{"unknown": 1, "spec": tree{"odd": true}}))
	metadata := jsontree.At(a, "metadata").(tree)
	expect(t, "creationTimestamp", metadata["creationTimestamp"], "2000-01-01T00:00:00Z")
	expect(t, "generation", metadata["generation"], 1)
	expect(t, "deletionTimestamp", metadata["deletionTimestamp"], nil)
	expect(t, "managedFields", metadata["managedFields"], nil)
	if len(a.GetUID()) != 36 || a.GetUID() == "chosen" {
		t.Errorf("uid is %q", a.GetUID())
	}
	if a.GetResourceVersion() == "" {
		t.Error("there is no resourceVersion")
	}
	expect(t, "unknown field", a.Object["unknown"], nil)
	expect(t, "spec, pruned and defaulted", a.Object["spec"], tree{"size": 1})
}

func TestCreateRefusals(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	w.refuse(creation(widgetKind, tree{"name": "a"}, nil), 409, `widgets.example.com "a" already exists`)
	w.refuse(creation(widgetKind, tree{}, nil), 422,
		`Widget.example.com "" is invalid: [metadata.name: Required value: name or generateName is required, <nil>: Invalid value: null: `+
			`some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]`)
	w.refuse(creation(widgetKind, tree{"name": "b", "resourceVersion": "12"}, nil), 500, "resourceVersion should not be set on objects to be created")
	w.refuse(creation(widgetKind, tree{"name": "b", "namespace": "other"}, nil), 400,
		"the namespace of the provided object does not match the namespace sent on the request")
	w.refuse(creation(widgetKind, tree{"name": "b"}, tree{"spec": tree{"size": 101}}), 422,
		`Widget.example.com "b" is invalid: spec: Invalid value: a widget is at most 100 in size`)

	wrong := creation(gadgetKind, tree{"name": "b"}, nil)
	wrong.Kind = widgetKind
	w.refuse(wrong, 422, `Gadget.example.com "b" is invalid: kind: Invalid value: "Gadget": must be Widget`)

	for _, body := range []string{``, `null`, `[]`, `{`, `{"metadata":7}`, `{"kind":7}`, `{"spec":{"size":"big"}}`} {
		r := request(Create, widgetKind, "")
		r.Body = []byte(body)
		if response, writes := w.do(r); response.Status == nil || writes != 0 {
			t.Errorf("body %q: %s with %d writes", body, response, writes)
		}
	}
	nowhere := creation(widgetKind, tree{"name": "b"}, nil)
	nowhere.Namespace = ""
	w.refuse(nowhere, 404, "the server could not find the requested resource (post widgets.example.com)")
	nowhere = creation(podKind, tree{"name": "b"}, nil)
	nowhere.Namespace = ""
	w.refuse(nowhere, 405, "the server does not allow this method on the requested resource")
}

func TestClusterScopedKindsHaveNoNamespace(t *testing.T) {
	w := newWorld(t)
	r := creation(fleetKind, tree{"name": "f", "namespace": "odd"}, nil)
	r.Namespace = "default"
	f := w.must(r)
	expect(t, "namespace", f.GetNamespace(), "")
	expect(t, "name", w.must(request(Get, fleetKind, "f")).GetName(), "f")
}

func TestGeneratedNames(t *testing.T) {
	w := newWorld(t)
	owned := func(owner string) string {
		return w.must(creation(widgetKind, tree{"generateName": "w-", "ownerReferences": []any{
			tree{"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": owner},
		}}, nil)).GetName()
	}
	first, second, other := owned("x"), owned("x"), owned("y")
	if !strings.HasPrefix(first, "w-") || len(first) != len("w-")+5 {
		t.Errorf("the first name is %q", first)
	}
	if first == second || first[:4] != second[:4] || first[:4] == other[:4] {
		t.Errorf("names are %q and %q for one owner and %q for another", first, second, other)
	}

	reversed := newWorld(t)
	w = reversed
	if again := owned("y"); again != other {
		t.Errorf("the name for another owner depends on the order: %q and %q", other, again)
	}
	w.must(request(Delete, widgetKind, other))
	known := owned("y")
	if known == other {
		t.Errorf("the name %q is used again although somebody may still know the object that had it", known)
	}
	w.must(request(Delete, widgetKind, known))
	w.settle()
	if again := owned("y"); again != other {
		t.Errorf("a free name is not used again: %q and %q", other, again)
	}
	long := w.must(creation(widgetKind, tree{"generateName": strings.Repeat("x", 80)}, nil)).GetName()
	if len(long) != 63 {
		t.Errorf("a name from a long generateName has %d characters", len(long))
	}
}

func TestNamespaces(t *testing.T) {
	t.Run("implicit", func(t *testing.T) { newWorld(t).widget("a", nil) })
	t.Run("strict", func(t *testing.T) {
		w := newWorld(t, StrictNamespaces())
		w.refuse(creation(widgetKind, tree{"name": "a"}, nil), 404, `namespaces "default" not found`)
		w.must(creation(corev1.SchemeGroupVersion.WithKind("Namespace"), tree{"name": "default"}, nil))
		w.widget("a", nil)
	})
	t.Run("there at the start", func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.server.Initial(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}); err != nil {
			t.Fatal(err)
		}
		w.refuse(creation(widgetKind, tree{"name": "a"}, nil), 404, `namespaces "default" not found`) // it is gone
		elsewhere := creation(widgetKind, tree{"name": "a"}, nil)
		elsewhere.Namespace = "another"
		w.must(elsewhere)
	})
	t.Run("terminating", func(t *testing.T) {
		w := newWorld(t)
		kind := corev1.SchemeGroupVersion.WithKind("Namespace")
		ns := w.must(creation(kind, tree{"name": "leaving"}, nil))
		expect(t, "finalizers", jsontree.At(ns, "spec", "finalizers"), []any{"kubernetes"})
		in := func(r *Request) *Request {
			r.Namespace = "leaving"
			return r
		}
		a := w.must(in(creation(widgetKind, tree{"name": "a"}, nil)))
		w.must(request(Delete, kind, "leaving"))
		ns = w.must(request(Get, kind, "leaving"))
		expect(t, "phase", jsontree.At(ns, "status", "phase"), "Terminating")
		w.refuse(in(creation(widgetKind, tree{"name": "b"}, nil)), 403,
			`widgets.example.com "b" is forbidden: unable to create new content in namespace leaving because it is being terminated`)
		a.SetLabels(map[string]string{"x": "1"})
		w.must(in(updating(widgetKind, a)))
	})
}

// A uid is used again if nobody refers to it any more, so that loops close.
func TestUIDs(t *testing.T) {
	w := newWorld(t)
	first := w.widget("a", nil)
	w.must(request(Delete, widgetKind, "a"))
	if w.widget("a", nil).GetUID() == first.GetUID() {
		t.Error("an object has the uid of an earlier one that somebody was shown")
	}
	w.must(request(Delete, widgetKind, "a"))
	w.settle()
	second := w.widget("a", nil)
	expect(t, "uid after create, delete, create", second.GetUID(), first.GetUID())

	child := w.must(creation(gadgetKind, tree{"name": "c", "ownerReferences": []any{ownerReference(second)}}, nil))
	w.must(request(Delete, widgetKind, "a"))
	third := w.widget("a", nil)
	if third.GetUID() == second.GetUID() {
		t.Error("an object has the uid that a reference to an earlier one has")
	}
	w.must(request(Delete, widgetKind, "a"))
	child.SetOwnerReferences(nil)
	w.must(updating(gadgetKind, child))
	w.settle()
	expect(t, "uid when the reference is gone", w.widget("a", nil).GetUID(), first.GetUID())

	for _, noting := range []tree{{"annotations": tree{"made": "for " + string(first.GetUID())}}, {"labels": tree{"uid": string(first.GetUID())}}} {
		noting["name"] = "n"
		note := w.must(creation(gadgetKind, noting, nil))
		w.must(request(Delete, widgetKind, "a"))
		w.settle()
		if w.widget("a", nil).GetUID() == first.GetUID() {
			t.Errorf("an object has the uid that another one has noted: %v", noting)
		}
		note.SetAnnotations(nil)
		note.SetLabels(nil)
		w.must(updating(gadgetKind, note))
		w.must(request(Delete, gadgetKind, "n"))
		w.must(request(Delete, widgetKind, "a"))
		w.settle()
		expect(t, "uid when the note is gone", w.widget("a", nil).GetUID(), first.GetUID())
	}
	expect(t, "uid of another name is another", w.widget("b", nil).GetUID() == first.GetUID(), false)
}

func ownerReference(owner *unstructured.Unstructured) tree {
	return tree{
		"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(),
		"uid": string(owner.GetUID()), "controller": true, "blockOwnerDeletion": true,
	}
}

func TestBuiltinKindsOnCreate(t *testing.T) {
	w := newWorld(t)
	pod := w.must(creation(podKind, tree{"name": "p"}, tree{"status": tree{"phase": "Running"}}))
	expect(t, "phase of a new Pod", jsontree.At(pod, "status", "phase"), "Pending")
	config := w.must(creation(configMapKind, tree{"name": "c"}, tree{"data": tree{"k": "v"}, "unknown": 1}))
	expect(t, "generation of a ConfigMap", config.GetGeneration(), 0)
	expect(t, "unknown field", config.Object["unknown"], nil)
	job := w.must(creation(jobKind, tree{"name": "j"}, tree{"spec": tree{"template": tree{}}}))
	expect(t, "selector of a Job", jsontree.At(job, "spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"), string(job.GetUID()))
	expect(t, "job-name", jsontree.At(job, "spec", "template", "metadata", "labels", "job-name"), "j")
}

// Creating reads no more than the object itself, its namespace and the references
// to it, so that it is independent of everything else.
func TestCreateReadsLittle(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	uid := string(storage.UID("", keyOfWidget("a"), 0))
	expect(t, "reads", w.reads, []string{"get Namespace default", "list reference in " + uid, "list reference in " + uid[:8], "get Widget.example.com default/a"})
}
