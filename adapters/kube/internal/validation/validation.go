package validation

import (
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// A server checks the same more than once, and tells so in the causes of a refusal.
// Clients that look for a cause find it here as often as there.

// Create returns what is wrong with a new object that was sent in a version. typed
// is what the spec says as its Go type, nil if that is not known.
func Create(r *kinds.Resource, object *unstructured.Unstructured, typed runtime.Object, version string) field.ErrorList {
	metadata := field.NewPath("metadata")
	var errs field.ErrorList
	if !validatedLate(r) {
		errs = validation.ValidateObjectMetaAccessor(described{object}, r.Namespaced, nameRule(r), metadata)
	}
	if s := r.Schemas[version]; s != nil {
		errs = s.ValidateCreate(errs, object.Object, r.Scale)
	}
	if !r.Custom {
		errs = append(errs, validateFinalizers(r, object)...)
		errs = append(errs, validateSpec(r, object, typed, true)...)
	}
	if len(errs) > 0 {
		return errs
	}
	return validation.ValidateObjectMetaAccessor(described{object}, r.Namespaced, path.ValidatePathSegmentName, metadata)
}

// Update returns what is wrong with the new form of an object that was sent in
// a version to a subresource. typed is what the spec says as its Go type, nil if that is
// not known.
func Update(r *kinds.Resource, object, current *unstructured.Unstructured, typed runtime.Object, version, subresource string) field.ErrorList {
	metadata := field.NewPath("metadata")
	common := validation.ValidateObjectMetaAccessor(described{object}, r.Namespaced, path.ValidatePathSegmentName, metadata)
	errs := validation.ValidateObjectMetaAccessorUpdate(described{object}, described{current}, metadata)
	common = append(common, errs...)
	if validatedLate(r) || subresource == "" && validatedOnlyAnew(r) {
		errs = nil
	}
	s := r.Schemas[version]
	switch {
	case !r.Custom:
		errs = append(errs, validateBuiltinUpdate(r, object, current, typed, subresource)...)
	case s == nil:
	case subresource == kinds.StatusSubresource:
		errs = s.ValidateStatus(errs, object.Object, current.Object, r.Scale)
	default:
		errs = s.ValidateUpdate(errs, object.Object, current.Object, r.Scale)
	}
	return append(common, errs...)
}

// validateBuiltinUpdate returns what one of Kubernetes' own kinds has against an update.
func validateBuiltinUpdate(r *kinds.Resource, object, current *unstructured.Unstructured, typed runtime.Object, subresource string) field.ErrorList {
	var errs field.ErrorList
	switch {
	case subresource != "" || !validatedOnlyAnew(r):
		errs = validateFinalizers(r, object)
	case r.Name == kinds.Volume:
		errs = validateAnew(r, object, typed) // and once more below
	}
	if r.Name == kinds.SigningRequest {
		return append(errs, validateSigningChanges(object, current, subresource)...)
	}
	switch subresource {
	case kinds.EphemeralSubresource:
		return append(errs, validateEphemeral(object, current)...)
	case kinds.StatusSubresource:
		switch r.Name {
		case kinds.Job:
			return append(errs, validateJobStatus(object, current)...)
		case kinds.Namespace:
			return append(errs, validatePhase(object)...)
		}
		errs = append(errs, validateImmutable(r, object, current)...)
		return append(errs, validateStatus(r, object, current)...)
	}
	errs = append(errs, validateImmutable(r, object, current)...)
	switch r.Name {
	case kinds.Job:
		errs = append(errs, validateJobUpdate(object, current)...)
	case kinds.PriorityClass:
		return errs
	}
	if validatedAnew(r) {
		return append(errs, validateAnew(r, object, typed)...)
	}
	return append(errs, validateSpec(r, object, typed, false)...)
}

// validateAnew returns what is wrong with an object of one of Kubernetes' own kinds if it is taken for a new one.
func validateAnew(r *kinds.Resource, object *unstructured.Unstructured, typed runtime.Object) field.ErrorList {
	errs := validation.ValidateObjectMetaAccessor(described{object}, r.Namespaced, nameRule(r), field.NewPath("metadata"))
	errs = append(errs, validateFinalizers(r, object)...)
	return append(errs, validateSpec(r, object, typed, false)...)
}

// validatedLate reports whether the metadata of a kind are only looked at where those of all
// kinds are: a mistake elsewhere is told alone.
func validatedLate(r *kinds.Resource) bool { return r.Name == "Event" || r.Name == kinds.Budget }

// validatedOnlyAnew reports whether an update of an object of a kind is not compared with what was
// there, but where that is done for all kinds.
func validatedOnlyAnew(r *kinds.Resource) bool {
	switch r.Name {
	case kinds.EndpointSlice, kinds.Volume,
		"MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io":
		return true
	}
	return false
}

// validatedAnew reports whether an update of an object of a kind has its metadata validated as
// those of a new one once more.
func validatedAnew(r *kinds.Resource) bool {
	switch r.Name {
	case "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps", "CronJob.batch", "Lease.coordination.k8s.io", kinds.Service,
		"HorizontalPodAutoscaler.autoscaling", "NetworkPolicy.networking.k8s.io", kinds.Budget, "Event", "ResourceQuota":
		return false
	}
	return true
}
