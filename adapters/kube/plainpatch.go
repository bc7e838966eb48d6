package kube

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// mergePlain applies a merge patch that has nothing in it which the library for patches
// takes in its own way: fractions, large numbers, lists with nulls. It returns nil for any
// other, for any other type of patch, and if something is wrong with the outcome.
func (op *operation) mergePlain(from *storage.Object) *unstructured.Unstructured {
	var change map[string]any
	if op.request.PatchType != types.MergePatchType || jsontree.Decode(op.request.Body, &change) != nil || change == nil || !jsontree.IsPlain(change) {
		return nil
	}
	patched := mergeFields(from.Shown(op.request.Kind.GroupVersion().String(), from.Version), change)
	op.read = op.resource.DecodePlain(jsontree.Canonical(patched), op.request.Kind.Version)
	return op.read.Object
}

// mergeFields returns an object with a merge patch applied (RFC 7386). It shares what
// neither of them changes.
func mergeFields(fields, change map[string]any) map[string]any {
	merged := maps.Clone(fields)
	if merged == nil {
		merged = map[string]any{}
	}
	for name, value := range change {
		below, isObject := value.(map[string]any)
		old, wasObject := merged[name].(map[string]any)
		switch {
		case value == nil:
			delete(merged, name)
		case isObject:
			merged[name] = mergeFields(old, below)
		case wasObject:
			// What takes the place of an object is stored as it is, nulls in lists included.
			merged[name] = value
		default:
			merged[name] = withoutNulls(value)
		}
	}
	return merged
}

// withoutNulls returns a value of a patch with the fields left out that are null, which
// are not to be there.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return mergeFields(nil, value)
	case []any:
		items := slices.Clone(value)
		for i, item := range items {
			items[i] = withoutNulls(item)
		}
		return items
	}
	return value
}
