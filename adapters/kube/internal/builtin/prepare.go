package builtin

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/adapters/kube/internal/validation"
	"github.com/orrery-dev/orrery/core"
)

// Assign gives an object what it has a claim to and others must not have, or what its
// surroundings say. current is nil for a new object.
func Assign(r *kinds.Resource, state core.Snapshot, key core.Key, object, current *unstructured.Unstructured) error {
	switch r.Name {
	case kinds.Pod:
		return admitPod(state, object, current)
	case kinds.Service:
		return allocateService(state, key, object, current)
	}
	return nil
}

// prepareCreate does to a new object what the server does to those of its kind. It
// has a uid already.
func prepareCreate(r *kinds.Resource, object *unstructured.Unstructured) {
	if r.Status && r.Name != kinds.Node {
		delete(object.Object, "status")
	}
	if status := NewStatus(r, object); status != nil {
		object.Object["status"] = status
	}
	if r.HasGeneration() {
		object.SetGeneration(1)
	}
	switch r.Name {
	case kinds.Namespace:
		jsontree.Set(object.Object, object.GetName(), "metadata", "labels", corev1.LabelMetadataName)
		finalizers := NamespaceFinalizers(object)
		if !slices.Contains(finalizers, any(string(corev1.FinalizerKubernetes))) {
			jsontree.Set(object.Object, append(finalizers, string(corev1.FinalizerKubernetes)), "spec", "finalizers")
		}
	case kinds.Job:
		// A real server lets the Job and the template share the labels that were given.
		given := jsontree.At(object, "spec", "template", "metadata", "labels") != nil
		selectOwnPods(object)
		if given {
			LabelJob(object)
		}
	case kinds.DaemonSet:
		setTemplateGeneration(object, max(templateGeneration(object.Object), 1))
	case kinds.Claim:
		alignSources(object, nil)
	}
}

// AdmitNew does to an object that a client creates what the server's own admission plugins
// do. Objects that were there before have been through it.
func AdmitNew(r *kinds.Resource, object *unstructured.Unstructured) {
	Protect(r, object)
	if _, generated := storage.GeneratedFrom(object.GetName(), object.GetGenerateName()); generated && r.Name == kinds.Job {
		LabelJob(object) // Their labels are a copy of those of the template: others are shared.
	}
	if r.Name != kinds.Node {
		return
	}
	// A Node is not ready until somebody has found that it is.
	taint := map[string]any{"key": corev1.TaintNodeNotReady, "effect": string(corev1.TaintEffectNoSchedule)}
	taints := jsontree.ListAt(object, "spec", "taints")
	if !slices.ContainsFunc(taints, func(t any) bool { return jsontree.Same(jsontree.Without(t, "value"), taint) }) {
		jsontree.Set(object.Object, append(slices.Clone(taints), any(taint)), "spec", "taints")
	}
}

// Protect gives a new object the finalizer that all of its kind have.
func Protect(r *kinds.Resource, object *unstructured.Unstructured) {
	if finalizers := object.GetFinalizers(); r.Protection != "" && !slices.Contains(finalizers, r.Protection) {
		object.SetFinalizers(append(finalizers, r.Protection))
	}
}

// NewStatus is the status that the server gives to a new object, nil if it gives none.
func NewStatus(r *kinds.Resource, object *unstructured.Unstructured) map[string]any {
	switch {
	case r.Name == kinds.Pod:
		return newPodStatus(object)
	case r.Name == kinds.Node:
		return nil
	case r.Name == kinds.Volume:
		return map[string]any{"phase": string(corev1.VolumePending), "lastPhaseTransitionTime": storage.Now().Format(time.RFC3339)}
	case r.Name == kinds.Claim:
		return map[string]any{"phase": string(corev1.ClaimPending)}
	case r.Name == kinds.Namespace:
		return map[string]any{"phase": string(corev1.NamespaceActive)}
	case r.EmptyStatus != nil:
		return runtime.DeepCopyJSON(r.EmptyStatus)
	}
	return nil
}

// LabelJob gives a Job without labels those of its Pods. A real server does so whenever it
// reads a Job.
func LabelJob(job *unstructured.Unstructured) {
	if labels, ok := jsontree.At(job, "spec", "template", "metadata", "labels").(map[string]any); ok && len(job.GetLabels()) == 0 {
		jsontree.Set(job.Object, maps.Clone(labels), "metadata", "labels")
	}
}

// selectOwnPods gives a Job, unless it has a selector of its own, the one by its uid.
func selectOwnPods(job *unstructured.Unstructured) {
	if manual, _, _ := unstructured.NestedBool(job.Object, "spec", "manualSelector"); manual {
		return
	}
	uid := string(job.GetUID())
	for name, value := range validation.OwnPodLabels(job.GetName(), uid) {
		suggest(job, value, "spec", "template", "metadata", "labels", name)
	}
	suggest(job, uid, "spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid")
}

// suggest sets a field that is not there.
func suggest(object *unstructured.Unstructured, value any, path ...string) {
	if jsontree.At(object, path...) == nil {
		jsontree.Set(object.Object, value, path...)
	}
}

// prepareUpdate keeps what an update of the object itself cannot change.
func prepareUpdate(r *kinds.Resource, object, current *unstructured.Unstructured) {
	switch r.Name {
	case kinds.Namespace, kinds.SigningRequest:
		object.Object["spec"] = current.Object["spec"]
	case kinds.Claim:
		alignSources(object, current)
	case kinds.DaemonSet:
		generation := templateGeneration(current.Object)
		if !jsontree.Same(jsontree.At(object, "spec", "template"), jsontree.At(current, "spec", "template")) {
			generation++
		}
		setTemplateGeneration(object, generation)
	}
	if !r.Status {
		return
	}
	delete(object.Object, "status")
	if status, ok := current.Object["status"]; ok {
		object.Object["status"] = status
	}
}

// prepareStatus keeps what an update of the status cannot change: all but the
// status, and of the metadata what the kind protects there.
func prepareStatus(r *kinds.Resource, object, current *unstructured.Unstructured) {
	status, hasStatus := object.Object["status"]
	metadata := object.Object["metadata"]
	managers := jsontree.At(object, "metadata", "managedFields")
	clear(object.Object)
	for name, value := range current.Object {
		object.Object[name] = value
	}
	delete(object.Object, "status")
	if hasStatus {
		object.Object["status"] = status
	}
	object.Object["metadata"] = managedBy(object.Object["metadata"], managers)
	if r.Custom {
		return
	}
	switch r.Name {
	case "FlowSchema.flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io",
		"CustomResourceDefinition.apiextensions.k8s.io",
		"DeviceTaintRule.resource.k8s.io", "PodCertificateRequest.certificates.k8s.io",
		"ResourceClaim.resource.k8s.io", "ServiceCIDR.networking.k8s.io",
		"StorageVersion.internal.apiserver.k8s.io", "StorageVersionMigration.storagemigration.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io", "VolumeAttachment.storage.k8s.io":
		return
	}
	object.Object["metadata"] = metadata
	switch r.Name {
	case "Deployment.apps":
		object.SetLabels(current.GetLabels())
	case kinds.Pod:
		object.SetDeletionTimestamp(nil)
		object.SetOwnerReferences(current.GetOwnerReferences())
		if status := PodStatus(object); status["qosClass"] == nil {
			if class := jsontree.At(current, "status", "qosClass"); class != nil {
				status["qosClass"] = class
			}
		}
	case kinds.DaemonSet:
		setTemplateGeneration(object, templateGeneration(current.Object))
	case kinds.SigningRequest:
		if conditions := jsontree.ListAt(object, "status", "conditions"); conditions != nil {
			jsontree.Set(object.Object, stamped(conditions), "status", "conditions")
		}
	case kinds.Volume:
		if jsontree.At(object, "status", "lastPhaseTransitionTime") == nil {
			jsontree.Set(object.Object, storage.Now().Format(time.RFC3339), "status", "lastPhaseTransitionTime")
		}
	}
}

// managedBy returns a copy of metadata with another record of managers.
func managedBy(metadata, managers any) map[string]any {
	fields := jsontree.Without(metadata, "managedFields")
	if managers != nil {
		fields["managedFields"] = managers
	}
	return fields
}

// NamespaceFinalizers are the finalizers in the spec of a Namespace.
func NamespaceFinalizers(object *unstructured.Unstructured) []any {
	return jsontree.ListAt(object, "spec", "finalizers")
}

// prepareSubresource keeps what a write to a subresource other than the status cannot
// change.
func prepareSubresource(name string, object, current *unstructured.Unstructured) {
	switch name {
	case kinds.FinalizeSubresource:
		object.Object["status"] = current.Object["status"]
	case kinds.EphemeralSubresource:
		const field = "ephemeralContainers"
		containers := jsontree.At(object, "spec", field)
		metadata := managedBy(current.Object["metadata"], jsontree.At(object, "metadata", "managedFields"))
		metadata["resourceVersion"] = object.GetResourceVersion()
		spec := jsontree.Without(current.Object["spec"], field)
		if containers != nil {
			spec[field] = containers
		}
		clear(object.Object)
		maps.Copy(object.Object, current.Object)
		object.Object["metadata"], object.Object["spec"] = metadata, spec
	case kinds.ApprovalSubresource:
		status := jsontree.Without(current.Object["status"], "conditions")
		if conditions := jsontree.ListAt(object, "status", "conditions"); conditions != nil {
			status["conditions"] = stamped(conditions)
		}
		object.Object["spec"], object.Object["status"] = current.Object["spec"], status
	}
}

// stamped returns conditions that say when they were made.
func stamped(conditions []any) []any {
	now := storage.Now().Format(time.RFC3339)
	var all []any
	for _, condition := range conditions {
		fields := jsontree.Without(condition)
		for _, name := range []string{"lastTransitionTime", "lastUpdateTime"} {
			if fields[name] == nil {
				fields[name] = now
			}
		}
		all = append(all, fields)
	}
	return all
}

// keepSystemFields brings back what an update cannot change and need not repeat.
func keepSystemFields(object, current *unstructured.Unstructured) {
	object.SetGeneration(current.GetGeneration())
	if object.GetUID() == "" {
		object.SetUID(current.GetUID())
	}
	object.SetCreationTimestamp(current.GetCreationTimestamp())
	if current.GetDeletionTimestamp() != nil {
		object.SetDeletionTimestamp(current.GetDeletionTimestamp())
	}
	if object.GetDeletionGracePeriodSeconds() == nil {
		object.SetDeletionGracePeriodSeconds(current.GetDeletionGracePeriodSeconds())
	}
}
