package cel

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scope is where objects of a kind are.
type scope int

const (
	// anywhere is the scope of kinds of which it is not known.
	anywhere scope = iota
	inNamespaces
	inCluster
)

// ownScope returns the scope of one of Kubernetes' own kinds.
func ownScope(k schema.GroupKind) scope {
	if slices.Contains(clusterWide(k.Group), k.Kind) {
		return inCluster
	}
	return inNamespaces
}

// clusterWide returns Kubernetes' own kinds of a group whose objects are in no namespace.
func clusterWide(group string) []string {
	switch group {
	case "":
		return []string{"Namespace", "Node", "PersistentVolume"}
	case "admissionregistration.k8s.io":
		return []string{
			"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
			"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
		}
	case "certificates.k8s.io":
		return []string{"CertificateSigningRequest", "ClusterTrustBundle"}
	case "flowcontrol.apiserver.k8s.io":
		return []string{"FlowSchema", "PriorityLevelConfiguration"}
	case "internal.apiserver.k8s.io":
		return []string{"StorageVersion"}
	case "networking.k8s.io":
		return []string{"IPAddress", "IngressClass", "ServiceCIDR"}
	case "node.k8s.io":
		return []string{"RuntimeClass"}
	case "rbac.authorization.k8s.io":
		return []string{"ClusterRole", "ClusterRoleBinding"}
	case "resource.k8s.io":
		return []string{"DeviceClass", "DeviceTaintRule", "ResourceSlice"}
	case "scheduling.k8s.io":
		return []string{"PriorityClass"}
	case "storage.k8s.io":
		return []string{"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"}
	case "storagemigration.k8s.io":
		return []string{"StorageVersionMigration"}
	}
	return nil
}
