package validation

import (
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// described is an object as those see it who check its metadata: of the record of
// managers they look at all but the fields and the time.
type described struct{ *unstructured.Unstructured }

// GetManagedFields implements [metav1.Object].
func (d described) GetManagedFields() []metav1.ManagedFieldsEntry {
	entries := jsontree.ListAt(d.Unstructured, "metadata", "managedFields")
	described := make([]metav1.ManagedFieldsEntry, len(entries))
	for i, entry := range entries {
		fields, _ := entry.(map[string]any)
		text := func(name string) string {
			value, _ := fields[name].(string)
			return value
		}
		described[i] = metav1.ManagedFieldsEntry{
			Manager:     text("manager"),
			Operation:   metav1.ManagedFieldsOperationType(text("operation")),
			APIVersion:  text("apiVersion"),
			FieldsType:  text("fieldsType"),
			Subresource: text("subresource"),
		}
	}
	return described
}

// validateFinalizers refuses finalizers that do not say whose they are. Some of
// Kubernetes' own kinds do not mind, just as custom resources.
func validateFinalizers(r *kinds.Resource, object *unstructured.Unstructured) field.ErrorList {
	switch r.Group {
	case "admissionregistration.k8s.io", "coordination.k8s.io", "node.k8s.io", "policy":
		return nil
	}
	if validatedLate(r) {
		return nil
	}
	var errs field.ErrorList
	for i, finalizer := range object.GetFinalizers() {
		errs = append(errs, fieldrules.Finalizer(finalizer, field.NewPath("metadata", "finalizers").Index(i))...)
	}
	return errs
}

// nameRule is the rule for names of a kind, besides that a name is a path segment.
func nameRule(r *kinds.Resource) validation.ValidateNameFunc {
	switch r.Name {
	case kinds.Namespace:
		return validation.ValidateNamespaceName
	case kinds.Service, "StatefulSet.apps":
		return validation.NameIsDNSLabel
	case "ClusterRole.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io",
		"Role.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io",
		"Event", kinds.Budget, kinds.SigningRequest, "APIService.apiregistration.k8s.io":
		return path.ValidatePathSegmentName
	}
	return validation.NameIsDNSSubdomain
}
