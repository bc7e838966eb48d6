package kube

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"

	"k8s.io/apimachinery/pkg/runtime/schema"
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
	// All of them, as few are plain: of some at random there may be none.
	for _, of := range bodies {
		plain, all := 0, 0
		for _, fields := range of.fields {
			for _, metadata := range metadata {
				for _, said := range said {
					body := tree{"apiVersion": of.kind.GroupVersion().String(), "kind": of.kind.Kind, "metadata": metadata}
					maps.Copy(body, fields)
					maps.Copy(body, said)
					all++
					if compareRead(t, server, of.kind, body) {
						plain++
					}
				}
			}
		}
		if plain == 0 || plain == all {
			t.Errorf("%d of %d bodies of kind %s are plain", plain, all, of.kind.Kind)
		}
	}
}

// compareRead reports whether a body is plain. It must then be read as any other is.
func compareRead(t *testing.T, server *Server, kind schema.GroupVersionKind, body tree) bool {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := server.registry.Find(kind)
	if err != nil {
		t.Fatal(err)
	}
	object := r.DecodePlain(text, kind.Version).Object
	if object == nil {
		return false
	}
	want, err := r.DecodeOdd(text, kind.Version)
	if err != nil {
		t.Fatalf("%s is read, and refused with %v", text, err)
	}
	if got, want := jsontree.Canonical(object.Object), jsontree.Canonical(want.Object); !bytes.Equal(got, want) {
		t.Fatalf("%s\ngot  %s\nwant %s", text, got, want)
	}
	return true
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
