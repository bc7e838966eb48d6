package kube

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// A DaemonSet counts the generations of its template as well, in an annotation that nobody
// else can change.

// templateGeneration reads the generation of a DaemonSet's template, 0 if there is none.
func templateGeneration(tree map[string]any) int64 {
	text := (&unstructured.Unstructured{Object: tree}).GetAnnotations()[appsv1.DeprecatedTemplateGeneration]
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func setTemplateGeneration(object *unstructured.Unstructured, n int64) {
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(n, 10)
	object.SetAnnotations(annotations)
}

// visitTemplateGeneration calls visit for the generation of the template of a DaemonSet, and
// stores what it returns where that is different.
func visitTemplateGeneration(tree map[string]any, visit func(int64) int64) {
	if tree["kind"] != "DaemonSet" {
		return
	}
	n := templateGeneration(tree)
	if n == 0 {
		return
	}
	if changed := visit(n); changed != n {
		setTemplateGeneration(&unstructured.Unstructured{Object: tree}, changed)
	}
}

// withoutTemplateGeneration is the metadata of an object for those who ask for nothing else:
// a server then does not make the annotation.
func withoutTemplateGeneration(tree map[string]any) any {
	metadata, _ := tree["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if _, counted := annotations[appsv1.DeprecatedTemplateGeneration]; !counted {
		return tree["metadata"]
	}
	if len(annotations) == 1 {
		return jsontree.Without(metadata, "annotations")
	}
	fields := jsontree.Without(metadata)
	fields["annotations"] = jsontree.Without(annotations, appsv1.DeprecatedTemplateGeneration)
	return fields
}
