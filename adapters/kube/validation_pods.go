package kube

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateSelector checks a selector that must be there. It must select something.
func validateSelector(selector *metav1.LabelSelector, of string, path *field.Path) field.ErrorList {
	if selector == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	errs := metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(path, selector, "empty selector is invalid for "+of))
	}
	return errs
}

// validateSelected checks that a selector selects the Pods of a template. An empty one
// does, and a missing one does not.
func validateSelected(selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil || parsed.Empty() || parsed.Matches(labels.Set(template.Labels)) {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("metadata", "labels"), template.Labels, "`selector` does not match template `labels`")}
}
