package kube

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// prepareCreate does to a new object what the server does to those of its kind. It
// has a uid already.
func (r *resource) prepareCreate(object *unstructured.Unstructured) {
	if r.status {
		delete(object.Object, "status")
	}
	if r.hasGeneration() {
		object.SetGeneration(1)
	}
	switch r.name {
	case "Pod", "PersistentVolume", "PersistentVolumeClaim":
		object.Object["status"] = map[string]any{"phase": "Pending"}
	case namespaceKind:
		object.Object["status"] = map[string]any{"phase": string(corev1.NamespaceActive)}
		finalizers := namespaceFinalizers(object)
		if !slices.Contains(finalizers, any(string(corev1.FinalizerKubernetes))) {
			setNested(object.Object, append(finalizers, string(corev1.FinalizerKubernetes)), "spec", "finalizers")
		}
	case "Job.batch":
		selectOwnPods(object)
	}
}

// namespaceFinalizers are the finalizers in the spec of a Namespace.
func namespaceFinalizers(object *unstructured.Unstructured) []any {
	spec, _ := object.Object["spec"].(map[string]any)
	finalizers, _ := spec["finalizers"].([]any)
	return finalizers
}

// selectOwnPods gives a Job, unless it has a selector of its own, the one by its uid.
func selectOwnPods(job *unstructured.Unstructured) {
	if manual, _, _ := unstructured.NestedBool(job.Object, "spec", "manualSelector"); manual {
		return
	}
	uid := string(job.GetUID())
	for name, value := range map[string]string{
		"controller-uid":                     uid,
		"batch.kubernetes.io/controller-uid": uid,
		"job-name":                           job.GetName(),
		"batch.kubernetes.io/job-name":       job.GetName(),
	} {
		setNested(job.Object, value, "spec", "template", "metadata", "labels", name)
	}
	setNested(job.Object, uid, "spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid")
}

// setNested sets a field, and makes the objects on the way to it where they are missing.
func setNested(tree map[string]any, value any, fields ...string) {
	for _, name := range fields[:len(fields)-1] {
		below, ok := tree[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			tree[name] = below
		}
		tree = below
	}
	tree[fields[len(fields)-1]] = value
}

// prepareUpdate keeps what an update of the object itself cannot change.
func (r *resource) prepareUpdate(object, current *unstructured.Unstructured) {
	if !r.status {
		return
	}
	delete(object.Object, "status")
	if status, ok := current.Object["status"]; ok {
		object.Object["status"] = status
	}
}

// prepareStatus keeps what an update of the status cannot change: all but the
// status, and of the metadata what the kind protects there.
func (r *resource) prepareStatus(object, current *unstructured.Unstructured) {
	status, hasStatus := object.Object["status"]
	metadata := object.Object["metadata"]
	clear(object.Object)
	for name, value := range current.Object {
		object.Object[name] = value
	}
	delete(object.Object, "status")
	if hasStatus {
		object.Object["status"] = status
	}
	if r.custom {
		return
	}
	switch r.name {
	case "FlowSchema.flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io",
		"CustomResourceDefinition.apiextensions.k8s.io",
		"DeviceTaintRule.resource.k8s.io", "PodCertificateRequest.certificates.k8s.io",
		"ResourceClaim.resource.k8s.io", "ServiceCIDR.networking.k8s.io",
		"StorageVersion.internal.apiserver.k8s.io", "StorageVersionMigration.storagemigration.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io", "VolumeAttachment.storage.k8s.io":
		return
	}
	object.Object["metadata"] = metadata
	switch r.name {
	case "Deployment.apps":
		object.SetLabels(current.GetLabels())
	case "Pod":
		object.SetDeletionTimestamp(nil)
		object.SetOwnerReferences(current.GetOwnerReferences())
	}
}

// validateCreate returns what is wrong with a new object that was sent in a version.
func (r *resource) validateCreate(object *unstructured.Unstructured, version string) field.ErrorList {
	metadata := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessor(object, r.namespaced, r.nameRule(), metadata)
	if s := r.schemas[version]; s != nil {
		errs = append(errs, s.validate(object.Object, nil)...)
	}
	if len(errs) > 0 {
		return errs
	}
	return validation.ValidateObjectMetaAccessor(object, r.namespaced, path.ValidatePathSegmentName, metadata)
}

// validateUpdate returns what is wrong with the new form of an object that was sent in
// a version.
func (r *resource) validateUpdate(object, current *unstructured.Unstructured, version string) field.ErrorList {
	metadata := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessor(object, r.namespaced, path.ValidatePathSegmentName, metadata)
	errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(object, current, metadata)...)
	errs = append(errs, r.validateImmutable(object, current)...)
	if s := r.schemas[version]; s != nil {
		errs = append(errs, s.validate(object.Object, current.Object)...)
	}
	return errs
}
