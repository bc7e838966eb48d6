package companions

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// VolumeClaims binds each claim to a volume of its own that has what the claim asks for, as with a storage class that
// makes volumes at once. The claim says that it is bound; there are no PersistentVolumes. A check is inconclusive with
// a claim that asks for one of those: by its name, by labels, without a storage class, or as a copy of something else.
func VolumeClaims() Companion {
	return func(server *kube.Server) (core.Strategy, error) {
		s := &strategy{name: "volume-binder", kinds: []schema.GroupVersionKind{claimKind()}, handle: handleClaim, reconcile: bindClaim}
		return s.on(server)
	}
}

func handleClaim(_ client, event core.Event) []core.Request {
	if event.New == nil {
		return nil
	}
	return []core.Request{on(event.Key.Namespace, event.Key.Name)}
}

func bindClaim(c client, named request) error {
	claim, err := get[corev1.PersistentVolumeClaim](c, claimKind(), named.namespace, named.name)
	if err != nil || claim == nil || claim.DeletionTimestamp != nil || claim.Status.Phase == corev1.ClaimBound {
		return err
	}
	if field := asksForVolume(&claim.Spec); field != "" {
		c.leavesOut(claimKind(), claim, field)
	}
	claim.Status.Phase = corev1.ClaimBound
	claim.Status.AccessModes = claim.Spec.AccessModes
	claim.Status.Capacity = claim.Spec.Resources.Requests
	return c.updateStatus(claimKind(), claim)
}

// asksForVolume is the field by which a claim asks for a volume that is not just made for it, "" for none.
func asksForVolume(spec *corev1.PersistentVolumeClaimSpec) string {
	switch {
	case spec.VolumeName != "":
		return "spec.volumeName"
	case spec.Selector != nil:
		return "spec.selector"
	case spec.StorageClassName != nil && *spec.StorageClassName == "":
		return "spec.storageClassName"
	case spec.DataSource != nil || spec.DataSourceRef != nil:
		return "spec.dataSourceRef"
	}
	return ""
}
