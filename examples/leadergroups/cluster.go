package leadergroups

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// StatefulSets stands in for the controller of Kubernetes. It creates the Pods that are missing all at once, and replaces those of an older template one
// after the other, from the last down to the partition. What it makes below the partition is made from the template, too.
type StatefulSets struct{ client.Client }

// Reconcile brings the Pods and the status of a StatefulSet closer to what it wants.
func (s *StatefulSets) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var set appsv1.StatefulSet
	if err := s.Get(ctx, request.NamespacedName, &set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !set.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	pods, err := s.pods(ctx, &set)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := s.ensurePods(ctx, &set, pods); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, s.report(ctx, &set, pods)
}

// pods returns the Pods of a StatefulSet, by their place in it; those that are not there are nil.
func (s *StatefulSets) pods(ctx context.Context, set *appsv1.StatefulSet) ([]*corev1.Pod, error) {
	var list corev1.PodList
	if err := s.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingFields{controllerIndex: set.Name}); err != nil {
		return nil, err
	}
	pods := make([]*corev1.Pod, *set.Spec.Replicas)
	for i := range list.Items {
		pod := &list.Items[i]
		place, err := strconv.Atoi(pod.Labels[appsv1.PodIndexLabel])
		if err != nil {
			return nil, err
		}
		if metav1.IsControlledBy(pod, set) {
			pods[place-start(set)] = pod
		}
	}
	return pods, nil
}

// ensurePods creates the Pods that are missing. If there are none, it deletes the last one that is out of date, once all are ready.
func (s *StatefulSets) ensurePods(ctx context.Context, set *appsv1.StatefulSet, pods []*corev1.Pod) error {
	complete := true
	for place, pod := range pods {
		complete = complete && pod != nil && podReady(pod)
		if pod != nil {
			continue
		}
		created, err := s.create(ctx, set, place)
		if err != nil {
			return err
		}
		pods[place] = created
	}
	if !complete {
		return nil
	}
	for place := len(pods) - 1; place >= partition(set); place-- {
		if upToDate(set, pods[place]) {
			continue
		}
		if err := s.Delete(ctx, pods[place]); err != nil {
			return client.IgnoreNotFound(err)
		}
		pods[place] = nil
		return nil
	}
	return nil
}

// create creates a Pod, and returns nil if the one of a StatefulSet before is in its place. The end of that one is an event.
func (s *StatefulSets) create(ctx context.Context, set *appsv1.StatefulSet, place int) (*corev1.Pod, error) {
	pod := newPod(set, place)
	err := s.Get(ctx, client.ObjectKeyFromObject(pod), &corev1.Pod{})
	if !apierrors.IsNotFound(err) {
		return nil, err
	}
	if err := ctrl.SetControllerReference(set, pod, s.Scheme()); err != nil {
		return nil, err
	}
	return pod, s.Create(ctx, pod)
}

// newPod returns the Pod in a place of a StatefulSet.
func newPod(set *appsv1.StatefulSet, place int) *corev1.Pod {
	number := strconv.Itoa(start(set) + place)
	labels := map[string]string{appsv1.PodIndexLabel: number}
	for name, value := range set.Spec.Template.Labels {
		labels[name] = value
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: fmt.Sprintf("%s-%s", set.Name, number), Labels: labels},
		Spec:       *set.Spec.Template.Spec.DeepCopy(),
	}
}

// report writes what there is into the status of a StatefulSet.
func (s *StatefulSets) report(ctx context.Context, set *appsv1.StatefulSet, pods []*corev1.Pod) error {
	status := statusOf(set, pods)
	if equality.Semantic.DeepEqual(set.Status, status) {
		return nil
	}
	set.Status = status
	return s.Status().Update(ctx, set)
}

// statusOf is the status of a StatefulSet with these Pods.
func statusOf(set *appsv1.StatefulSet, pods []*corev1.Pod) appsv1.StatefulSetStatus {
	status := appsv1.StatefulSetStatus{ObservedGeneration: set.Generation}
	for _, pod := range pods {
		if pod == nil {
			continue
		}
		status.Replicas++
		if podReady(pod) {
			status.ReadyReplicas++
			status.AvailableReplicas++
		}
		if upToDate(set, pod) {
			status.UpdatedReplicas++
		}
	}
	return status
}

// start is the number of the first Pod of a StatefulSet.
func start(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}

// partition is the first place of a StatefulSet whose Pod is to be up to date.
func partition(set *appsv1.StatefulSet) int {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return int(ptr.Deref(rolling.Partition, 0))
	}
	return 0
}

// upToDate reports whether a Pod is made from the template that its StatefulSet has now.
func upToDate(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	return pod.Labels[revisionLabel] == set.Spec.Template.Labels[revisionLabel]
}

// SetupWithManager registers the controller.
func (s *StatefulSets) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("statefulset").
		For(&appsv1.StatefulSet{}).
		Owns(&corev1.Pod{}).
		Complete(s)
}

// Pods stands in for the nodes: a Pod that is created becomes ready. As they run on no node, Pods that are deleted are gone at once.
type Pods struct{ client.Client }

// Reconcile starts a Pod.
func (p *Pods) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var pod corev1.Pod
	if err := p.Get(ctx, request.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !pod.DeletionTimestamp.IsZero() || podReady(&pod) {
		return ctrl.Result{}, nil
	}
	pod.Status = readyStatus(0)
	return ctrl.Result{}, p.Status().Update(ctx, &pod)
}

// readyStatus is that of a Pod that is ready, and whose container has been restarted a number of times.
func readyStatus(restarts int32) corev1.PodStatus {
	return corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "work", Image: "work", ImageID: "work", Ready: true, RestartCount: restarts,
		}},
	}
}

// SetupWithManager registers the controller.
func (p *Pods) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("kubelet").For(&corev1.Pod{}).Complete(p)
}
