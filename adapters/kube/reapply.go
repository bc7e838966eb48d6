package kube

import (
	"bytes"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A large part of the work of an apply is to find what its caller wanted the last time and
// does not want any more. Controllers mostly want the same fields again. Then there is
// nothing to find, and the library need not look for it.

// forgetLast empties the record of what the caller of an apply wanted of the live object
// the last time, if all of that is wanted still. The library writes the record anew.
func (op *operation) forgetLast(live, wanted *unstructured.Unstructured) {
	entries := recordOf(live)
	last := slices.IndexFunc(entries, op.isLast)
	if last < 0 || !op.wantsStill(entries[last], wanted) {
		return
	}
	emptied := maps.Clone(entries[last].(map[string]any))
	emptied["fieldsV1"] = map[string]any{}
	entries = slices.Clone(entries)
	entries[last] = emptied
	setNested(live.Object, entries, "metadata", "managedFields")
}

// isLast tells whether an entry of the record is what the caller of the apply wanted.
func (op *operation) isLast(entry any) bool {
	fields, _ := entry.(map[string]any)
	subresource, _ := fields["subresource"].(string)
	return fields["manager"] == op.request.FieldManager && subresource == op.request.Subresource &&
		fields["operation"] == string(metav1.ManagedFieldsOperationApply) &&
		fields["apiVersion"] == op.request.Kind.GroupVersion().String()
}

// wantsStill tells whether all fields of an entry are wanted.
func (op *operation) wantsStill(entry any, wanted *unstructured.Unstructured) bool {
	types, err := op.resource.types()
	if err != nil {
		return false
	}
	value, err := types.ObjectToTyped(wanted)
	if err != nil {
		return false
	}
	now, err := value.ToFieldSet()
	if err != nil {
		return false
	}
	last := &fieldpath.Set{}
	if last.FromJSON(bytes.NewReader(canonicalJSON(entry.(map[string]any)["fieldsV1"]))) != nil {
		return false
	}
	return last.Difference(now).Empty()
}
