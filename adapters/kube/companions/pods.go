package companions

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// podsOf returns the Pods that an owner controls and selects. It adopts the orphans among those that it selects, unless
// it is being deleted.
func (o controls) podsOf(c client, owner metav1.Object, selector *metav1.LabelSelector) ([]*corev1.Pod, error) {
	pods, err := list[corev1.Pod](c, &kube.Request{Kind: o.dependent, Namespace: owner.GetNamespace(), LabelSelector: selectorOf(selector).String()})
	if err != nil {
		return nil, err
	}
	var owned []*corev1.Pod
	for _, pod := range pods {
		switch controller := metav1.GetControllerOf(pod); {
		case controller != nil && controller.UID == owner.GetUID():
			owned = append(owned, pod)
		case controller == nil && o.claims(pod) && pod.DeletionTimestamp == nil && owner.GetDeletionTimestamp() == nil:
			if err := o.adopt(c, owner, pod); err != nil {
				return nil, err
			}
			owned = append(owned, pod)
		}
	}
	return owned, nil
}

// newPod is the Pod that an owner makes from a template. It has no name yet.
func newPod(template *corev1.PodTemplateSpec, owner metav1.Object, reference *metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.GetNamespace(), GenerateName: owner.GetName() + "-",
			Labels: maps.Clone(template.Labels), Annotations: maps.Clone(template.Annotations), Finalizers: slices.Clone(template.Finalizers),
			OwnerReferences: []metav1.OwnerReference{*reference},
		},
		Spec: *template.Spec.DeepCopy(),
	}
}

// isActive reports whether a Pod runs or will run.
func isActive(pod *corev1.Pod) bool { return !isFinished(pod) && pod.DeletionTimestamp == nil }

// isFinished reports whether a Pod has come to its end.
func isFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// isTerminating reports whether a Pod that has not come to its end is being deleted.
func isTerminating(pod *corev1.Pod) bool { return !isFinished(pod) && pod.DeletionTimestamp != nil }

// isReady reports whether a Pod is ready.
func isReady(pod *corev1.Pod) bool { return hasCondition(pod, corev1.PodReady) }

// hasCondition reports whether a condition of a Pod is true.
func hasCondition(pod *corev1.Pod, of corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == of && condition.Status == corev1.ConditionTrue
	})
}

// lingers reports whether a Pod that is deleted stays for a while: until its node has stopped it, or a finalizer is
// gone.
func lingers(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" || len(pod.Finalizers) > 0 }

// filter returns the Pods for which a condition holds.
func filter(pods []*corev1.Pod, holds func(*corev1.Pod) bool) []*corev1.Pod {
	var kept []*corev1.Pod
	for _, pod := range pods {
		if holds(pod) {
			kept = append(kept, pod)
		}
	}
	return kept
}

// count is the number of Pods for which a condition holds.
func count(pods []*corev1.Pod, holds func(*corev1.Pod) bool) int32 {
	return int32(len(filter(pods, holds)))
}

// selects returns the condition that labels have all of those given.
func selects(all map[string]string) func(*corev1.Pod) bool {
	selector := labels.SelectorFromSet(all)
	return func(pod *corev1.Pod) bool { return selector.Matches(labels.Set(pod.Labels)) }
}

// expendable sorts Pods: those first that are deleted first when there are too many. A real controller then prefers
// those that were made last. Times say nothing here, so that the last names come first. Pods with indexes are made
// together, and those with lower ones come first, as they do there.
func expendable(pods []*corev1.Pod) []*corev1.Pod {
	ready := map[string]int{}
	for _, pod := range pods {
		if isReady(pod) && pod.Spec.NodeName != "" {
			ready[pod.Spec.NodeName]++
		}
	}
	sorted := slices.Clone(pods)
	slices.SortFunc(sorted, func(a, b *corev1.Pod) int {
		return cmp.Or(
			cmp.Compare(ordinal(a.Spec.NodeName != ""), ordinal(b.Spec.NodeName != "")),
			cmp.Compare(progress(a), progress(b)),
			cmp.Compare(ordinal(isReady(a)), ordinal(isReady(b))),
			cmp.Compare(deletionCost(a), deletionCost(b)),
			-cmp.Compare(ready[a.Spec.NodeName], ready[b.Spec.NodeName]),
			-cmp.Compare(restarts(a), restarts(b)),
			cmp.Compare(indexOf(a), indexOf(b)),
			-cmp.Compare(a.Name, b.Name),
		)
	})
	return sorted
}

// ordinal is 1 for true.
func ordinal(is bool) int {
	if is {
		return 1
	}
	return 0
}

// progress orders the phases in which a Pod can be deleted.
func progress(pod *corev1.Pod) int {
	switch pod.Status.Phase {
	case corev1.PodPending:
		return 0
	case corev1.PodRunning:
		return 2
	}
	return 1
}

// deletionCost is what users say that the loss of a Pod costs.
func deletionCost(pod *corev1.Pod) int {
	cost, err := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32)
	if err != nil {
		return 0
	}
	return int(cost)
}

// restarts is how often the container of a Pod was started again that was so the most often.
func restarts(pod *corev1.Pod) int32 {
	var most int32
	for _, status := range pod.Status.ContainerStatuses {
		most = max(most, status.RestartCount)
	}
	return most
}
