package kinds

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/core"
)

// This file holds what is known of Kubernetes' own kinds: the choices that their
// registry strategies make, as of Kubernetes 1.36.

// The kinds that the server does more with than to keep them.
const (
	Namespace      core.Kind = "Namespace"
	Pod            core.Kind = "Pod"
	Service        core.Kind = "Service"
	ServiceAccount core.Kind = "ServiceAccount"
	Job            core.Kind = "Job.batch"
	PriorityClass  core.Kind = "PriorityClass.scheduling.k8s.io"
	RuntimeClass   core.Kind = "RuntimeClass.node.k8s.io"
	Budget         core.Kind = "PodDisruptionBudget.policy"
	DaemonSet      core.Kind = "DaemonSet.apps"
	ReplicaSet     core.Kind = "ReplicaSet.apps"
	Node           core.Kind = "Node"
	Claim          core.Kind = "PersistentVolumeClaim"
	Volume         core.Kind = "PersistentVolume"
	StorageClass   core.Kind = "StorageClass.storage.k8s.io"
	EndpointSlice  core.Kind = "EndpointSlice.discovery.k8s.io"
	SigningRequest core.Kind = "CertificateSigningRequest.certificates.k8s.io"
	Definition     core.Kind = "CustomResourceDefinition.apiextensions.k8s.io"
)

// The finalizers that keep claims and volumes while they are in use.
const (
	ClaimProtection  = "kubernetes.io/pvc-protection"
	VolumeProtection = "kubernetes.io/pv-protection"
)

// Name returns the name of a kind in the core: "Kind" or "Kind.group", the same for all its versions.
func Name(kind schema.GroupKind) core.Kind { return core.Kind(kind.String()) }

// builtinGroup reports whether an API group is one of Kubernetes' own.
func builtinGroup(group string) bool {
	switch group {
	case "", "apps", "autoscaling", "batch", "extensions", "policy",
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io",
		"authentication.k8s.io", "authorization.k8s.io", "certificates.k8s.io",
		"coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
		"flowcontrol.apiserver.k8s.io", "imagepolicy.k8s.io", "internal.apiserver.k8s.io",
		"networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io",
		"scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io":
		return true
	}
	return false
}

// virtual reports whether a kind is only ever sent, never stored.
func virtual(kind string) bool {
	switch kind {
	case "Binding", "ComponentStatus", "Eviction", "ImageReview", "PodStatusResult",
		"RangeAllocation", "Scale", "TokenRequest":
		return true
	}
	return strings.HasSuffix(kind, "AccessReview") || strings.HasSuffix(kind, "RulesReview") ||
		kind == "TokenReview" || kind == "SelfSubjectReview"
}

// sentWithNamespace reports whether a kind that is only ever sent is sent to a namespace.
func sentWithNamespace(kind string) bool {
	switch kind {
	case "Binding", "Eviction", "LocalSubjectAccessReview", "PodStatusResult", "Scale", "TokenRequest":
		return true
	}
	return false
}

// clusterScoped reports whether one of Kubernetes' own kinds has no namespace.
func clusterScoped(kind schema.GroupKind) bool {
	switch kind.String() {
	case "Namespace", "Node", "PersistentVolume",
		"APIService.apiregistration.k8s.io",
		"CertificateSigningRequest.certificates.k8s.io",
		"CSIDriver.storage.k8s.io",
		"CSINode.storage.k8s.io",
		"ClusterRole.rbac.authorization.k8s.io",
		"ClusterRoleBinding.rbac.authorization.k8s.io",
		"ClusterTrustBundle.certificates.k8s.io",
		"CustomResourceDefinition.apiextensions.k8s.io",
		"DeviceClass.resource.k8s.io",
		"DeviceTaintRule.resource.k8s.io",
		"FlowSchema.flowcontrol.apiserver.k8s.io",
		"IPAddress.networking.k8s.io",
		"IngressClass.networking.k8s.io",
		"MutatingAdmissionPolicy.admissionregistration.k8s.io",
		"MutatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"MutatingWebhookConfiguration.admissionregistration.k8s.io",
		"PriorityClass.scheduling.k8s.io",
		"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io",
		"ResourceSlice.resource.k8s.io",
		"RuntimeClass.node.k8s.io",
		"ServiceCIDR.networking.k8s.io",
		"StorageClass.storage.k8s.io",
		"StorageVersion.internal.apiserver.k8s.io",
		"StorageVersionMigration.storagemigration.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io",
		"VolumeAttachment.storage.k8s.io",
		"VolumeAttributesClass.storage.k8s.io":
		return true
	}
	return false
}

// HasGeneration reports whether the server counts the generations of a kind.
func (r *Resource) HasGeneration() bool {
	if r.Custom {
		return true
	}
	switch r.Name {
	case "Pod", "PodTemplate", "ReplicationController",
		"CronJob.batch", "DaemonSet.apps", "Deployment.apps", "Job.batch",
		"ReplicaSet.apps", "StatefulSet.apps",
		"CustomResourceDefinition.apiextensions.k8s.io",
		"DeviceClass.resource.k8s.io",
		"DeviceTaintRule.resource.k8s.io",
		"EndpointSlice.discovery.k8s.io",
		"FlowSchema.flowcontrol.apiserver.k8s.io",
		"Ingress.networking.k8s.io",
		"IngressClass.networking.k8s.io",
		"MutatingAdmissionPolicy.admissionregistration.k8s.io",
		"MutatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"MutatingWebhookConfiguration.admissionregistration.k8s.io",
		"NetworkPolicy.networking.k8s.io",
		"PodDisruptionBudget.policy",
		"PriorityClass.scheduling.k8s.io",
		"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io",
		"ResourceSlice.resource.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io":
		return true
	}
	return false
}

// Unconditional reports whether an update may leave out the resourceVersion.
func (r *Resource) Unconditional() bool {
	if r.Custom {
		return false
	}
	switch r.Name {
	case "PodDisruptionBudget.policy",
		"APIService.apiregistration.k8s.io",
		"CSIDriver.storage.k8s.io",
		"CSINode.storage.k8s.io",
		"CSIStorageCapacity.storage.k8s.io",
		"ClusterTrustBundle.certificates.k8s.io",
		"CustomResourceDefinition.apiextensions.k8s.io",
		"Lease.coordination.k8s.io",
		"LeaseCandidate.coordination.k8s.io",
		"MutatingAdmissionPolicy.admissionregistration.k8s.io",
		"MutatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"MutatingWebhookConfiguration.admissionregistration.k8s.io",
		"PodCertificateRequest.certificates.k8s.io",
		"RuntimeClass.node.k8s.io",
		"StorageVersion.internal.apiserver.k8s.io",
		"StorageVersionMigration.storagemigration.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io",
		"VolumeAttachment.storage.k8s.io":
		return false
	}
	return true
}

// CreatedByUpdate reports whether an update of a missing object creates it.
func (r *Resource) CreatedByUpdate() bool {
	switch r.Name {
	case "Endpoints", "Event", "LimitRange", "Service",
		"ClusterRole.rbac.authorization.k8s.io",
		"ClusterRoleBinding.rbac.authorization.k8s.io",
		"Event.events.k8s.io",
		"Lease.coordination.k8s.io",
		"LeaseCandidate.coordination.k8s.io",
		"Role.rbac.authorization.k8s.io",
		"RoleBinding.rbac.authorization.k8s.io",
		"RuntimeClass.node.k8s.io":
		return true
	}
	return false
}

// OrphansByDefault reports whether a delete that names no propagation policy keeps
// the dependents.
func (r *Resource) OrphansByDefault() bool {
	return r.Name == "Job.batch" || r.Name == "ReplicationController"
}

// Folder is where objects of a kind are stored.
func (r *Resource) Folder() string {
	switch r.Name {
	case Service:
		return "services/specs"
	case "Ingress.networking.k8s.io":
		return "ingress"
	case "Endpoints":
		return "services/endpoints"
	case "Node":
		return "minions"
	case "ReplicationController":
		return "controllers"
	}
	return r.Plural
}

// Collectable reports whether the garbage collector's finalizers work on a kind.
func (r *Resource) Collectable() bool {
	return r.Name != "Event" && r.Name != "Event.events.k8s.io"
}

// The subresources that are modelled.
const (
	StatusSubresource    = "status"
	ScaleSubresource     = "scale"
	FinalizeSubresource  = "finalize"
	EvictionSubresource  = "eviction"
	BindingSubresource   = "binding"
	EphemeralSubresource = "ephemeralcontainers"
	TokenSubresource     = "token"
	ApprovalSubresource  = "approval"
)
