package jsontree

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// At returns a field by its path, nil if it is not there.
func At(object *unstructured.Unstructured, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	return value
}

// Without returns a copy of an object that does not have some of its fields; it is
// empty if there is no object.
func Without(value any, names ...string) map[string]any {
	fields, _ := value.(map[string]any)
	rest := make(map[string]any, len(fields))
	maps.Copy(rest, fields)
	for _, name := range names {
		delete(rest, name)
	}
	return rest
}

// ListAt returns a list by its path, nil if it is not there.
func ListAt(object *unstructured.Unstructured, path ...string) []any {
	list, _ := At(object, path...).([]any)
	return list
}

// Set sets a field, and makes the objects on the way to it where they are missing.
func Set(tree map[string]any, value any, fields ...string) {
	for _, name := range fields[:len(fields)-1] {
		below, ok := tree[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			tree[name] = below
		}
		tree = below
	}
	tree[fields[len(fields)-1]] = value
}
