package kube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// alignSources makes the two fields for what a claim is filled with say the same. The older
// one can name a claim or a snapshot and nothing else. A source in another namespace is not kept, since
// its feature gate is off. What an update finds stays.
func alignSources(object, current *unstructured.Unstructured) {
	if current != nil && (jsontree.At(current, "spec", "dataSource") != nil || jsontree.At(current, "spec", "dataSourceRef") != nil) {
		return
	}
	spec, _ := jsontree.At(object, "spec").(map[string]any)
	source, _ := spec["dataSource"].(map[string]any)
	if source != nil && !isOldSource(source) {
		source = nil
		delete(spec, "dataSource")
	}
	reference, _ := spec["dataSourceRef"].(map[string]any)
	if namespace, _ := reference["namespace"].(string); namespace != "" {
		reference = nil
		delete(spec, "dataSourceRef")
	}
	switch {
	case source != nil && reference == nil:
		spec["dataSourceRef"] = runtime.DeepCopyJSON(source)
	case source == nil && reference != nil:
		spec["dataSource"] = jsontree.Without(runtime.DeepCopyJSON(reference), "namespace")
	}
}

// isOldSource tells whether dataSource could name something before dataSourceRef was there.
func isOldSource(source map[string]any) bool {
	group, _ := source["apiGroup"].(string)
	switch group {
	case "":
		return source["kind"] == string(kinds.Claim)
	case "snapshot.storage.k8s.io":
		return source["kind"] == "VolumeSnapshot"
	}
	return false
}
