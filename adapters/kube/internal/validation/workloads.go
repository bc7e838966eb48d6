package validation

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	spec := field.NewPath("spec")
	errs := notNegative(d.Spec.Replicas, spec.Child("replicas"))
	errs = append(errs, validateSelector(d.Spec.Selector, "deployment", spec.Child("selector"))...)
	errs = append(errs, validateSelected(d.Spec.Selector, &d.Spec.Template, spec.Child("template"))...)
	errs = append(errs, validateStrategy(&d.Spec.Strategy, spec.Child("strategy"))...)
	errs = append(errs, notNegative(&d.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	errs = append(errs, notNegative(d.Spec.RevisionHistoryLimit, spec.Child("revisionHistoryLimit"))...)
	if deadline := d.Spec.ProgressDeadlineSeconds; deadline != nil {
		errs = append(errs, notNegative(deadline, spec.Child("progressDeadlineSeconds"))...)
		if *deadline <= d.Spec.MinReadySeconds {
			errs = append(errs, field.Invalid(spec.Child("progressDeadlineSeconds"), *deadline, "must be greater than minReadySeconds"))
		}
	}
	return errs
}

func validateStrategy(s *appsv1.DeploymentStrategy, path *field.Path) field.ErrorList {
	switch {
	case s.Type == appsv1.RecreateDeploymentStrategyType && s.RollingUpdate != nil:
		return field.ErrorList{field.Forbidden(path.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")}
	case s.Type != appsv1.RecreateDeploymentStrategyType && s.Type != appsv1.RollingUpdateDeploymentStrategyType:
		known := []appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}
		return field.ErrorList{field.NotSupported(path.Child("type"), s.Type, known)}
	}
	return nil
}

func validateReplicaSet(r *appsv1.ReplicaSet) field.ErrorList {
	spec := field.NewPath("spec")
	errs := notNegative(r.Spec.Replicas, spec.Child("replicas"))
	errs = append(errs, notNegative(&r.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	errs = append(errs, validateSelector(r.Spec.Selector, "deployment", spec.Child("selector"))...)
	errs = append(errs, validateSelected(r.Spec.Selector, &r.Spec.Template, spec.Child("template"))...)
	return errs
}

func validateStatefulSet(s *appsv1.StatefulSet) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if policy := s.Spec.PodManagementPolicy; policy != appsv1.OrderedReadyPodManagement && policy != appsv1.ParallelPodManagement {
		errs = append(errs, field.Invalid(spec.Child("podManagementPolicy"), policy,
			fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)))
	}
	errs = append(errs, validateStatefulStrategy(&s.Spec.UpdateStrategy, spec.Child("updateStrategy"))...)
	retention := []appsv1.PersistentVolumeClaimRetentionPolicyType{
		appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
	}
	if policy := s.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		at := spec.Child("persistentVolumeClaimRetentionPolicy")
		if !slices.Contains(retention, policy.WhenDeleted) {
			errs = append(errs, field.NotSupported(at.Child("whenDeleted"), policy.WhenDeleted, retention))
		}
		if !slices.Contains(retention, policy.WhenScaled) {
			errs = append(errs, field.NotSupported(at.Child("whenScaled"), policy.WhenScaled, retention))
		}
	}
	errs = append(errs, notNegative(s.Spec.Replicas, spec.Child("replicas"))...)
	errs = append(errs, notNegative(&s.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	if s.Spec.Ordinals != nil {
		errs = append(errs, notNegative(&s.Spec.Ordinals.Start, spec.Child("ordinals.start"))...)
	}
	if s.Spec.ServiceName != "" {
		errs = append(errs, validateLabelName(s.Spec.ServiceName, spec.Child("serviceName"))...)
	}
	errs = append(errs, validateSelector(s.Spec.Selector, "statefulset", spec.Child("selector"))...)
	errs = append(errs, validateSelected(s.Spec.Selector, &s.Spec.Template, spec.Child("template"))...)
	return errs
}

func validateStatefulStrategy(s *appsv1.StatefulSetUpdateStrategy, path *field.Path) field.ErrorList {
	rolling := path.Child("rollingUpdate")
	switch {
	case s.Type == appsv1.OnDeleteStatefulSetStrategyType && s.RollingUpdate != nil:
		return field.ErrorList{field.Invalid(rolling, s.RollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")}
	case s.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return nil
	case s.Type != appsv1.RollingUpdateStatefulSetStrategyType:
		return field.ErrorList{field.Invalid(path, *s, "must be 'RollingUpdate' or 'OnDelete'")}
	case s.RollingUpdate == nil:
		return nil
	}
	errs := notNegative(s.RollingUpdate.Partition, rolling.Child("partition"))
	if most := s.RollingUpdate.MaxUnavailable; most != nil {
		errs = append(errs, validateShare(*most, rolling.Child("maxUnavailable"))...)
		if isNone(most) {
			errs = append(errs, field.Invalid(rolling.Child("maxUnavailable"), *most, "cannot be 0"))
		}
	}
	return errs
}

// isNone reports whether a number of Pods, or a percentage of them, is zero.
func isNone(share *intstr.IntOrString) bool {
	return share == nil || *share == intstr.FromInt32(0) || *share == intstr.FromString("0%")
}

func validateDaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateSelector(d.Spec.Selector, "daemonset", spec.Child("selector"))
	errs = append(errs, validateSelected(d.Spec.Selector, &d.Spec.Template, spec.Child("template"))...)
	errs = append(errs, notNegative(&d.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	errs = append(errs, validateDaemonStrategy(&d.Spec.UpdateStrategy, spec.Child("updateStrategy"))...)
	return append(errs, notNegative(d.Spec.RevisionHistoryLimit, spec.Child("revisionHistoryLimit"))...)
}

func validateDaemonStrategy(s *appsv1.DaemonSetUpdateStrategy, path *field.Path) field.ErrorList {
	switch {
	case s.Type == appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case s.Type != appsv1.RollingUpdateDaemonSetStrategyType:
		known := []appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType}
		return field.ErrorList{field.NotSupported(path, s, known)}
	}
	rolling := path.Child("rollingUpdate")
	unavailable, surge := s.RollingUpdate.MaxUnavailable, s.RollingUpdate.MaxSurge
	errs := validateShare(*unavailable, rolling.Child("maxUnavailable"))
	errs = append(errs, validateShare(*surge, rolling.Child("maxSurge"))...)
	switch {
	case !isNone(unavailable) && !isNone(surge):
		errs = append(errs, field.Invalid(rolling.Child("maxSurge"), *surge, "may not be set when maxUnavailable is non-zero"))
	case isNone(unavailable) && isNone(surge):
		errs = append(errs, field.Required(rolling.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func validateControllerRevision(r *appsv1.ControllerRevision) field.ErrorList {
	errs := notNegative(&r.Revision, field.NewPath("revision"))
	data := field.NewPath("data")
	switch text := strings.TrimSpace(string(r.Data.Raw)); {
	case text == "" || text == "null":
		errs = append(errs, field.Required(data, "data is mandatory"))
	case !strings.HasPrefix(text, "{"):
		errs = append(errs, field.Required(data, "data must be a valid JSON object"))
	}
	return errs
}

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
