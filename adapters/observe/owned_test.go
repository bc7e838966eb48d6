package observe

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
)

// TestOwnedFields writes objects as package json does, whatever they say about their fields, and leaves them as they
// are.
func TestOwnedFields(t *testing.T) {
	fields := func(text string) metav1.ManagedFieldsEntry {
		f := &metav1.FieldsV1{}
		if err := f.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return metav1.ManagedFieldsEntry{Manager: "<m>", FieldsV1: f}
	}
	with := func(entries ...metav1.ManagedFieldsEntry) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: entries}, Data: map[string]string{"<k>": `"FieldsV1"`}}
	}
	of := newTexts(&comparisons{})
	for name, object := range map[string]runtime.Object{
		"none":         with(),
		"one":          with(fields(`{"f:data":{"f:<k>":{}}}`)),
		"several":      with(fields(`{"f:a":{}}`), metav1.ManagedFieldsEntry{Manager: "without"}, fields(`{}`), fields(`{"f:a":{}}`)),
		"spaces":       with(fields(`{ "f:a": {} }`), fields(`{"f:b":{}}`)),
		"line feed":    with(fields("{\"f:\u2028\":{}}")),
		"broken":       with(fields(`{"f:a":`)),
		"empty":        with(metav1.ManagedFieldsEntry{FieldsV1: &metav1.FieldsV1{}}),
		"partial":      &metav1.PartialObjectMetadata{ObjectMeta: with(fields(`{"f:a":{}}`)).ObjectMeta},
		"unstructured": &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{"fieldsV1": map[string]any{"f:a": map[string]any{}}}}}}},
		"no object":    &corev1.ConfigMapList{Items: []corev1.ConfigMap{*with(fields(`{"f:a":{}}`))}},
	} {
		for again := range 3 { // the second time, fields are known to be sound, and the third time, members are kept
			before := object.DeepCopyObject()
			want, wantErr := marshal(&bytes.Buffer{}, before)
			key := core.Key{}
			if again > 0 {
				key.Name = name
			}
			got, err := of.marshal(&bytes.Buffer{}, key, object)
			if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
				t.Errorf("%s: got  %s, %v\nwant %s, %v", name, got, err, want, wantErr)
			}
			if after, _ := marshal(&bytes.Buffer{}, object); !bytes.Equal(after, want) {
				t.Errorf("%s: the object became %s", name, after)
			}
		}
	}
	one := with(fields(`{"f:a":{}}`))
	marked, taken := of.owned.takeOut(one.ManagedFields)
	if text, err := marked[0].FieldsV1.MarshalJSON(); err != nil || len(taken) != 1 || !bytes.Equal(text, of.owned.mark) {
		t.Errorf("%v: fields were not taken out of %+v", err, marked)
	}
}
