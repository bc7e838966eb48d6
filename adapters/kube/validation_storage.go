package kube

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateClaim(c *corev1.PersistentVolumeClaim) field.ErrorList {
	return validateClaimSpec(&c.Spec, field.NewPath("spec"))
}

// validateClaimSpec checks a claim, or a template of claims.
func validateClaimSpec(spec *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(spec.AccessModes) == 0 {
		errs = append(errs, field.Required(path.Child("accessModes"), "at least 1 access mode is required"))
	}
	errs = append(errs, metav1validation.ValidateLabelSelector(spec.Selector, metav1validation.LabelSelectorValidationOptions{}, path.Child("selector"))...)
	errs = append(errs, validateAccessModes(spec.AccessModes, path.Child("accessModes"))...)
	size := path.Child("resources").Key(string(corev1.ResourceStorage))
	if asked, found := spec.Resources.Requests[corev1.ResourceStorage]; found {
		errs = append(errs, validatePositive(asked, size)...)
	} else {
		errs = append(errs, field.Required(size, ""))
	}
	if name := spec.StorageClassName; name != nil && *name != "" {
		for _, message := range validation.NameIsDNSSubdomain(*name, false) {
			errs = append(errs, field.Invalid(path.Child("storageClassName"), *name, message))
		}
	}
	modes := []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}
	if spec.VolumeMode != nil && !slices.Contains(modes, *spec.VolumeMode) {
		errs = append(errs, field.NotSupported(path.Child("volumeMode"), *spec.VolumeMode, modes))
	}
	return errs
}

func validateAccessModes(modes []corev1.PersistentVolumeAccessMode, path *field.Path) field.ErrorList {
	known := []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}
	var errs field.ErrorList
	alone, shared := false, false
	for _, mode := range modes {
		switch {
		case !slices.Contains(known, mode):
			errs = append(errs, field.NotSupported(path, mode, known))
		case mode == corev1.ReadWriteOncePod:
			alone = true
		default:
			shared = true
		}
	}
	if alone && shared {
		errs = append(errs, field.Forbidden(path, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

func validatePositive(q apiresource.Quantity, path *field.Path) field.ErrorList {
	if q.Sign() > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, q.String(), "must be greater than zero")}
}

func validateVolume(v *corev1.PersistentVolume) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if len(v.Spec.AccessModes) == 0 {
		errs = append(errs, field.Required(spec.Child("accessModes"), ""))
	}
	errs = append(errs, validateAccessModes(v.Spec.AccessModes, spec.Child("accessModes"))...)
	capacity := spec.Child("capacity")
	if len(v.Spec.Capacity) == 0 {
		errs = append(errs, field.Required(capacity, ""))
	}
	size, found := v.Spec.Capacity[corev1.ResourceStorage]
	if !found || len(v.Spec.Capacity) > 1 {
		errs = append(errs, field.NotSupported(capacity, v.Spec.Capacity, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	if found {
		errs = append(errs, validatePositive(size, capacity.Key(string(corev1.ResourceStorage)))...)
	}
	errs = append(errs, validateReclaimPolicy(&v.Spec.PersistentVolumeReclaimPolicy, spec.Child("persistentVolumeReclaimPolicy"))...)
	if v.Spec.PersistentVolumeSource == (corev1.PersistentVolumeSource{}) {
		errs = append(errs, field.Required(spec, "must specify a volume type"))
	}
	return errs
}

func validateReclaimPolicy(policy *corev1.PersistentVolumeReclaimPolicy, path *field.Path) field.ErrorList {
	known := []corev1.PersistentVolumeReclaimPolicy{
		corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain,
	}
	if policy == nil || *policy == "" || slices.Contains(known, *policy) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, *policy, known)}
}

func validateStorageClass(c *storagev1.StorageClass) field.ErrorList {
	provisioner := field.NewPath("provisioner")
	var errs field.ErrorList
	if c.Provisioner == "" {
		errs = append(errs, field.Required(provisioner, ""))
	} else {
		for _, message := range utilvalidation.IsQualifiedName(strings.ToLower(c.Provisioner)) {
			errs = append(errs, field.Invalid(provisioner, strings.ToLower(c.Provisioner), message))
		}
	}
	errs = append(errs, validateReclaimPolicy(c.ReclaimPolicy, field.NewPath("reclaimPolicy"))...)
	modes := []storagev1.VolumeBindingMode{storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer}
	if mode := c.VolumeBindingMode; mode != nil && !slices.Contains(modes, *mode) {
		errs = append(errs, field.NotSupported(field.NewPath("volumeBindingMode"), *mode, modes))
	}
	return errs
}
