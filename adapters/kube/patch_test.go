package kube

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

func TestPatchAppliesToStoredObject(t *testing.T) {
	w := newWorld(t)
	w.widget("a", tree{"spec": tree{"size": 2, "color": "red"}})
	a := w.must(patching(widgetKind, "a", types.MergePatchType, `{"spec":{"color":null},"metadata":{"labels":{"x":"1"}}}`))
	expect(t, "spec", a.Object["spec"], tree{"size": 2})
	expect(t, "generation", a.GetGeneration(), 2)
	a = w.must(patching(widgetKind, "a", types.MergePatchType, `{"spec":{"size":null}}`))
	expect(t, "spec with the default again", a.Object["spec"], tree{"size": 1})
	a = w.must(patching(widgetKind, "a", types.JSONPatchType,
		`[{"op":"test","path":"/metadata/labels/x","value":"1"},{"op":"add","path":"/metadata/labels/y","value":"2"}]`))
	expect(t, "labels", a.GetLabels(), tree{"x": "1", "y": "2"})
	a = w.must(ofStatus(patching(widgetKind, "a", types.MergePatchType, `{"status":{"ready":true},"spec":{"size":50}}`)))
	expect(t, "spec after a patch of the status", a.Object["spec"], tree{"size": 1})
	expect(t, "status", a.Object["status"], tree{"ready": true})
}

func TestStrategicMergePatch(t *testing.T) {
	w := newWorld(t)
	w.must(creation(deploymentKind, tree{"name": "d"}, tree{"spec": tree{"template": tree{"spec": tree{"containers": []any{
		tree{"name": "one", "image": "1"}, tree{"name": "two", "image": "2"},
	}}}}}))
	d := w.must(patching(deploymentKind, "d", types.StrategicMergePatchType,
		`{"spec":{"template":{"spec":{"containers":[{"name":"two","image":"3"}]}}}}`))
	containers := jsontree.At(d, "spec", "template", "spec", "containers").([]any)
	expect(t, "number of containers", len(containers), 2)
	expect(t, "image of the first", containers[0].(tree)["image"], "1")
	expect(t, "image of the second", containers[1].(tree)["image"], "3")

	w.widget("a", nil)
	w.refuse(patching(widgetKind, "a", types.StrategicMergePatchType, `{}`), 415,
		"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
}

func TestPatchRefusals(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	for _, test := range []struct {
		patchType types.PatchType
		patch     string
		code      int32
	}{
		{types.JSONPatchType, `{}`, 400},
		{types.JSONPatchType, `[{"op":"test","path":"/spec/size","value":7}]`, 422},
		{types.JSONPatchType, `[{"op":"remove","path":"/spec/nothing"}]`, 422},
		{types.JSONPatchType, `[{"op":"remove","path":"/metadata"}]`, 400},
		{types.JSONPatchType, `[{"op":"replace","path":"","value":[]}]`, 422},
		{types.MergePatchType, `[]`, 400},
		{types.MergePatchType, `{"spec":{"size":"big"}}`, 422},
		{types.MergePatchType, `{"spec":{"size":-1}}`, 422},
		{types.MergePatchType, `{"metadata":{"name":"b"}}`, 400},
		{types.MergePatchType, `{"metadata":{"namespace":"b"}}`, 400},
		{types.MergePatchType, `{"metadata":{"labels":{"x":7}}}`, 422},
		{types.MergePatchType, `{"kind":"Gadget"}`, 422},
		{"text/plain", `{}`, 415},
	} {
		response, writes := w.do(patching(widgetKind, "a", test.patchType, test.patch))
		if response.Status == nil || response.Status.Code != test.code || writes > 0 {
			t.Errorf("patch %s: %s with %d writes, want %d", test.patch, response, writes, test.code)
		}
	}
}
