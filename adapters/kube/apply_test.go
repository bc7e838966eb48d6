package kube

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// applying makes a server-side apply of fields by a manager.
func applying(kind schema.GroupVersionKind, name, manager string, fields tree) *Request {
	r := patching(kind, name, types.ApplyYAMLPatchType, "")
	r.Body = object(kind, tree{"name": name}, fields)
	r.FieldManager = manager
	return r
}

func forced(r *Request) *Request {
	r.Force = true
	return r
}

// managersOf says who manages an object: "manager operation", with the subresource.
func managersOf(o *unstructured.Unstructured) []string {
	var managers []string
	for _, e := range o.GetManagedFields() {
		managers = append(managers, strings.TrimSpace(e.Manager+" "+string(e.Operation)+" "+e.Subresource))
	}
	return managers
}

func TestApplyCreates(t *testing.T) {
	w := newWorld(t)
	a := w.must(applying(widgetKind, "a", "m", tree{"spec": tree{"color": "red"}, "status": tree{"ready": true}}))
	expect(t, "spec", a.Object["spec"], tree{"size": 1, "color": "red"})
	expect(t, "status", a.Object["status"], nil)
	expect(t, "generation", a.GetGeneration(), 1)
	expect(t, "managedFields", jsontree.At(a, "metadata", "managedFields"), []any{tree{
		"apiVersion": "example.com/v1", "fieldsType": "FieldsV1", "manager": "m", "operation": "Apply", "time": "2000-01-01T00:00:00Z",
		"fieldsV1": tree{"f:spec": tree{"f:color": tree{}}},
	}})
}

func TestApplyAgainIsNoWrite(t *testing.T) {
	w := newWorld(t)
	r := applying(widgetKind, "a", "m", tree{"spec": tree{"color": "red"}})
	first := w.must(r)
	response, writes := w.do(r)
	if response.Status != nil || writes != 0 {
		t.Fatalf("the second apply: %s with %d writes, want none", response, writes)
	}
	expect(t, "resourceVersion", w.must(r).GetResourceVersion(), first.GetResourceVersion())
}

func TestApplyOfNothing(t *testing.T) {
	w := newWorld(t)
	w.widget("a", tree{"spec": tree{"size": 1}})
	for _, r := range []*Request{
		applying(widgetKind, "a", "m", nil),
		ofStatus(applying(widgetKind, "a", "m", tree{"spec": tree{"size": 7}})),
	} {
		if response, writes := w.do(r); response.Status != nil || writes != 0 {
			t.Errorf("%s: %s with %d writes, want none", r, response, writes)
		}
	}
}

// What the server sets when an object is made belongs to nobody.
func TestApplyToNewStatus(t *testing.T) {
	w := newWorld(t)
	w.must(creation(podKind, tree{"name": "p"}, nil))
	pod := w.must(ofStatus(applying(podKind, "p", "kubelet", tree{"status": tree{"phase": "Running"}})))
	expect(t, "phase", jsontree.At(pod, "status", "phase"), "Running")
}

func TestApplyToUnknownFields(t *testing.T) {
	w := newWorld(t)
	w.must(creation(gadgetKind, tree{"name": "g"}, tree{"spec": tree{"x": 1}}))
	g := w.must(applying(gadgetKind, "g", "m", tree{"spec": tree{"x": 1}}))
	expect(t, "managers", managersOf(g), []string{"m Apply", "before-first-apply Update"})
}

// What is empty in the metadata is stored and not shown, and is gone with the next write.
func TestApplyOfEmptyMetadata(t *testing.T) {
	w := newWorld(t)
	apply := func() *Request {
		r := applying(widgetKind, "a", "m", nil)
		r.Body = object(widgetKind, tree{"name": "a", "labels": tree{}, "finalizers": nil}, tree{"spec": tree{"size": 1}})
		return r
	}
	first := w.must(apply())
	expect(t, "labels", jsontree.At(first, "metadata", "labels"), nil)
	if _, writes := w.do(apply()); writes != 0 {
		t.Error("an identical apply writes")
	}
	for i, wantWritten := range []bool{true, false} {
		second, writes := w.do(patching(widgetKind, "a", types.MergePatchType, `{}`))
		if written := writes > 0; second.Status != nil || written != wantWritten {
			t.Errorf("patch %d that changes nothing: %s with %d writes", i+1, second, writes)
		}
	}
	second := w.must(request(Get, widgetKind, "a"))
	if second.GetResourceVersion() == first.GetResourceVersion() {
		t.Error("the write has made no version")
	}
	second.SetResourceVersion(first.GetResourceVersion())
	expect(t, "the object besides", second.Object, first.Object)
}

// TestApplyOfNulls applies a null where there must be none. Nobody sees it, but it is stored until the next write,
// which then is one even if it changes nothing.
func TestApplyOfNulls(t *testing.T) {
	w := newWorld(t)
	w.must(creation(widgetKind, tree{"name": "a"}, tree{"spec": tree{}}))
	r := applying(widgetKind, "a", "alice", tree{"status": nil})
	r.Subresource = "status"
	applied := w.must(r)
	if _, found := applied.Object["status"]; found {
		t.Errorf("what is shown is %v", applied.Object)
	}
	for _, want := range []int{1, 0} {
		live := w.must(request(Get, widgetKind, "a"))
		if _, writes := w.do(updating(widgetKind, live)); writes != want {
			t.Errorf("an update that changes nothing has %d writes, want %d", writes, want)
		}
	}
}

func TestApplyConflicts(t *testing.T) {
	w := newWorld(t)
	w.must(applying(widgetKind, "a", "first", tree{"spec": tree{"color": "red", "size": 2}}))
	second := applying(widgetKind, "a", "second", tree{"spec": tree{"color": "blue", "size": 3}})
	message := "Apply failed with 2 conflicts: conflicts with \"first\":\n- .spec.color\n- .spec.size"
	w.refuse(second, 409, message)
	response, _ := w.do(second)
	expect(t, "reason", response.Status.Reason, metav1.StatusReasonConflict)
	expect(t, "causes", response.Status.Details.Causes, []metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "first"`, Field: ".spec.color"},
		{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "first"`, Field: ".spec.size"},
	})
	a := w.must(forced(second))
	expect(t, "spec", a.Object["spec"], tree{"size": 3, "color": "blue"})
	expect(t, "managers", managersOf(a), []string{"second Apply"})
}

func TestApplyToAnObjectThatWasNotApplied(t *testing.T) {
	w := newWorld(t)
	w.widget("a", tree{"spec": tree{"color": "red"}})
	blue := applying(widgetKind, "a", "m", tree{"spec": tree{"color": "blue"}})
	w.refuse(blue, 409, `Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.color`)
	a := w.must(applying(widgetKind, "a", "m", tree{"spec": tree{"color": "red"}}))
	expect(t, "managers", managersOf(a), []string{"m Apply", "before-first-apply Update"})
	// Both manage the color, so that it stays when one of them does not want it any more.
	a = w.must(applying(widgetKind, "a", "m", tree{"spec": tree{"size": 1}}))
	expect(t, "spec", a.Object["spec"], tree{"size": 1, "color": "red"})
}

func TestApplyRemovesWhatIsLeftOut(t *testing.T) {
	w := newWorld(t)
	w.must(applying(widgetKind, "a", "m", tree{"spec": tree{"color": "red", "size": 5}}))
	a := w.must(applying(widgetKind, "a", "m", tree{"spec": tree{"color": "red"}}))
	expect(t, "spec, with the default", a.Object["spec"], tree{"size": 1, "color": "red"})

	w.must(applying(configMapKind, "c", "one", tree{"data": tree{"x": "1", "y": "1"}}))
	w.must(applying(configMapKind, "c", "two", tree{"data": tree{"y": "1"}}))
	c := w.must(applying(configMapKind, "c", "one", tree{}))
	expect(t, "data that the other still wants", c.Object["data"], tree{"y": "1"})
}

func TestApplyMergesListsByKey(t *testing.T) {
	w := newWorld(t)
	containers := func(list ...any) tree {
		return tree{"spec": tree{
			"selector": tree{"matchLabels": tree{"x": "1"}},
			"template": tree{"metadata": tree{"labels": tree{"x": "1"}}, "spec": tree{"containers": list}},
		}}
	}
	w.must(applying(deploymentKind, "d", "app", containers(tree{"name": "app", "image": "a:1"})))
	d := w.must(applying(deploymentKind, "d", "mesh", containers(tree{"name": "proxy", "image": "p:1"})))
	var names []string
	for _, c := range jsontree.ListAt(d, "spec", "template", "spec", "containers") {
		names = append(names, c.(tree)["name"].(string))
	}
	expect(t, "containers", names, []string{"app", "proxy"})
}

func TestApplyStatus(t *testing.T) {
	w := newWorld(t)
	status := func(fields tree) *Request {
		return ofStatus(applying(widgetKind, "a", "m", tree{"spec": tree{"size": 9}, "status": fields}))
	}
	w.refuse(status(tree{"ready": true}), 404, `widgets.example.com "a" not found`)
	w.widget("a", tree{"spec": tree{"size": 1}})
	a := w.must(forced(status(tree{"ready": true})))
	expect(t, "spec", a.Object["spec"], tree{"size": 1})
	expect(t, "status", a.Object["status"], tree{"ready": true})
	expect(t, "managers", managersOf(a), []string{"m Apply status", "before-first-apply Update"})
	a = w.must(status(tree{}))
	expect(t, "status that is not wanted any more", jsontree.At(a, "status", "ready"), nil)
}

func TestUpdateTakesFieldsOver(t *testing.T) {
	w := newWorld(t)
	w.must(applying(widgetKind, "a", "m", tree{"spec": tree{"color": "red"}}))
	patch := patching(widgetKind, "a", types.MergePatchType, `{"spec":{"color":"blue"}}`)
	patch.FieldManager = "other"
	a := w.must(patch)
	expect(t, "managers", managersOf(a), []string{"other Update"})
	w.refuse(applying(widgetKind, "a", "m", tree{"spec": tree{"color": "red"}}), 409,
		`Apply failed with 1 conflict: conflict with "other" using example.com/v1: .spec.color`)
}

// Clients that move the record from one manager to another send it with an update.
func TestUpdateReplacesTheRecord(t *testing.T) {
	w := newWorld(t)
	w.must(applying(widgetKind, "a", "m", tree{"spec": tree{"color": "red"}}))
	w.must(patching(widgetKind, "a", types.JSONPatchType, `[{"op":"replace","path":"/metadata/managedFields/0/manager","value":"n"}]`))
	a := w.must(applying(widgetKind, "a", "n", tree{}))
	expect(t, "color", jsontree.At(a, "spec", "color"), nil)
	reset := w.must(patching(widgetKind, "a", types.MergePatchType, `{"metadata":{"managedFields":[{}]}}`))
	expect(t, "managers after a reset", managersOf(reset), nil)
}

func TestManagedFieldsFromTheStart(t *testing.T) {
	w := newWorld(t, ManagedFields())
	create := creation(widgetKind, tree{"name": "a"}, tree{"spec": tree{"color": "red"}})
	create.FieldManager = "maker"
	a := w.must(create)
	expect(t, "managers", managersOf(a), []string{"maker Update"})
	a.Object["status"] = tree{"ready": true}
	a = w.must(ofStatus(updating(widgetKind, a)))
	expect(t, "managers", managersOf(a), []string{"maker Update", "unknown Update status"})
	w.refuse(applying(widgetKind, "a", "m", tree{"spec": tree{"color": "blue"}}), 409,
		`Apply failed with 1 conflict: conflict with "maker" using example.com/v1: .spec.color`)
	_, writes := w.do(updating(widgetKind, a))
	expect(t, "writes of an identical update", writes, 0)
}

func TestApplyRefusals(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	unmanaged := applying(widgetKind, "a", "", nil)
	w.refuse(unmanaged, 422, `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`)
	w.refuse(forced(patching(widgetKind, "a", types.MergePatchType, `{}`)), 422,
		`PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch`)
	w.refuse(applying(widgetKind, "a", "m", tree{"spec": tree{"zoo": 1, "air": 2}}), 500,
		"failed to create typed patch object (/a; example.com/v1, Kind=Widget): .spec.air: field not declared in schema")
	for _, test := range []struct {
		body string
		code int32
	}{
		{`{`, 400},
		{`[]`, 400},
		{`null`, 400},
		{`{"apiVersion":"example.com/v1beta1","kind":"Widget"}`, 400},
		{`{"apiVersion":"example.com/v1","kind":"Gadget"}`, 400},
		{`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"b"}}`, 400},
		{`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","managedFields":[]}}`, 400},
		{`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","resourceVersion":"1"}}`, 409},
		{`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":-1}}`, 422},
	} {
		r := applying(widgetKind, "a", "m", nil)
		r.Body = []byte(test.body)
		response, writes := w.do(r)
		if response.Status == nil || response.Status.Code != test.code || writes > 0 {
			t.Errorf("apply %s: %s with %d writes, want %d", test.body, response, writes, test.code)
		}
	}
	chosen := applying(widgetKind, "b", "m", nil)
	chosen.Body = object(widgetKind, tree{"name": "b", "uid": "chosen"}, nil)
	w.refuse(chosen, 409, `Operation cannot be fulfilled on widgets.example.com "b": uid mismatch: the provided object specified uid chosen, and no existing object was found`)
}

// The record of a built-in kind is made by way of its Go type: a struct that is always
// there belongs to nobody.
func TestStructsBelongToNobody(t *testing.T) {
	w := newWorld(t, ManagedFields())
	n := w.namespace("n")
	expect(t, "managedFields", n.GetManagedFields()[0].FieldsV1, tree{"f:metadata": tree{"f:labels": tree{".": tree{}, "f:kubernetes.io/metadata.name": tree{}}}})
	jsontree.Set(n.Object, []any{}, "spec", "finalizers")
	if _, writes := w.do(everywhere(updating(namespaceKind, n))); writes != 0 {
		t.Error("an update of what only the server sets writes")
	}
	w.must(creation(deploymentKind, tree{"name": "d"}, tree{"spec": tree{"replicas": 1}}))
	w.must(of("scale", patching(deploymentKind, "d", types.MergePatchType, `{"spec":{"replicas":2}}`)))
	d := w.must(request(Get, deploymentKind, "d"))
	expect(t, "managers after a scale", managersOf(d), []string{"unknown Update scale", "unknown Update"})
}
