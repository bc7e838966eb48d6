package companions

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
)

// tidyIfComplete deletes old ReplicaSets once the update is complete, as the status says.
func (r *deploying) tidyIfComplete() error {
	if !r.isComplete(&r.deployment.Status) {
		return nil
	}
	return r.remove(r.expired())
}

// expired are the oldest ReplicaSets beyond the limit of revisions that have no Pods.
func (r *deploying) expired() []*appsv1.ReplicaSet {
	limit := r.deployment.Spec.RevisionHistoryLimit
	if limit == nil || *limit == math.MaxInt32 {
		return nil
	}
	old := slices.DeleteFunc(slices.Clone(r.old), func(set *appsv1.ReplicaSet) bool { return set.DeletionTimestamp != nil })
	slices.SortStableFunc(old, func(a, b *appsv1.ReplicaSet) int { return cmp.Compare(revisionNumber(a), revisionNumber(b)) })
	return slices.DeleteFunc(old[:max(0, len(old)-int(*limit))], func(set *appsv1.ReplicaSet) bool {
		return set.Status.Replicas != 0 || replicasOf(set) != 0 || set.Generation > set.Status.ObservedGeneration
	})
}

// remove deletes ReplicaSets.
func (r *deploying) remove(sets []*appsv1.ReplicaSet) error {
	for _, set := range sets {
		if err := r.client.remove(replicaSetKind(), set); err != nil {
			return err
		}
		r.old = slices.DeleteFunc(r.old, func(s *appsv1.ReplicaSet) bool { return s == set })
		r.sets = slices.DeleteFunc(r.sets, func(s *appsv1.ReplicaSet) bool { return s == set })
	}
	return nil
}

// isComplete reports whether all Pods that the Deployment asks for are new and available, and there are no others.
func (r *deploying) isComplete(status *appsv1.DeploymentStatus) bool {
	wanted := r.replicas()
	return status.UpdatedReplicas == wanted && status.Replicas == wanted && status.AvailableReplicas == wanted &&
		status.ObservedGeneration >= r.deployment.Generation
}

// write writes the status if it is another one.
func (r *deploying) write() error {
	status := r.status()
	if !r.annotated && equality.Semantic.DeepEqual(r.written, status) {
		return nil
	}
	r.deployment.Status = *status
	return r.client.updateStatus(deploymentKind(), r.deployment)
}

// status is the status of the Deployment with its ReplicaSets.
func (r *deploying) status() *appsv1.DeploymentStatus {
	all := r.sets
	available := total(all, availableOf)
	status := &appsv1.DeploymentStatus{
		ObservedGeneration:  r.deployment.Generation,
		Replicas:            total(all, func(set *appsv1.ReplicaSet) int32 { return set.Status.Replicas }),
		ReadyReplicas:       total(all, func(set *appsv1.ReplicaSet) int32 { return set.Status.ReadyReplicas }),
		AvailableReplicas:   available,
		UnavailableReplicas: max(0, total(all, replicasOf)-available),
		CollisionCount:      r.deployment.Status.CollisionCount,
		TerminatingReplicas: terminatingReplicas(all),
	}
	if r.current != nil {
		status.UpdatedReplicas = r.current.Status.Replicas
	}
	if available >= r.replicas()-r.maxUnavailable() {
		r.setCondition(appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		r.setCondition(appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
	}
	if r.rolled {
		r.progress(status)
	}
	status.Conditions = r.deployment.Status.Conditions
	return status
}

// terminatingReplicas is how many Pods are being deleted, nil if a ReplicaSet that has a status does not say so.
func terminatingReplicas(sets []*appsv1.ReplicaSet) *int32 {
	var sum int32
	for _, set := range sets {
		if set.Status.TerminatingReplicas == nil && set.Status.ObservedGeneration > 0 {
			return nil
		}
		sum += ptr.Deref(set.Status.TerminatingReplicas, 0)
	}
	return ptr.To(sum)
}

// hasDeadline reports whether the Deployment is to say how an update goes. The highest number stands for none.
func (r *deploying) hasDeadline() bool {
	return ptr.Deref(r.deployment.Spec.ProgressDeadlineSeconds, math.MaxInt32) != math.MaxInt32
}

// progress says how an update goes.
func (r *deploying) progress(status *appsv1.DeploymentStatus) {
	if !r.hasDeadline() {
		r.removeCondition(appsv1.DeploymentProgressing)
	} else if said := r.condition(appsv1.DeploymentProgressing); said == nil || said.Reason != "NewReplicaSetAvailable" || status.Replicas != status.UpdatedReplicas {
		name := fmt.Sprintf("Deployment %q", r.deployment.Name)
		if r.current != nil {
			name = fmt.Sprintf("ReplicaSet %q", r.current.Name)
		}
		switch {
		case r.isComplete(status):
			r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable", name+" has successfully progressed.")
		case progresses(r.written, status):
			r.removeCondition(appsv1.DeploymentProgressing)
			r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", name+" is progressing.")
		}
	}
	r.removeConditionUnless(r.failure())
}

// progresses reports whether there are more new Pods, or fewer old ones, or more that are ready.
func progresses(before, now *appsv1.DeploymentStatus) bool {
	return now.UpdatedReplicas > before.UpdatedReplicas || now.Replicas-now.UpdatedReplicas < before.Replicas-before.UpdatedReplicas ||
		now.ReadyReplicas > before.ReadyReplicas || now.AvailableReplicas > before.AvailableReplicas
}

// failure is the condition of a ReplicaSet that is refused what it needs, of the current one first; nil if there is
// none.
func (r *deploying) failure() *appsv1.ReplicaSetCondition {
	sets := slices.Clone(r.old)
	if r.current != nil {
		sets = slices.Insert(sets, 0, r.current)
	}
	for _, set := range sets {
		for i, condition := range set.Status.Conditions {
			if condition.Type == appsv1.ReplicaSetReplicaFailure {
				return &set.Status.Conditions[i]
			}
		}
	}
	return nil
}

// removeConditionUnless says that a ReplicaSet is refused what it needs, or takes back that one is.
func (r *deploying) removeConditionUnless(failure *appsv1.ReplicaSetCondition) {
	if failure == nil {
		r.removeCondition(appsv1.DeploymentReplicaFailure)
		return
	}
	r.setCondition(appsv1.DeploymentReplicaFailure, failure.Status, failure.Reason, failure.Message)
}

// condition returns a condition of the Deployment, nil if it has none of the type.
func (r *deploying) condition(of appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i, condition := range r.deployment.Status.Conditions {
		if condition.Type == of {
			return &r.deployment.Status.Conditions[i]
		}
	}
	return nil
}

// setCondition puts a condition at the end, unless it is there with the same reason.
func (r *deploying) setCondition(of appsv1.DeploymentConditionType, is corev1.ConditionStatus, reason, message string) {
	if before := r.condition(of); before != nil && before.Status == is && before.Reason == reason {
		return
	}
	r.removeCondition(of)
	r.deployment.Status.Conditions = append(r.deployment.Status.Conditions, appsv1.DeploymentCondition{
		Type: of, Status: is, Reason: reason, Message: message, LastUpdateTime: r.client.now(), LastTransitionTime: r.client.now(),
	})
}

func (r *deploying) removeCondition(of appsv1.DeploymentConditionType) {
	r.deployment.Status.Conditions = slices.DeleteFunc(slices.Clone(r.deployment.Status.Conditions), func(c appsv1.DeploymentCondition) bool { return c.Type == of })
}
