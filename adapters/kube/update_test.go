package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

const staleWidget = `Operation cannot be fulfilled on widgets.example.com "a": ` + staleMessage

func TestIdenticalUpdateIsNoWrite(t *testing.T) {
	w := newWorld(t)
	a := w.widget("a", tree{"spec": tree{"size": 2}})
	for _, r := range []*Request{
		updating(widgetKind, a),
		ofStatus(updating(widgetKind, a)),
		patching(widgetKind, "a", types.MergePatchType, `{"spec":{"size":2}}`),
		patching(widgetKind, "a", types.JSONPatchType, `[{"op":"replace","path":"/spec/size","value":2}]`),
		patching(widgetKind, "a", types.MergePatchType, `{}`),
	} {
		response, writes := w.do(r)
		if response.Status != nil || writes != 0 {
			t.Errorf("%s: %s with %d writes, want none", r, response, writes)
		}
		if same := w.must(r); same.GetResourceVersion() != a.GetResourceVersion() {
			t.Errorf("%s: the resourceVersion changes", r)
		}
	}
}

func TestStaleUpdateConflicts(t *testing.T) {
	w := newWorld(t)
	first := w.widget("a", nil)
	second := first.DeepCopy()
	second.SetLabels(map[string]string{"x": "1"})
	w.must(updating(widgetKind, second))
	first.SetLabels(map[string]string{"x": "2"})
	w.refuse(updating(widgetKind, first), 409, staleWidget)
	w.refuse(ofStatus(updating(widgetKind, first)), 409, staleWidget)
	w.refuse(patching(widgetKind, "a", types.MergePatchType,
		`{"metadata":{"resourceVersion":"`+first.GetResourceVersion()+`"},"spec":{"size":9}}`), 409, staleWidget)
	expect(t, "labels", w.must(request(Get, widgetKind, "a")).GetLabels(), tree{"x": "1"})
}

func TestUpdateWithoutResourceVersion(t *testing.T) {
	w := newWorld(t)
	a := w.widget("a", nil)
	a.SetResourceVersion("")
	w.refuse(updating(widgetKind, a), 422, invalid("widgets.example.com", "a",
		field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")))

	m := w.must(creation(configMapKind, tree{"name": "m"}, nil))
	m.SetResourceVersion("")
	m.Object["data"] = tree{"k": "v"}
	expect(t, "data after an unconditional update", w.must(updating(configMapKind, m)).Object["data"], tree{"k": "v"})
}

// A version that comes back within a run is another version: who holds the first
// one has not seen the second.
func TestContentThatComesBackIsAnotherVersion(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	w.settle()
	first := w.must(request(Get, widgetKind, "a"))
	there := patching(widgetKind, "a", types.MergePatchType, `{"metadata":{"labels":{"x":"1"}}}`)
	back := patching(widgetKind, "a", types.MergePatchType, `{"metadata":{"labels":null}}`)
	w.must(there)
	again := w.must(back)
	if again.GetResourceVersion() == first.GetResourceVersion() {
		t.Error("the version that came back has the resourceVersion of the first one")
	}
	w.refuse(updating(widgetKind, first), 409, staleWidget)
	w.settle()
	settled := w.must(request(Get, widgetKind, "a"))
	expect(t, "resourceVersion after the run", settled.GetResourceVersion(), first.GetResourceVersion())
}

func TestStatusAndSpecAreApart(t *testing.T) {
	w := newWorld(t)
	a := w.widget("a", tree{"spec": tree{"size": 1}, "status": tree{"ready": true}})
	expect(t, "status after create", a.Object["status"], nil)

	a.Object["spec"], a.Object["status"] = tree{"size": 5}, tree{"ready": true}
	a.SetLabels(map[string]string{"x": "1"})
	a = w.must(ofStatus(updating(widgetKind, a)))
	expect(t, "spec after a status update", a.Object["spec"], tree{"size": 1})
	expect(t, "labels after a status update", a.GetLabels(), nil)
	expect(t, "status after a status update", a.Object["status"], tree{"ready": true})
	expect(t, "generation after a status update", a.GetGeneration(), 1)

	a.Object["spec"], a.Object["status"] = tree{"size": 5}, tree{"ready": false}
	a = w.must(updating(widgetKind, a))
	expect(t, "spec after an update", a.Object["spec"], tree{"size": 5})
	expect(t, "status after an update", a.Object["status"], tree{"ready": true})
	expect(t, "generation after an update", a.GetGeneration(), 2)

	delete(a.Object, "status")
	a = w.must(updating(widgetKind, a))
	expect(t, "status after an update without one", a.Object["status"], tree{"ready": true})
}

func TestKindWithoutStatusSubresource(t *testing.T) {
	w := newWorld(t)
	g := w.must(creation(gadgetKind, tree{"name": "a"}, tree{"status": tree{"ready": true}}))
	expect(t, "status", g.Object["status"], tree{"ready": true})
	w.refuse(ofStatus(updating(gadgetKind, g)), 404, `gadgets.example.com "a" not found`)
	m := w.must(creation(configMapKind, tree{"name": "m"}, nil))
	w.refuse(ofStatus(updating(configMapKind, m)), 404, "the server could not find the requested resource")
	g.Object["status"] = tree{"ready": false}
	expect(t, "generation after a change of the status", w.must(updating(gadgetKind, g)).GetGeneration(), 2)
}

// A status update of a built-in kind may change metadata; of a Deployment not the
// labels, of a Pod not the owners.
func TestStatusUpdateOfBuiltinKinds(t *testing.T) {
	w := newWorld(t)
	d := w.must(creation(deploymentKind, tree{"name": "d"}, tree{"spec": tree{"replicas": 1}}))
	d.SetLabels(map[string]string{"x": "1"})
	d.SetAnnotations(map[string]string{"y": "1"})
	d.Object["status"] = tree{"replicas": 1}
	d = w.must(ofStatus(updating(deploymentKind, d)))
	expect(t, "labels", d.GetLabels(), nil)
	expect(t, "annotations", d.GetAnnotations(), tree{"y": "1"})
	expect(t, "status", d.Object["status"], tree{"replicas": 1})
	expect(t, "generation", d.GetGeneration(), 1)
}

func TestUpdateOfMissingObject(t *testing.T) {
	w := newWorld(t)
	a := w.widget("a", nil)
	w.must(request(Delete, widgetKind, "a"))
	missing := `widgets.example.com "a" not found`
	w.refuse(updating(widgetKind, a), 404, missing)
	w.refuse(ofStatus(updating(widgetKind, a)), 404, missing)
	w.refuse(patching(widgetKind, "a", types.MergePatchType, `{}`), 404, missing)
	w.refuse(request(Get, widgetKind, "a"), 404, missing)
	w.refuse(request(Delete, widgetKind, "a"), 404, missing)
}

func TestUpdateCreatesWhereTheKindAllows(t *testing.T) {
	w := newWorld(t)
	service := corev1.SchemeGroupVersion.WithKind("Service")
	r := request(Update, service, "s")
	r.Body = object(service, tree{"name": "s"}, complete(service, nil))
	w.must(r)
	w.must(request(Get, service, "s"))
}

func TestUpdateKeepsSystemMetadata(t *testing.T) {
	w := newWorld(t)
	a := w.widget("a", nil)
	b := a.DeepCopy()
	b.SetUID("")
	b.SetGeneration(77)
	delete(b.Object["metadata"].(tree), "creationTimestamp")
	b.SetLabels(map[string]string{"x": "1"})
	b = w.must(updating(widgetKind, b))
	expect(t, "uid", b.GetUID(), a.GetUID())
	expect(t, "generation", b.GetGeneration(), 1)
	expect(t, "creationTimestamp", jsontree.At(b, "metadata", "creationTimestamp"), "2000-01-01T00:00:00Z")
}

func TestUpdateRefusals(t *testing.T) {
	w := newWorld(t)
	a := w.widget("a", nil)

	other := a.DeepCopy()
	other.SetUID("11111111-1111-1111-1111-111111111111")
	response, _ := w.do(updating(widgetKind, other))
	if response.Status == nil || response.Status.Code != 409 || !strings.Contains(response.Status.Message, "Precondition failed: UID in precondition") {
		t.Errorf("update with another uid: %s", response)
	}

	renamed := updating(widgetKind, a)
	renamed.Name = "b"
	w.refuse(renamed, 400, "the name of the object (a) does not match the name on the URL (b)")

	moved := a.DeepCopy()
	moved.SetNamespace("elsewhere")
	w.refuse(updating(widgetKind, moved), 400, "the namespace of the provided object does not match the namespace sent on the request")

	labelled := a.DeepCopy()
	labelled.SetLabels(map[string]string{"x": "not a label!"})
	if response, _ := w.do(updating(widgetKind, labelled)); response.Status == nil || response.Status.Code != 422 {
		t.Errorf("update with an invalid label: %s", response)
	}

	w.refuse(patching(widgetKind, "a", types.MergePatchType, `{"metadata":{"uid":"11111111-1111-1111-1111-111111111111"}}`), 422,
		invalid("Widget.example.com", "a", field.Invalid(field.NewPath("metadata", "uid"), types.UID("11111111-1111-1111-1111-111111111111"), "field is immutable")))
}

func TestDryRunWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	for _, r := range []*Request{
		creation(widgetKind, tree{"name": "b"}, nil),
		patching(widgetKind, "a", types.MergePatchType, `{"spec":{"size":9}}`),
		request(Delete, widgetKind, "a"),
		request(DeleteCollection, widgetKind, ""),
	} {
		r.DryRun = true
		if response, writes := w.do(r); response.Status != nil || writes != 0 {
			t.Errorf("%s: %s with %d writes", r, response, writes)
		}
	}
	r := creation(widgetKind, tree{"name": "a"}, nil)
	r.DryRun = true
	w.refuse(r, 409, `widgets.example.com "a" already exists`)
}

// A new Job is stored without the labels that it is shown with, so the first write is one
// in any case.
func TestFirstUpdateOfAJob(t *testing.T) {
	w := newWorld(t)
	w.must(creation(jobKind, tree{"name": "j"}, nil))
	for i, wantWritten := range []bool{true, false} {
		response, writes := w.do(updating(jobKind, w.must(request(Get, jobKind, "j"))))
		if written := writes > 0; response.Status != nil || written != wantWritten {
			t.Errorf("update %d that changes nothing: %s with %d writes", i+1, response, writes)
		}
	}
}
