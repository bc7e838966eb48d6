package kube

import (
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
)

// A server checks the same more than once, and tells so in the causes of a refusal.
// Clients that look for a cause find it here as often as there.

// validateCreate returns what is wrong with a new object that was sent in a version. typed
// is what the spec says as its Go type, nil if that is not known.
func (r *resource) validateCreate(object *unstructured.Unstructured, typed runtime.Object, version string) field.ErrorList {
	metadata := field.NewPath("metadata")
	var errs field.ErrorList
	if !r.validatedLate() {
		errs = validation.ValidateObjectMetaAccessor(described{object}, r.namespaced, r.nameRule(), metadata)
	}
	if s := r.schemas[version]; s != nil {
		errs = s.validateCreate(errs, object.Object, r.scale)
	}
	if !r.custom {
		errs = append(errs, r.validateFinalizers(object)...)
		errs = append(errs, r.validateSpec(object, typed, true)...)
	}
	if len(errs) > 0 {
		return errs
	}
	return validation.ValidateObjectMetaAccessor(described{object}, r.namespaced, path.ValidatePathSegmentName, metadata)
}

// validateUpdate returns what is wrong with the new form of an object that was sent in
// a version to a subresource. typed is what the spec says as its Go type, nil if that is
// not known.
func (r *resource) validateUpdate(object, current *unstructured.Unstructured, typed runtime.Object, version, subresource string) field.ErrorList {
	metadata := field.NewPath("metadata")
	common := validation.ValidateObjectMetaAccessor(described{object}, r.namespaced, path.ValidatePathSegmentName, metadata)
	errs := validation.ValidateObjectMetaAccessorUpdate(described{object}, described{current}, metadata)
	common = append(common, errs...)
	if r.validatedLate() || subresource == "" && r.validatedOnlyAnew() {
		errs = nil
	}
	s := r.schemas[version]
	switch {
	case !r.custom:
		errs = append(errs, r.validateBuiltinUpdate(object, current, typed, subresource)...)
	case s == nil:
	case subresource == statusSubresource:
		errs = s.validateStatus(errs, object.Object, current.Object, r.scale)
	default:
		errs = s.validateUpdate(errs, object.Object, current.Object, r.scale)
	}
	return append(common, errs...)
}

// validateBuiltinUpdate returns what one of Kubernetes' own kinds has against an update.
func (r *resource) validateBuiltinUpdate(object, current *unstructured.Unstructured, typed runtime.Object, subresource string) field.ErrorList {
	var errs field.ErrorList
	switch {
	case subresource != "" || !r.validatedOnlyAnew():
		errs = r.validateFinalizers(object)
	case r.name == kindVolume:
		errs = r.validateAnew(object, typed) // and once more below
	}
	if r.name == kindSigningRequest {
		return append(errs, validateSigningChanges(object, current, subresource)...)
	}
	switch subresource {
	case ephemeralSubresource:
		return append(errs, validateEphemeral(object, current)...)
	case statusSubresource:
		switch r.name {
		case kindJob:
			return append(errs, validateJobStatus(object, current)...)
		case kindNamespace:
			return append(errs, validatePhase(object)...)
		}
		errs = append(errs, r.validateImmutable(object, current)...)
		return append(errs, r.validateStatus(object, current)...)
	}
	errs = append(errs, r.validateImmutable(object, current)...)
	switch r.name {
	case kindJob:
		errs = append(errs, validateJobUpdate(object, current)...)
	case kindPriorityClass:
		return errs
	}
	if r.validatedAnew() {
		return append(errs, r.validateAnew(object, typed)...)
	}
	return append(errs, r.validateSpec(object, typed, false)...)
}

// validateAnew returns what is wrong with an object of one of Kubernetes' own kinds if it is taken for a new one.
func (r *resource) validateAnew(object *unstructured.Unstructured, typed runtime.Object) field.ErrorList {
	errs := validation.ValidateObjectMetaAccessor(described{object}, r.namespaced, r.nameRule(), field.NewPath("metadata"))
	errs = append(errs, r.validateFinalizers(object)...)
	return append(errs, r.validateSpec(object, typed, false)...)
}

// validatedLate tells whether the metadata of a kind are only looked at where those of all
// kinds are: a mistake elsewhere is told alone.
func (r *resource) validatedLate() bool { return r.name == "Event" || r.name == kindBudget }

// validatedOnlyAnew tells whether an update of an object of a kind is not compared with what was
// there, but where that is done for all kinds.
func (r *resource) validatedOnlyAnew() bool {
	switch r.name {
	case kindEndpointSlice, kindVolume,
		"MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io":
		return true
	}
	return false
}

// validatedAnew tells whether an update of an object of a kind has its metadata validated as
// those of a new one once more.
func (r *resource) validatedAnew() bool {
	switch r.name {
	case "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps", "CronJob.batch", "Lease.coordination.k8s.io", kindService,
		"HorizontalPodAutoscaler.autoscaling", "NetworkPolicy.networking.k8s.io", kindBudget, "Event", "ResourceQuota":
		return false
	}
	return true
}

// validateFinalizers refuses finalizers that do not say whose they are. Some of
// Kubernetes' own kinds do not mind, just as custom resources.
func (r *resource) validateFinalizers(object *unstructured.Unstructured) field.ErrorList {
	switch r.group {
	case "admissionregistration.k8s.io", "coordination.k8s.io", "node.k8s.io", "policy":
		return nil
	}
	if r.validatedLate() {
		return nil
	}
	var errs field.ErrorList
	for i, finalizer := range object.GetFinalizers() {
		errs = append(errs, fieldrules.Finalizer(finalizer, field.NewPath("metadata", "finalizers").Index(i))...)
	}
	return errs
}
