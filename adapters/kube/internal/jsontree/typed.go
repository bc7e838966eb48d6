package jsontree

import (
	"encoding/json"
	"errors"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Into reads a tree of JSON values into a typed object, except for the record of who
// manages its fields: that is the most expensive part, and nobody looks at it.
func Into(tree map[string]any, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(Unrecorded(tree), into)
}

// Unrecorded is a tree without the record of who manages its fields. It shares what it
// does not change.
func Unrecorded(tree map[string]any) map[string]any {
	metadata, _ := tree["metadata"].(map[string]any)
	if metadata["managedFields"] == nil {
		return tree
	}
	tree = maps.Clone(tree)
	tree["metadata"] = Without(metadata, "managedFields")
	return tree
}

// Of is a typed object as a tree of JSON values.
func Of(typed runtime.Object) (map[string]any, error) {
	text, err := json.Marshal(typed)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := Decode(text, &tree); err != nil {
		return nil, err
	}
	if tree == nil {
		return nil, errors.New("the object is null")
	}
	return tree, nil
}

// MustInto reads a tree that was decoded before into a Go type.
func MustInto(object *unstructured.Unstructured, into any) {
	if err := Into(object.Object, into); err != nil {
		panic("kube: a decoded " + object.GetKind() + " cannot be read: " + err.Error())
	}
}
