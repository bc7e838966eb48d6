package companions

import (
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// claimName is the name of the claim that is made from a template for the Pod of a number.
func (r *rollout) claimName(template *corev1.PersistentVolumeClaim, number int) string {
	return template.Name + "-" + r.set.Name + "-" + strconv.Itoa(number)
}

// volumes are those of a template, with those that the claims of a Pod are for.
func (r *rollout) volumes(of []corev1.Volume, number int) []corev1.Volume {
	var volumes []corev1.Volume
	for i := range r.set.Spec.VolumeClaimTemplates {
		template := &r.set.Spec.VolumeClaimTemplates[i]
		volumes = append(volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: r.claimName(template, number)},
		}})
		of = slices.DeleteFunc(slices.Clone(of), func(v corev1.Volume) bool { return v.Name == template.Name })
	}
	return append(volumes, of...)
}

// claim makes the claims of a Pod that are not there. One that is being deleted has to go first.
func (r *rollout) claim(pod *corev1.Pod) error {
	number := r.number(pod)
	waits := false
	for i := range r.set.Spec.VolumeClaimTemplates {
		template := &r.set.Spec.VolumeClaimTemplates[i]
		name := r.claimName(template, number)
		found, err := get[corev1.PersistentVolumeClaim](r.client, claimKind(), r.set.Namespace, name)
		switch {
		case err != nil:
			return err
		case found != nil:
			waits = waits || found.DeletionTimestamp != nil
			continue
		}
		claim := template.DeepCopy()
		claim.Name, claim.Namespace = name, r.set.Namespace
		if claim.Labels == nil {
			claim.Labels = map[string]string{}
		}
		if r.set.Spec.Selector != nil {
			maps.Copy(claim.Labels, r.set.Spec.Selector.MatchLabels)
		}
		if err := r.client.create(claimKind(), claim); err != nil {
			return err
		}
	}
	if waits {
		return errWaits
	}
	return nil
}

// claimsAreStale reports whether a claim of a Pod that is to be made waits for the end of the one before.
func (r *rollout) claimsAreStale(pod *corev1.Pod) (bool, error) {
	if r.policy().WhenScaled != deletes {
		return false, nil
	}
	for i := range r.set.Spec.VolumeClaimTemplates {
		found, err := get[corev1.PersistentVolumeClaim](r.client, claimKind(), r.set.Namespace, r.claimName(&r.set.Spec.VolumeClaimTemplates[i], r.number(pod)))
		if err != nil {
			return false, err
		}
		if found != nil && isStale(found, podKind().Kind, pod) {
			return true, nil
		}
	}
	return false, nil
}

const (
	retains = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	deletes = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
)

// policy says when claims are deleted.
func (r *rollout) policy() appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	if policy := r.set.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		return *policy
	}
	return appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: retains, WhenScaled: retains}
}

// isStale reports whether a claim has an owner that is gone: one of the kind and name of another object.
func isStale(claim *corev1.PersistentVolumeClaim, kind string, owner metav1.Object) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == kind && o.Name == owner.GetName() && o.UID != owner.GetUID()
	})
}

// retain gives the claims of a Pod the owners that the retention policy asks for: with the set, or with the Pod, they
// are deleted.
func (r *rollout) retain(pod *corev1.Pod) error {
	number := r.number(pod)
	for i := range r.set.Spec.VolumeClaimTemplates {
		claim, err := get[corev1.PersistentVolumeClaim](r.client, claimKind(), r.set.Namespace, r.claimName(&r.set.Spec.VolumeClaimTemplates[i], number))
		if err != nil {
			return err
		}
		if claim == nil {
			continue
		}
		owners, ok := r.claimOwners(claim, pod)
		if !ok || equality.Semantic.DeepEqual(owners, claim.OwnerReferences) {
			continue
		}
		if err := r.client.setOwners(claimKind(), claim, owners); err != nil {
			return err
		}
	}
	return nil
}

// claimOwners are the owners that the claim of a Pod is to have, and false if the claim belongs to a set or Pod before,
// and has to go.
func (r *rollout) claimOwners(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) ([]metav1.OwnerReference, bool) {
	if isStale(claim, statefulSetKind().Kind, r.set) || isStale(claim, podKind().Kind, pod) {
		return nil, false
	}
	owners := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(o metav1.OwnerReference) bool {
		return o.UID == r.set.UID || o.UID == pod.UID
	})
	policy := r.policy()
	if slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return ptr.Deref(o.Controller, false) }) {
		return owners, true // somebody else sees to it
	}
	place := r.number(pod) - r.start()
	goes := policy.WhenScaled == deletes && (place < 0 || place >= len(r.replicas))
	if goes {
		owners = append(owners, *metav1.NewControllerRef(pod, podKind()))
	} else if policy.WhenDeleted == deletes {
		owners = append(owners, *metav1.NewControllerRef(r.set, statefulSetKind()))
	}
	return owners, true
}
