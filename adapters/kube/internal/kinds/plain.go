package kinds

import (
	"bytes"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// Nearly all bodies are plain: they say what they are, that is what was asked for, and
// nothing is wrong with them. They are read once. All others are read again, by those who
// find what is wrong and the words for it.

// DecodePlain reads a plain body in one of the served versions. It returns nothing for any
// other.
func (r *Resource) DecodePlain(data []byte, version string) Decoded {
	want := schema.GroupVersionKind{Group: r.Group, Version: version, Kind: r.Kind}
	if r.Schemas != nil {
		return Decoded{Object: r.plainTree(data, want)}
	}
	typed, err := r.NewTyped()
	if err != nil || jsontree.Decode(data, typed) != nil || typed.GetObjectKind().GroupVersionKind() != want || saysOtherwise(data) {
		return Decoded{}
	}
	object, err := r.decodeTyped(typed)
	if err != nil {
		return Decoded{}
	}
	return Decoded{Object: object, Typed: typed}
}

// plainTree reads a plain body as a custom resource with a schema.
func (r *Resource) plainTree(data []byte, want schema.GroupVersionKind) *unstructured.Unstructured {
	var tree map[string]any
	if jsontree.Decode(data, &tree) != nil || saysOtherwise(data) {
		return nil
	}
	return r.fillPlain(tree, want)
}

// PlainFields reads fields as if they were sent, if they are those of a custom resource with
// a schema. It returns nil for any other, and if they are not plain.
func (r *Resource) PlainFields(fields map[string]any, want schema.GroupVersionKind) *unstructured.Unstructured {
	if r.Schemas == nil {
		return nil
	}
	for name := range fields {
		if name != "apiVersion" && name != "kind" && (strings.EqualFold(name, "apiVersion") || strings.EqualFold(name, "kind")) {
			return nil
		}
	}
	return r.fillPlain(jsontree.Copy(fields).(map[string]any), want)
}

// fillPlain takes a tree over that was read.
func (r *Resource) fillPlain(tree map[string]any, want schema.GroupVersionKind) *unstructured.Unstructured {
	if tree["apiVersion"] != want.GroupVersion().String() || tree["kind"] != want.Kind || r.Schemas[want.Version].fill(tree) != nil {
		return nil
	}
	return r.complete(tree)
}

// saysOtherwise reports whether there may be a field that says what the body is, and whose
// name is spelled in another case. Some readers take it into account.
func saysOtherwise(data []byte) bool {
	names := [...]string{"apiVersion", "kind"}
	for {
		_, rest, found := bytes.Cut(data, []byte{'"'})
		if !found {
			return false
		}
		for _, name := range names {
			if end := len(name); len(rest) > end && rest[end] == '"' && string(rest[:end]) != name && bytes.EqualFold(rest[:end], []byte(name)) {
				return true
			}
		}
		data = rest
	}
}
