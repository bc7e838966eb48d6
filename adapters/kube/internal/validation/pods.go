package validation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// validatePodChanges refuses changes of a Pod other than of images, of deadlines, of
// tolerations and of scheduling gates. A Pod with gates may change its node
// selection too.
func validatePodChanges(object, current *unstructured.Unstructured) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	for _, name := range []string{"containers", "initContainers"} {
		containers := jsontree.ListAt(object, "spec", name)
		if len(containers) != len(jsontree.ListAt(current, "spec", name)) {
			return append(errs, field.Forbidden(spec.Child(name), "pod updates may not add or remove containers"))
		}
		errs = append(errs, validateImages(containers, spec.Child(name))...)
	}
	late, ok := validateDeadline(object, current)
	if errs = append(errs, late...); !ok {
		return errs
	}
	errs = append(errs, validateTolerations(object, current)...)
	errs = append(errs, validateGates(object, current)...)
	changeable := []string{"activeDeadlineSeconds", "tolerations", "schedulingGates"}
	if len(jsontree.ListAt(current, "spec", "schedulingGates")) > 0 {
		changeable = append(changeable, "nodeSelector", "affinity")
	}
	fixed := func(pod *unstructured.Unstructured) map[string]any {
		rest := jsontree.Without(jsontree.At(pod, "spec"), changeable...)
		for _, name := range []string{"containers", "initContainers"} {
			var containers []any
			for _, container := range jsontree.ListAt(pod, "spec", name) {
				containers = append(containers, jsontree.Without(container, "image"))
			}
			rest[name] = containers
		}
		return rest
	}
	if jsontree.Same(fixed(object), fixed(current)) {
		return errs
	}
	return append(errs, field.Forbidden(spec, "pod updates may not change fields other than `spec.containers[*].image`,"+
		"`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"+
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"))
}

// validateImages checks what can be changed of containers.
func validateImages(containers []any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, container := range containers {
		switch image, _ := jsontree.Without(container)["image"].(string); {
		case image == "":
			errs = append(errs, field.Required(path.Index(i).Child("image"), ""))
		case strings.TrimSpace(image) != image:
			errs = append(errs, field.Invalid(path.Index(i).Child("image"), image, "must not have leading or trailing whitespace"))
		}
	}
	return errs
}

// validateDeadline checks that the deadline of a Pod only comes nearer. It returns false
// if a server looks no further.
func validateDeadline(object, current *unstructured.Unstructured) (field.ErrorList, bool) {
	path := field.NewPath("spec", "activeDeadlineSeconds")
	to, set := jsontree.At(object, "spec", "activeDeadlineSeconds").(int64)
	from, was := jsontree.At(current, "spec", "activeDeadlineSeconds").(int64)
	switch {
	case set && (to < 0 || to > math.MaxInt32):
		return field.ErrorList{field.Invalid(path, to, utilvalidation.InclusiveRangeError(0, math.MaxInt32))}, false
	case set && was && from < to:
		return field.ErrorList{field.Invalid(path, to, "must be less than or equal to previous value")}, false
	case was && !set:
		return field.ErrorList{field.Invalid(path, nil, "must not update from a positive integer to nil value")}, true
	}
	return nil, true
}

// validateTolerations checks that tolerations are only added, or last for another time.
func validateTolerations(object, current *unstructured.Unstructured) field.ErrorList {
	wanted := jsontree.ListAt(object, "spec", "tolerations")
	for _, old := range jsontree.ListAt(current, "spec", "tolerations") {
		kept := slices.ContainsFunc(wanted, func(t any) bool {
			return jsontree.Same(jsontree.Without(t, "tolerationSeconds"), jsontree.Without(old, "tolerationSeconds"))
		})
		if !kept {
			return field.ErrorList{field.Forbidden(field.NewPath("spec", "tolerations"), "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return nil
}

// validateGates checks that the gates of a Pod are only taken away.
func validateGates(object, current *unstructured.Unstructured) field.ErrorList {
	had := map[any]bool{}
	for _, gate := range jsontree.ListAt(current, "spec", "schedulingGates") {
		had[jsontree.Without(gate)["name"]] = true
	}
	var errs field.ErrorList
	for i, gate := range jsontree.ListAt(object, "spec", "schedulingGates") {
		if name := jsontree.Without(gate)["name"]; !had[name] {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "schedulingGates").Index(i).Child("name"),
				fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", name)))
		}
	}
	return errs
}

// validateEphemeral refuses changes of ephemeral containers that are there: there can
// only be more of them.
func validateEphemeral(object, current *unstructured.Unstructured) field.ErrorList {
	wanted := map[any]any{}
	for _, container := range jsontree.ListAt(object, "spec", "ephemeralContainers") {
		wanted[jsontree.Without(container)["name"]] = container
	}
	path := field.NewPath("spec", "ephemeralContainers")
	var errs field.ErrorList
	for i, container := range jsontree.ListAt(current, "spec", "ephemeralContainers") {
		switch name := jsontree.Without(container)["name"]; {
		case wanted[name] == nil:
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", name)))
		case !jsontree.Same(wanted[name], container):
			errs = append(errs, field.Forbidden(path.Index(i), fmt.Sprintf("existing ephemeral containers %q may not be changed\n", name)))
		}
	}
	return errs
}
