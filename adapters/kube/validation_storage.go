package kube

import (
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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
	modes := []storagev1.VolumeBindingMode{storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer}
	if mode := c.VolumeBindingMode; mode != nil && !slices.Contains(modes, *mode) {
		errs = append(errs, field.NotSupported(field.NewPath("volumeBindingMode"), *mode, modes))
	}
	return errs
}
