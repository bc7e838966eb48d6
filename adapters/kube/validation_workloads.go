package kube

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	spec := field.NewPath("spec")
	errs := notNegative(d.Spec.Replicas, spec.Child("replicas"))
	errs = append(errs, validateSelector(d.Spec.Selector, "deployment", spec.Child("selector"))...)
	errs = append(errs, validateSelected(d.Spec.Selector, &d.Spec.Template, spec.Child("template"))...)
	errs = append(errs, validateRunning(&d.Spec.Template, spec.Child("template"))...)
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
	return append(errs, validateRunning(&r.Spec.Template, spec.Child("template"))...)
}

func validateStatefulSet(s *appsv1.StatefulSet) field.ErrorList {
	spec := field.NewPath("spec")
	errs := notNegative(s.Spec.Replicas, spec.Child("replicas"))
	errs = append(errs, notNegative(&s.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	errs = append(errs, validateSelector(s.Spec.Selector, "statefulset", spec.Child("selector"))...)
	errs = append(errs, validateSelected(s.Spec.Selector, &s.Spec.Template, spec.Child("template"))...)
	// The volumes of the claims are there as well when the Pods are made.
	template := s.Spec.Template.DeepCopy()
	for _, claim := range s.Spec.VolumeClaimTemplates {
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: claim.Name})
	}
	return append(errs, validateRunning(template, spec.Child("template"))...)
}

func validateDaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateSelector(d.Spec.Selector, "daemonset", spec.Child("selector"))
	errs = append(errs, validateSelected(d.Spec.Selector, &d.Spec.Template, spec.Child("template"))...)
	errs = append(errs, validateRunning(&d.Spec.Template, spec.Child("template"))...)
	return append(errs, notNegative(&d.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
}
