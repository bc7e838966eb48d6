package companions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	api "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

// Faults of Pods and nodes are actions of a scenario: each happens once or never, at any moment at which there is what
// it happens to. [Budget] says how often.

// Target is a Pod that something happens to.
type Target struct {
	Namespace string
	// Labels are those of the Pods that are meant, also of Pods with generated names.
	Labels map[string]string
	// Number says which of them: 0 is the first by its name of those that have not come to their end and are not being
	// deleted. Where there is none, nothing happens.
	Number int
}

// String says which Pod it is.
func (t Target) String() string {
	return fmt.Sprintf("Pod %d of %s with %s", t.Number, t.Namespace, labels.FormatLabels(t.Labels))
}

// ContainerExits is the fault that the containers of a Pod that runs come to their end with an exit code. If the
// restart policy says so, they are not ready until [Pods] has started them again, and have been restarted once more.
// Otherwise, the Pod has failed, or succeeded if the code is 0.
func ContainerExits(of Target, code int32) scenario.Action {
	return of.action(fmt.Sprintf("exits with %d", code), func(ctx context.Context, c api.Client, pod *corev1.Pod) error {
		switch {
		case pod.Status.Phase != corev1.PodRunning, slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Running == nil }):
			return core.ErrNotEnabled
		case pod.Spec.RestartPolicy == corev1.RestartPolicyNever || pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && code == 0:
			end(&pod.Status, pod, code, metav1.Now())
		default:
			pod.Status.ContainerStatuses = containers(&pod.Status, pod, false, terminated(code, metav1.Now()))
			for _, condition := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
				setCondition(&pod.Status, condition, false, "ContainersNotReady", metav1.Now())
			}
		}
		return c.Status().Update(ctx, pod)
	})
}

// PodEvicted is the fault that a node runs out of something, and ends a Pod: it has failed for the reason Evicted, and
// stays until somebody deletes it.
func PodEvicted(of Target) scenario.Action {
	return of.action("is evicted by its node", func(ctx context.Context, c api.Client, pod *corev1.Pod) error {
		if pod.Spec.NodeName == "" {
			return core.ErrNotEnabled
		}
		end(&pod.Status, pod, killed, metav1.Now())
		pod.Status.Reason, pod.Status.Message = "Evicted", "The node was low on resource: memory."
		setCondition(&pod.Status, corev1.DisruptionTarget, true, corev1.PodReasonTerminationByKubelet, metav1.Now())
		return c.Status().Update(ctx, pod)
	})
}

// PodDrained is what happens to a Pod when its node is drained: it is deleted, unless its disruption budget does not
// allow for it.
func PodDrained(of Target) scenario.Action {
	return of.action("is drained from its node", func(ctx context.Context, c api.Client, pod *corev1.Pod) error {
		if pod.Spec.NodeName == "" {
			return core.ErrNotEnabled
		}
		err := c.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}})
		if apierrors.IsTooManyRequests(err) {
			return core.ErrNotEnabled // whoever drains the node tries again
		}
		return err
	})
}

// NodeLost is the fault that a node is gone for good, with its Node object if there is one: its Pods have failed if
// they had not come to their end before, and are deleted at once, as the garbage collector of Pods does some time
// later. Nobody has stopped them. [Pods] may put others on a node of that name again.
func NodeLost(name string) scenario.Action {
	return scenario.Action{Name: "node " + name + " is lost", Do: func(ctx context.Context, c api.Client) error {
		err := c.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if api.IgnoreNotFound(err) != nil {
			return err
		}
		there := err == nil
		var all corev1.PodList
		if err := c.List(ctx, &all); err != nil {
			return err
		}
		for i := range all.Items {
			pod := &all.Items[i]
			if pod.Spec.NodeName != name {
				continue
			}
			there = true
			before := pod.Status.DeepCopy()
			if collected(&pod.Status); !equality.Semantic.DeepEqual(before, &pod.Status) {
				if err := c.Status().Update(ctx, pod); err != nil {
					return err
				}
			}
			if err := api.IgnoreNotFound(c.Delete(ctx, pod, api.GracePeriodSeconds(0))); err != nil {
				return err
			}
		}
		if !there {
			return core.ErrNotEnabled
		}
		return nil
	}}
}

// collected makes the status that of a Pod on a node that is heard of no longer, and is gone.
func collected(status *corev1.PodStatus) {
	for i := range status.Conditions {
		if condition := &status.Conditions[i]; condition.Type == corev1.PodReady && condition.Status != corev1.ConditionFalse {
			condition.Status, condition.LastTransitionTime = corev1.ConditionFalse, metav1.Now()
		}
	}
	if status.Phase == corev1.PodSucceeded || status.Phase == corev1.PodFailed {
		return
	}
	status.Phase = corev1.PodFailed
	setCondition(status, corev1.DisruptionTarget, true, "DeletionByPodGC", metav1.Now())
	at := slices.IndexFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
	status.Conditions[at].Message = "PodGC: node no longer exists"
}

// Budget allows for an action up to a number of times.
func Budget(times int, action scenario.Action) []scenario.Action {
	var all []scenario.Action
	for n := range times {
		one := action
		one.Name = fmt.Sprintf("%s (%d of %d)", action.Name, n+1, times)
		all = append(all, one)
	}
	return all
}

// action is the action of doing something to the Pod that is meant.
func (t Target) action(what string, do func(context.Context, api.Client, *corev1.Pod) error) scenario.Action {
	return scenario.Action{Name: t.String() + " " + what, Do: func(ctx context.Context, c api.Client) error {
		var found corev1.PodList
		if err := c.List(ctx, &found, api.InNamespace(t.Namespace), api.MatchingLabels(t.Labels)); err != nil {
			return err
		}
		active := slices.DeleteFunc(found.Items, func(pod corev1.Pod) bool { return !isActive(&pod) })
		slices.SortFunc(active, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
		if t.Number < 0 || t.Number >= len(active) {
			return core.ErrNotEnabled
		}
		return do(ctx, c, &active[t.Number])
	}}
}
