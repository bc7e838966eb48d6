package kube

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

var jobKind = batchv1.SchemeGroupVersion.WithKind("Job")

func keyOfWidget(name string) core.Key {
	return core.Key{Kind: "Widget.example.com", Namespace: "default", Name: name}
}

func TestDeleteAtOnce(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	w.must(creation(gadgetKind, tree{"name": "a"}, nil))
	w.must(request(Delete, widgetKind, "a"))
	if w.objects[keyOfWidget("a")] != nil {
		t.Error("the object is still there")
	}
	w.must(request(Get, gadgetKind, "a"))
}

func TestDeleteWithFinalizers(t *testing.T) {
	w := newWorld(t)
	w.must(creation(widgetKind, tree{"name": "a", "finalizers": []any{"example.com/x", "example.com/y"}, "labels": tree{"l": "1"}}, tree{"spec": tree{"size": 3}}))
	w.must(request(Delete, widgetKind, "a"))
	a := w.must(request(Get, widgetKind, "a"))
	expect(t, "deletionTimestamp", jsontree.At(a, "metadata", "deletionTimestamp"), "2000-01-01T00:00:00Z")
	expect(t, "deletionGracePeriodSeconds", a.GetDeletionGracePeriodSeconds(), 0)
	expect(t, "finalizers", a.GetFinalizers(), []string{"example.com/x", "example.com/y"})
	expect(t, "spec", a.Object["spec"], tree{"size": 3})
	expect(t, "labels", a.GetLabels(), tree{"l": "1"})
	expect(t, "generation", a.GetGeneration(), 2)

	if _, writes := w.do(request(Delete, widgetKind, "a")); writes != 0 {
		t.Error("a second delete writes")
	}

	more := a.DeepCopy()
	more.SetFinalizers([]string{"example.com/x", "example.com/y", "example.com/z"})
	w.refuse(updating(widgetKind, more), 422,
		`Widget.example.com "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/z"}`)

	a.SetFinalizers([]string{"example.com/y"})
	a.SetDeletionTimestamp(nil)
	a = w.must(updating(widgetKind, a))
	expect(t, "deletionTimestamp after an update without it", jsontree.At(a, "metadata", "deletionTimestamp"), "2000-01-01T00:00:00Z")
	a.SetFinalizers(nil)
	w.must(updating(widgetKind, a))
	w.refuse(request(Get, widgetKind, "a"), 404, `widgets.example.com "a" not found`)
}

func TestPatchRemovesLastFinalizer(t *testing.T) {
	w := newWorld(t)
	w.must(creation(widgetKind, tree{"name": "a", "finalizers": []any{"example.com/x"}}, nil))
	w.must(request(Delete, widgetKind, "a"))
	w.must(patching(widgetKind, "a", types.JSONPatchType, `[{"op":"remove","path":"/metadata/finalizers"}]`))
	w.refuse(request(Get, widgetKind, "a"), 404, `widgets.example.com "a" not found`)
}

func TestDeletePreconditions(t *testing.T) {
	w := newWorld(t)
	a := w.widget("a", nil)
	r := request(Delete, widgetKind, "a")
	r.PreconditionUID = "other"
	w.refuse(r, 409, `Operation cannot be fulfilled on Widget.example.com "a": the UID in the precondition (other) does not match the UID in record (`+
		string(a.GetUID())+`). The object might have been deleted and then recreated`)
	r = request(Delete, widgetKind, "a")
	r.PreconditionResourceVersion = "1"
	w.refuse(r, 409, `Operation cannot be fulfilled on Widget.example.com "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (`+
		a.GetResourceVersion()+`). The object might have been modified`)
	r = request(Delete, widgetKind, "a")
	r.PreconditionUID, r.PreconditionResourceVersion = string(a.GetUID()), a.GetResourceVersion()
	w.must(r)
}

func TestPropagation(t *testing.T) {
	for _, test := range []struct {
		propagation string
		finalizers  []string
		gone        bool
	}{
		{propagation: "", gone: true},
		{propagation: "Background", gone: true},
		{propagation: "Foreground", finalizers: []string{"foregroundDeletion"}},
		{propagation: "Orphan", finalizers: []string{"orphan"}},
	} {
		w := newWorld(t)
		w.widget("a", nil)
		r := request(Delete, widgetKind, "a")
		r.Propagation = test.propagation
		w.must(r)
		if test.gone {
			w.refuse(request(Get, widgetKind, "a"), 404, `widgets.example.com "a" not found`)
			continue
		}
		expect(t, "finalizers with "+test.propagation, w.must(request(Get, widgetKind, "a")).GetFinalizers(), test.finalizers)
	}
	w := newWorld(t)
	w.must(creation(jobKind, tree{"name": "j"}, nil))
	w.must(request(Delete, jobKind, "j"))
	expect(t, "finalizers of a Job", w.must(request(Get, jobKind, "j")).GetFinalizers(), []string{"orphan"})

	// Nobody collects Events, whatever somebody wrote into them.
	events := corev1.SchemeGroupVersion.WithKind("Event")
	w.must(creation(events, tree{"name": "e", "finalizers": []any{"foregroundDeletion"}}, tree{"involvedObject": tree{"namespace": "default"}}))
	r := request(Delete, events, "e")
	r.Propagation = "Foreground"
	w.must(r)
	w.refuse(request(Get, events, "e"), 404, `events "e" not found`)

	r = request(Delete, widgetKind, "a")
	r.Propagation = "Sideways"
	if response, _ := w.do(r); response.Status == nil || response.Status.Code != 422 {
		t.Errorf("unknown propagation policy: %s", response)
	}
}

func TestPodsAreDeletedGracefully(t *testing.T) {
	w := newWorld(t)
	w.must(creation(podKind, tree{"name": "pending"}, nil))
	w.must(request(Delete, podKind, "pending"))
	w.refuse(request(Get, podKind, "pending"), 404, `pods "pending" not found`)

	w.must(creation(podKind, tree{"name": "running"}, tree{"spec": tree{"nodeName": "n", "containers": []any{}}}))
	w.must(request(Delete, podKind, "running"))
	pod := w.must(request(Get, podKind, "running"))
	expect(t, "grace period", pod.GetDeletionGracePeriodSeconds(), 30)
	if _, writes := w.do(request(Delete, podKind, "running")); writes != 0 {
		t.Error("a second delete writes")
	}
	for _, test := range []struct{ asked, want int64 }{{40, 30}, {20, 20}, {-5, 1}} {
		sooner := request(Delete, podKind, "running")
		sooner.GracePeriodSeconds = &test.asked
		w.must(sooner)
		expect(t, "grace period", w.must(request(Get, podKind, "running")).GetDeletionGracePeriodSeconds(), test.want)
	}
	now := request(Delete, podKind, "running")
	now.GracePeriodSeconds = new(int64)
	w.must(now)
	w.refuse(request(Get, podKind, "running"), 404, `pods "running" not found`)
}

func TestDeleteCollection(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.must(creation(widgetKind, tree{"name": name, "labels": tree{"odd": map[bool]string{true: "yes", false: "no"}[name != "b"]}}, nil))
	}
	elsewhere := creation(widgetKind, tree{"name": "a", "labels": tree{"odd": "yes"}}, nil)
	elsewhere.Namespace = "elsewhere"
	w.must(elsewhere)
	w.must(creation(corev1.SchemeGroupVersion.WithKind("ConfigMap"), tree{"name": "a", "labels": tree{"odd": "yes"}}, nil))
	r := request(DeleteCollection, widgetKind, "")
	r.LabelSelector = "odd=yes"
	w.must(r)
	expect(t, "objects left", len(w.objects), 3)
	w.must(request(Get, widgetKind, "b"))
}
