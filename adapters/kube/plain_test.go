package kube

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

// TestPlainBodiesAreReadAlike would catch a body that is read in another way because
// nothing seems to be wrong with it.
func TestPlainBodiesAreReadAlike(t *testing.T) {
	server := newTestServer(t)
	bodies := []struct {
		kind   schema.GroupVersionKind
		fields []tree
	}{
		{widgetKind, []tree{
			{"spec": tree{"size": 1, "color": "red"}}, {"spec": tree{"unknown": 1}}, {"spec": nil}, {"spec": tree{"size": nil}},
			{"status": tree{}}, {"stray": 1.5},
		}},
		{gadgetKind, []tree{{"any": []any{1, 1.0, "x", nil}}, {"big": 1e300}}},
		{configMapKind, []tree{{"data": tree{"a": "1"}}, {"data": tree{"a": 1}}, {"binaryData": tree{"a": "AAEC"}}, {"immutable": nil}, {"extra": 1}}},
		{deploymentKind, []tree{
			{"spec": tree{"replicas": 1}}, {"spec": tree{"replicas": 1.5}}, {"status": tree{}},
			{"spec": tree{"template": tree{"spec": tree{"containers": []any{tree{"name": "a", "resources": tree{"limits": tree{"cpu": "0.5"}}}}}}}},
		}},
	}
	metadata := []tree{
		{"name": "a"}, {"name": "a", "labels": tree{"x": "y"}}, {"name": 1}, {"managedFields": []any{}}, {"managedFields": nil},
		{"creationTimestamp": nil}, {"creationTimestamp": "2020-01-01T00:00:00.5+01:00"}, {"unknown": 1}, {"selfLink": "x"},
		{"ownerReferences": []any{tree{"name": "o", "uid": "1"}, tree{"name": "o", "uid": "1"}}},
	}
	said := []tree{
		{}, {"apiVersion": ""}, {"apiVersion": "other/v1"}, {"apiVersion": 1}, {"kind": "Other"}, {"kind": nil},
		{"APIVersion": "other/v1"}, {"Kind": "Other"}, {"KIND": "x"},
	}
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SampledFrom(bodies).Draw(t, "kind")
		body := tree{"apiVersion": of.kind.GroupVersion().String(), "kind": of.kind.Kind}
		body["metadata"] = rapid.SampledFrom(metadata).Draw(t, "metadata")
		maps.Copy(body, rapid.SampledFrom(of.fields).Draw(t, "fields"))
		maps.Copy(body, rapid.SampledFrom(said).Draw(t, "said"))
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r, err := server.registry.Find(of.kind)
		if err != nil {
			t.Fatal(err)
		}
		object := r.DecodePlain(text, of.kind.Version).Object
		if object == nil {
			return
		}
		plain++
		want, err := r.DecodeOdd(text, of.kind.Version)
		if err != nil {
			t.Fatalf("%s is read, and refused with %v", text, err)
		}
		if got, want := jsontree.Canonical(object.Object), jsontree.Canonical(want.Object); !bytes.Equal(got, want) {
			t.Fatalf("%s\ngot  %s\nwant %s", text, got, want)
		}
	})
	if plain == 0 {
		t.Error("no body is plain")
	}
}

func TestPlainBodiesSayWhatTheyAre(t *testing.T) {
	server := newTestServer(t)
	for body, want := range map[string]bool{
		`{"apiVersion":"v1","kind":"ConfigMap"}`:                     true,
		`{"apiVersion":"v1","kind":"ConfigMap","data":{"kind":"x"}}`: true,
		`{"apiVersion":"v1"}`:                                        false,
		`{"kind":"ConfigMap"}`:                                       false,
		`{"apiVersion":"v1","kind":"Secret"}`:                        false,
		`{"apiVersion":"v1","kind":"ConfigMap","Kind":"Secret"}`:     false,
		`{"apiVersion":"v1","kind":"ConfigMap","data":{"a":1}}`:      false,
		`{"apiVersion":"v1","kind":"ConfigMap"`:                      false,
		`null`:                                                       false,
	} {
		r, err := server.registry.Find(configMapKind)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.DecodePlain([]byte(body), "v1").Object != nil; got != want {
			t.Errorf("%s: plain is %t, want %t", body, got, want)
		}
	}
}
