package kube

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validatePod(p *corev1.Pod) field.ErrorList {
	return validatePodSpec(&p.Spec, field.NewPath("spec"))
}

// validatePodSpec checks a Pod, or a template of Pods.
func validatePodSpec(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	volumes := map[string]bool{}
	var errs field.ErrorList
	for i, v := range spec.Volumes {
		at := path.Child("volumes").Index(i).Child("name")
		errs = append(errs, validateLabelName(v.Name, at)...)
		if volumes[v.Name] {
			errs = append(errs, field.Duplicate(at, v.Name))
		}
		volumes[v.Name] = true
	}
	if len(spec.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), ""))
	}
	names := map[string]bool{}
	errs = append(errs, validateContainers(spec.Containers, names, volumes, path.Child("containers"))...)
	errs = append(errs, validateContainers(spec.InitContainers, names, volumes, path.Child("initContainers"))...)
	policies := []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}
	if !slices.Contains(policies, spec.RestartPolicy) {
		errs = append(errs, field.NotSupported(path.Child("restartPolicy"), spec.RestartPolicy, policies))
	}
	return append(errs, metav1validation.ValidateLabels(spec.NodeSelector, path.Child("nodeSelector"))...)
}

// validateContainers checks containers and adds their names to those that there are.
func validateContainers(containers []corev1.Container, names, volumes map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, c := range containers {
		at := path.Index(i)
		errs = append(errs, validateLabelName(c.Name, at.Child("name"))...)
		if c.Image == "" {
			errs = append(errs, field.Required(at.Child("image"), ""))
		}
		for j, e := range c.Env {
			if e.Name == "" {
				errs = append(errs, field.Required(at.Child("env").Index(j).Child("name"), ""))
			}
		}
		for j, m := range c.VolumeMounts {
			mount := at.Child("volumeMounts").Index(j)
			switch {
			case m.Name == "":
				errs = append(errs, field.Required(mount.Child("name"), ""))
			case !volumes[m.Name]:
				errs = append(errs, field.NotFound(mount.Child("name"), m.Name))
			}
			if m.MountPath == "" {
				errs = append(errs, field.Required(mount.Child("mountPath"), ""))
			}
		}
		if names[c.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		names[c.Name] = true
	}
	return errs
}

// validateTemplate checks a template of Pods.
func validateTemplate(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(template.Labels, path.Child("labels"))
	return append(errs, validatePodSpec(&template.Spec, path.Child("spec"))...)
}

// validateRunning checks a template whose Pods run for as long as they are wanted.
func validateRunning(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	errs := validateTemplate(template, path)
	if template.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), template.Spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
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
