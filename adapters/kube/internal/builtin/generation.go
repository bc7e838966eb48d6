package builtin

import (
	"maps"
	"reflect"
	"strconv"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// nextGeneration counts the generation up if an update changes what the kind
// counts: anything but metadata and status; for custom resources without a status
// subresource the status too; for Deployments annotations and for EndpointSlices
// labels as well. That of a PriorityClass is always 1.
// changed tells that it has to be, whatever is stored.
func nextGeneration(r *kinds.Resource, object, current *unstructured.Unstructured, changed bool) {
	if !r.HasGeneration() || r.Name == kinds.PriorityClass {
		return
	}
	changed = changed || changesDesired(r, object, current)
	switch r.Name {
	case "Deployment.apps":
		changed = changed || !jsontree.Same(object.GetAnnotations(), current.GetAnnotations())
	case kinds.EndpointSlice:
		changed = changed || !jsontree.Same(object.GetLabels(), current.GetLabels())
	}
	if changed {
		object.SetGeneration(current.GetGeneration() + 1)
	}
}

// changesDesired reports whether an update changes the part that counts as generations.
func changesDesired(r *kinds.Resource, object, current *unstructured.Unstructured) bool {
	return !jsontree.Same(desired(r, object), desired(r, current))
}

// desiresEmpty reports whether what was sent has an empty list or map, of a kind for which a server takes
// it for another value than the none that is stored: each such update is a generation.
func desiresEmpty(sent runtime.Object) bool {
	switch sent := sent.(type) {
	case *networkingv1.NetworkPolicy:
		return hasEmpty(reflect.ValueOf(sent.Spec))
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		return hasEmpty(reflect.ValueOf(sent.Webhooks))
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		return hasEmpty(reflect.ValueOf(sent.Webhooks))
	}
	return false
}

// hasEmpty reports whether there is an empty list or map at or below a value.
func hasEmpty(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Pointer:
		return !value.IsNil() && hasEmpty(value.Elem())
	case reflect.Struct:
		for i := range value.NumField() {
			if hasEmpty(value.Field(i)) {
				return true
			}
		}
	case reflect.Map:
		return !value.IsNil() && value.Len() == 0
	case reflect.Slice:
		if value.IsNil() || value.Type().Elem().Kind() == reflect.Uint8 {
			return false
		}
		for i := range value.Len() {
			if hasEmpty(value.Index(i)) {
				return true
			}
		}
		return value.Len() == 0
	}
	return false
}

// desired is the part of an object whose changes count as generations.
func desired(r *kinds.Resource, object *unstructured.Unstructured) map[string]any {
	fields := make(map[string]any, len(object.Object))
	for name, value := range object.Object {
		if name == "metadata" || name == "status" && (r.Status || !r.Custom) {
			continue
		}
		fields[name] = value
	}
	return fields
}

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

// VisitTemplateGeneration calls visit for the generation of the template of a DaemonSet, and
// stores what it returns where that is different.
func VisitTemplateGeneration(tree map[string]any, visit func(int64) int64) {
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

// WithoutTemplateGeneration is the metadata of an object for those who ask for nothing else:
// a server then does not make the annotation.
func WithoutTemplateGeneration(tree map[string]any) any {
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
