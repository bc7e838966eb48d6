package validation

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// How long the lists in the policies of a Job can be, and the text of its indexes.
const (
	maxRules         = 20
	maxExitCodes     = 255
	maxPodConditions = 20
	maxIndexesText   = 64 << 10
)

// validateFailurePolicy checks the policy for what a failed Pod means.
func validateFailurePolicy(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	if s.PodFailurePolicy == nil {
		return nil
	}
	rules := path.Child("rules")
	var errs field.ErrorList
	if n := len(s.PodFailurePolicy.Rules); n > maxRules {
		errs = append(errs, field.TooMany(rules, n, maxRules))
	}
	var containers []string
	for _, c := range slices.Concat(s.Template.Spec.Containers, s.Template.Spec.InitContainers) {
		containers = append(containers, c.Name)
	}
	for i, rule := range s.PodFailurePolicy.Rules {
		at := rules.Index(i)
		errs = append(errs, validateAction(rule.Action, s.BackoffLimitPerIndex != nil, at.Child("action"))...)
		if rule.OnExitCodes != nil {
			errs = append(errs, validateExitCodes(rule.OnExitCodes, containers, at.Child("onExitCodes"))...)
		}
		errs = append(errs, validatePodConditions(rule.OnPodConditions, at.Child("onPodConditions"))...)
		switch byCode, byCondition := rule.OnExitCodes != nil, len(rule.OnPodConditions) > 0; {
		case byCode && byCondition:
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported"))
		case !byCode && !byCondition:
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required"))
		}
	}
	return errs
}

func validateAction(action batchv1.PodFailurePolicyAction, perIndex bool, path *field.Path) field.ErrorList {
	known := []batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
	}
	if action == batchv1.PodFailurePolicyActionFailIndex && !perIndex {
		return field.ErrorList{field.Invalid(path, action, "requires the backoffLimitPerIndex to be set")}
	}
	return oneOf(action, known, path)
}

// oneOf checks a value that must be there and among those that are known, which are in
// order.
func oneOf[T ~string](value T, known []T, path *field.Path) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(path, fmt.Sprintf("valid values: %q", known))}
	case !slices.Contains(known, value):
		return field.ErrorList{field.NotSupported(path, value, known)}
	}
	return nil
}

func validateExitCodes(r *batchv1.PodFailurePolicyOnExitCodesRequirement, containers []string, path *field.Path) field.ErrorList {
	errs := oneOf(r.Operator, []batchv1.PodFailurePolicyOnExitCodesOperator{batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}, path.Child("operator"))
	if r.ContainerName != nil && !slices.Contains(containers, *r.ContainerName) {
		errs = append(errs, field.Invalid(path.Child("containerName"), *r.ContainerName, "must be one of the container or initContainer names in the pod template"))
	}
	values := path.Child("values")
	switch n := len(r.Values); {
	case n == 0:
		errs = append(errs, field.Invalid(values, r.Values, "at least one value is required"))
	case n > maxExitCodes:
		errs = append(errs, field.TooMany(values, n, maxExitCodes))
	}
	for i, code := range r.Values {
		if r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && code == 0 {
			errs = append(errs, field.Invalid(values.Index(i), code, "must not be 0 for the In operator"))
		}
		if slices.Contains(r.Values[:i], code) {
			errs = append(errs, field.Duplicate(values.Index(i), code))
		}
	}
	if !slices.IsSorted(r.Values) {
		errs = append(errs, field.Invalid(values, r.Values, "must be ordered"))
	}
	return errs
}

func validatePodConditions(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := len(patterns); n > maxPodConditions {
		errs = append(errs, field.TooMany(path, n, maxPodConditions))
	}
	for i, p := range patterns {
		errs = append(errs, metav1validation.ValidateLabelName(string(p.Type), path.Index(i).Child("type"))...)
		known := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
		errs = append(errs, oneOf(p.Status, known, path.Index(i).Child("status"))...)
	}
	return errs
}

// validateSuccessPolicy checks the policy for when enough Pods have succeeded.
func validateSuccessPolicy(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	switch {
	case s.SuccessPolicy == nil:
		return nil
	case !indexed(s):
		return field.ErrorList{field.Invalid(path, *s.SuccessPolicy, "requires indexed completion mode")}
	case s.Completions == nil:
		return nil // That is refused already.
	}
	rules := path.Child("rules")
	var errs field.ErrorList
	switch n := len(s.SuccessPolicy.Rules); {
	case n == 0:
		errs = append(errs, field.Required(rules, "at least one rules must be specified when the successPolicy is specified"))
	case n > maxRules:
		errs = append(errs, field.TooMany(rules, n, maxRules))
	}
	for i, rule := range s.SuccessPolicy.Rules {
		errs = append(errs, validateSuccessRule(rule, *s.Completions, rules.Index(i))...)
	}
	return errs
}

func validateSuccessRule(rule batchv1.SuccessPolicyRule, completions int32, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if rule.SucceededCount == nil && rule.SucceededIndexes == nil {
		errs = append(errs, field.Required(path, "at least one of succeededCount or succeededIndexes must be specified"))
	}
	var total int32
	if text := rule.SucceededIndexes; text != nil {
		at := path.Child("succeededIndexes")
		if len(*text) > maxIndexesText {
			errs = append(errs, field.TooLong(at, "", maxIndexesText))
		}
		list, err := parseIndexes(*text, completions)
		if err != nil {
			errs = append(errs, field.Invalid(at, *text, "error parsing succeededIndexes: "+err.Error()))
		}
		total = list.count()
	}
	if n := rule.SucceededCount; n != nil {
		at := path.Child("succeededCount")
		errs = append(errs, notNegative(n, at)...)
		if *n > completions {
			errs = append(errs, field.Invalid(at, *n, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions)))
		}
		if rule.SucceededIndexes != nil && *n > total {
			errs = append(errs, field.Invalid(at, *n, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total)))
		}
	}
	return errs
}
