package validation

import (
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// validateClaimChanges refuses changes of a claim other than the binding to its volume,
// the class of one that has none, and, once it is bound, its size and class of attributes.
func validateClaimChanges(object, current *unstructured.Unstructured) field.ErrorList {
	var changeable []string
	if volume, _ := jsontree.At(current, "spec", "volumeName").(string); volume == "" {
		changeable = append(changeable, "volumeName")
	}
	const classAnnotation = "volume.beta.kubernetes.io/storage-class"
	if _, annotated := current.GetAnnotations()[classAnnotation]; !annotated && jsontree.At(current, "spec", "storageClassName") == nil {
		changeable = append(changeable, "storageClassName")
	}
	if jsontree.At(current, "status", "phase") == "Bound" {
		changeable = append(changeable, "resources", "volumeAttributesClassName")
	}
	errs := onlyChanged(object, current,
		"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims", changeable...)
	size := []string{"spec", "resources", "requests", "storage"}
	have := quantityAt(current, "status", "capacity", "storage")
	if asked := quantityAt(object, size...); asked.Cmp(quantityAt(current, size...)) < 0 && asked.Cmp(have) <= 0 {
		errs = append(errs, field.Forbidden(field.NewPath(size[0], size[1:]...), "field can not be less than status.capacity"))
	}
	return append(errs, sameMode(object, current)...)
}

// quantityAt reads a quantity by its path, zero if it is not there.
func quantityAt(object *unstructured.Unstructured, path ...string) apiresource.Quantity {
	text, _ := jsontree.At(object, path...).(string)
	quantity, err := apiresource.ParseQuantity(text)
	if err != nil {
		return apiresource.Quantity{}
	}
	return quantity
}

// sameMode refuses another mode of a volume. A server leaves out where in the object that is.
func sameMode(object, current *unstructured.Unstructured) field.ErrorList {
	const mode = "volumeMode"
	if jsontree.At(object, "spec", mode) == jsontree.At(current, "spec", mode) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(mode), jsontree.At(object, "spec", mode), validation.FieldImmutableErrorMsg)}
}

// validateVolumeChanges refuses changes of where the contents of a volume are.
func validateVolumeChanges(object, current *unstructured.Unstructured) field.ErrorList {
	others := []string{
		"accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
		"storageClassName", "volumeAttributesClassName", "volumeMode",
	}
	var errs field.ErrorList
	if !jsontree.Same(jsontree.Without(jsontree.At(object, "spec"), others...), jsontree.Without(jsontree.At(current, "spec"), others...)) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "persistentvolumesource"), "spec.persistentvolumesource is immutable after creation"))
	}
	errs = append(errs, sameMode(object, current)...)
	if affinity := jsontree.At(current, "spec", "nodeAffinity"); affinity != nil && !jsontree.Same(jsontree.At(object, "spec", "nodeAffinity"), affinity) {
		errs = append(errs, field.Invalid(field.NewPath("nodeAffinity"), jsontree.At(object, "spec", "nodeAffinity"),
			validation.FieldImmutableErrorMsg+", except for updating from beta label to GA"))
	}
	return errs
}

// validateNodeChanges refuses changes of what a Node is given once.
func validateNodeChanges(object, current *unstructured.Unstructured) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if addresses := jsontree.ListAt(current, "spec", "podCIDRs"); len(addresses) > 0 && !jsontree.Same(jsontree.ListAt(object, "spec", "podCIDRs"), addresses) {
		errs = append(errs, field.Forbidden(spec.Child("podCIDRs"), `node updates may not change podCIDR except from "" to valid`))
	}
	if id, _ := jsontree.At(current, "spec", "providerID").(string); id != "" && jsontree.At(object, "spec", "providerID") != id {
		errs = append(errs, field.Forbidden(spec.Child("providerID"), `node updates may not change providerID except from "" to valid`))
	}
	if jsontree.At(object, "spec", "externalID") != jsontree.At(current, "spec", "externalID") {
		errs = append(errs, field.Forbidden(spec.Child("externalID"), "may not be updated"))
	}
	return errs
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
	modes := []storagev1.VolumeBindingMode{storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer}
	if mode := c.VolumeBindingMode; mode != nil && !slices.Contains(modes, *mode) {
		errs = append(errs, field.NotSupported(field.NewPath("volumeBindingMode"), *mode, modes))
	}
	return errs
}
