package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validatePriorityClass(c *schedulingv1.PriorityClass) field.ErrorList {
	const (
		reserved = "system-"
		highest  = 1_000_000_000
	)
	var errs field.ErrorList
	switch system := SystemPriority(c.Name); {
	case strings.HasPrefix(c.Name, reserved) && (system == 0 || system != c.Value || c.GlobalDefault):
		errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"),
			"priority class names with '"+reserved+"' prefix are reserved for system use only. error: "+whyNotSystem(c, system)))
	case !strings.HasPrefix(c.Name, reserved) && c.Value > highest:
		errs = append(errs, field.Forbidden(field.NewPath("value"), fmt.Sprintf("maximum allowed value of a user defined priority is %d", highest)))
	}
	policies := []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever}
	switch policy := field.NewPath("preemptionPolicy"); {
	case c.PreemptionPolicy == nil, slices.Contains(policies, *c.PreemptionPolicy):
	case *c.PreemptionPolicy == "":
		errs = append(errs, field.Required(policy, ""))
	default:
		errs = append(errs, field.NotSupported(policy, *c.PreemptionPolicy, policies))
	}
	return errs
}

// SystemPriority is the priority of a class that is there in every cluster, 0 for others.
func SystemPriority(class string) int32 {
	switch class {
	case "system-cluster-critical":
		return 2_000_000_000
	case "system-node-critical":
		return 2_000_001_000
	}
	return 0
}

// whyNotSystem says why a class is not the one of its name that is there in every cluster.
func whyNotSystem(c *schedulingv1.PriorityClass, system int32) string {
	switch {
	case system == 0:
		return c.Name + " is not a known system priority class"
	case system != c.Value:
		return fmt.Sprintf("value of %v PriorityClass must be %v", c.Name, system)
	}
	return fmt.Sprintf("globalDefault of %v PriorityClass must be false", c.Name)
}

func validateRuntimeClass(c *nodev1.RuntimeClass) field.ErrorList {
	return validateLabelName(c.Handler, field.NewPath("handler"))
}

func validateNode(n *corev1.Node) field.ErrorList {
	// A server says that taints are in the metadata.
	taints := field.NewPath("metadata", "taints")
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	seen := map[corev1.Taint]bool{}
	var errs field.ErrorList
	for i, taint := range n.Spec.Taints {
		at := taints.Index(i)
		errs = append(errs, metav1validation.ValidateLabelName(taint.Key, at.Child("key"))...)
		if wrong := utilvalidation.IsValidLabelValue(taint.Value); len(wrong) > 0 {
			errs = append(errs, field.Invalid(at.Child("value"), taint.Value, strings.Join(wrong, ";")))
		}
		switch {
		case taint.Effect == "":
			errs = append(errs, field.Required(at.Child("effect"), ""))
		case !slices.Contains(effects, taint.Effect):
			errs = append(errs, field.NotSupported(at.Child("effect"), taint.Effect, effects))
		}
		key := corev1.Taint{Key: taint.Key, Effect: taint.Effect}
		if seen[key] {
			twice := field.Duplicate(at, taint)
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
		seen[key] = true
	}
	return errs
}

func validateBudget(b *policyv1.PodDisruptionBudget) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if b.Spec.MinAvailable != nil && b.Spec.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(spec, b.Spec, "minAvailable and maxUnavailable cannot be both set"))
	}
	if b.Spec.MinAvailable != nil {
		errs = append(errs, validateShare(*b.Spec.MinAvailable, spec.Child("minAvailable"))...)
	}
	if b.Spec.MaxUnavailable != nil {
		errs = append(errs, validateShare(*b.Spec.MaxUnavailable, spec.Child("maxUnavailable"))...)
	}
	errs = append(errs, metav1validation.ValidateLabelSelector(b.Spec.Selector, metav1validation.LabelSelectorValidationOptions{}, spec.Child("selector"))...)
	policies := []policyv1.UnhealthyPodEvictionPolicyType{policyv1.AlwaysAllow, policyv1.IfHealthyBudget}
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && !slices.Contains(policies, *policy) {
		errs = append(errs, field.NotSupported(spec.Child("unhealthyPodEvictionPolicy"), *policy, policies))
	}
	return errs
}

// validateShare checks a number of Pods, or a percentage of them.
func validateShare(share intstr.IntOrString, path *field.Path) field.ErrorList {
	if share.Type == intstr.Int {
		return notNegative(&share.IntVal, path)
	}
	var errs field.ErrorList
	for _, message := range utilvalidation.IsValidPercent(share.StrVal) {
		errs = append(errs, field.Invalid(path, share, message))
	}
	if percent, err := strconv.Atoi(strings.TrimSuffix(share.StrVal, "%")); len(errs) == 0 && err == nil && percent > 100 {
		errs = append(errs, field.Invalid(path, share, "must not be greater than 100%"))
	}
	return errs
}

func validateAutoscaler(a *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	spec := field.NewPath("spec")
	most := spec.Child("maxReplicas")
	var errs field.ErrorList
	least := a.Spec.MinReplicas
	if least != nil && *least < 1 {
		errs = append(errs, field.Invalid(spec.Child("minReplicas"), *least, "must be greater than or equal to 1"))
	}
	switch {
	case a.Spec.MaxReplicas == 0:
		errs = append(errs, field.Required(most, "must be set and greater than 0"))
	case a.Spec.MaxReplicas < 0:
		errs = append(errs, field.Invalid(most, a.Spec.MaxReplicas, "must be greater than or equal to 1"))
	}
	if least != nil && a.Spec.MaxReplicas < *least {
		errs = append(errs, field.Invalid(most, a.Spec.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	target := spec.Child("scaleTargetRef")
	errs = append(errs, validateReference(nil, a.Spec.ScaleTargetRef.Kind, a.Spec.ScaleTargetRef.Name, target)...)
	version := a.Spec.ScaleTargetRef.APIVersion
	switch parsed, err := schema.ParseGroupVersion(version); {
	case err != nil:
		errs = append(errs, field.Invalid(target.Child("apiVersion"), version, err.Error()))
	case parsed.Group == "":
		errs = append(errs, field.Invalid(target.Child("apiVersion"), version, "apiVersion must specify API group"))
	}
	return errs
}
