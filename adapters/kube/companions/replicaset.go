package companions

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// ReplicaSets is the controller that makes the Pods of ReplicaSets. It adopts Pods and lets them go by their labels,
// deletes those first that are of the least use, and reports their numbers, and by a condition that it is refused.
//
// The status that it writes counts what it has just created and deleted. That of a ReplicaSet of a Deployment does so
// in a second step, as in a cluster: the Deployment keeps in its conditions what it has seen of the first one. A Pod
// that is ready is available, whatever minReadySeconds says.
func ReplicaSets() Companion {
	r := replicaSets{controls{owner: replicaSetKind(), dependent: podKind(), claims: isActive, leave: true}}
	return func(server *kube.Server) (core.Strategy, error) {
		s := &strategy{name: "replicaset", kinds: []schema.GroupVersionKind{replicaSetKind(), podKind()}, handle: r.handle, reconcile: r.reconcile}
		return s.on(server)
	}
}

type replicaSets struct{ controls }

func (r replicaSets) handle(c client, event core.Event) []core.Request {
	if event.Key.Kind == kube.KindOf(r.owner.GroupKind()) {
		return []core.Request{on(event.Key.Namespace, event.Key.Name)}
	}
	return r.requests(c, event)
}

func (r replicaSets) reconcile(c client, named request) error {
	if named.what == release {
		return r.release(c, named)
	}
	set, err := get[appsv1.ReplicaSet](c, r.owner, named.namespace, named.name)
	if err != nil || set == nil {
		return err
	}
	pods, err := r.podsOf(c, set, set.Spec.Selector)
	if err != nil {
		return err
	}
	active, terminating := filter(pods, isActive), count(pods, isTerminating)
	var refused error
	if set.DeletionTimestamp == nil {
		var left []*corev1.Pod
		var deleted int32
		left, deleted, refused = r.scale(c, set, slices.Clone(active))
		if deployments := (controls{owner: deploymentKind()}); deployments.controllerOf(set) == nil {
			active, terminating = left, terminating+deleted
		}
	}
	status := replicaSetStatus(set, active, terminating, refused, c.now())
	if !equality.Semantic.DeepEqual(set.Status, status) {
		set.Status = status
		if err := c.updateStatus(r.owner, set); err != nil {
			return err
		}
	}
	return refused
}

// scale creates the Pods that are missing or deletes those that are too many. It returns those that are left, and how
// many are being deleted.
func (r replicaSets) scale(c client, set *appsv1.ReplicaSet, active []*corev1.Pod) ([]*corev1.Pod, int32, error) {
	wanted := int(ptr.Deref(set.Spec.Replicas, 1))
	for len(active) < wanted {
		pod := newPod(&set.Spec.Template, set, metav1.NewControllerRef(set, r.owner))
		if err := c.create(podKind(), pod); err != nil {
			return active, 0, err
		}
		active = append(active, pod)
	}
	var terminating int32
	for _, pod := range expendable(active)[:max(0, len(active)-wanted)] {
		if err := c.remove(podKind(), pod); err != nil {
			return active, terminating, err
		}
		active = slices.DeleteFunc(active, func(p *corev1.Pod) bool { return p == pod })
		terminating += int32(ordinal(lingers(pod)))
	}
	return active, terminating, nil
}

// replicaSetStatus is the status of a set with these Pods.
func replicaSetStatus(set *appsv1.ReplicaSet, active []*corev1.Pod, terminating int32, refused error, now metav1.Time) appsv1.ReplicaSetStatus {
	ready := count(active, isReady)
	return appsv1.ReplicaSetStatus{
		Replicas:             int32(len(active)),
		FullyLabeledReplicas: count(active, selects(set.Spec.Template.Labels)),
		ReadyReplicas:        ready,
		AvailableReplicas:    ready,
		TerminatingReplicas:  ptr.To(terminating),
		ObservedGeneration:   set.Generation,
		Conditions:           replicaSetConditions(set, len(active), refused, now),
	}
}

// replicaSetConditions are the conditions of a set, with the one that says that it is refused what it needs.
func replicaSetConditions(set *appsv1.ReplicaSet, active int, refused error, now metav1.Time) []appsv1.ReplicaSetCondition {
	failure := func(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure }
	conditions := slices.Clone(set.Status.Conditions)
	switch {
	case refused == nil:
		return slices.DeleteFunc(conditions, failure)
	case slices.ContainsFunc(conditions, failure):
		return conditions
	}
	reason := "FailedCreate"
	if active > int(ptr.Deref(set.Spec.Replicas, 1)) {
		reason = "FailedDelete"
	}
	return append(conditions, appsv1.ReplicaSetCondition{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, LastTransitionTime: now, Reason: reason, Message: refused.Error(),
	})
}
