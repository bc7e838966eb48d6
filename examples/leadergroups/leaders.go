package leadergroups

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Leaders makes the workers of each leader, and recreates a group as a whole: when a container of one of its Pods has been restarted, it deletes the leader,
// and with it all that the leader owns.
type Leaders struct {
	client.Client
	// IgnoresWorkers is a defect: nobody tells it of StatefulSets.
	IgnoresWorkers bool
	// TakesNewestTemplate is a defect: it makes workers of what the set wants now, and not of the revision of their leader.
	TakesNewestTemplate bool
}

// Reconcile looks after a Pod of a group.
func (l *Leaders) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var pod corev1.Pod
	if err := l.Get(ctx, request.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if restarted(&pod) {
		return ctrl.Result{}, l.recreateGroup(ctx, &pod)
	}
	if pod.Labels[roleLabel] != leaderRole || !pod.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	err := l.Get(ctx, request.NamespacedName, &appsv1.StatefulSet{})
	if !apierrors.IsNotFound(err) {
		// If they are those of the leader before, they are about to go, and their end is an event.
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, l.createWorkers(ctx, &pod)
}

// restarted reports whether a container of a Pod has been restarted.
func restarted(pod *corev1.Pod) bool {
	for _, container := range pod.Status.ContainerStatuses {
		if container.RestartCount > 0 {
			return true
		}
	}
	return false
}

// recreateGroup deletes the leader of a Pod, which goes when all that it owns is gone.
func (l *Leaders) recreateGroup(ctx context.Context, pod *corev1.Pod) error {
	leader, err := l.leaderOf(ctx, pod)
	if err != nil || leader == nil || !leader.DeletionTimestamp.IsZero() {
		return err
	}
	return client.IgnoreNotFound(l.Delete(ctx, leader,
		client.PropagationPolicy(metav1.DeletePropagationForeground), client.Preconditions{UID: &leader.UID}))
}

// leaderOf returns the leader of the group that a Pod is in, nil if it is gone. There may be another one of its name.
func (l *Leaders) leaderOf(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if pod.Labels[roleLabel] == leaderRole {
		return pod, nil
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return nil, nil
	}
	var workers appsv1.StatefulSet
	key := client.ObjectKey{Namespace: pod.Namespace, Name: owner.Name}
	if err := l.Get(ctx, key, &workers); err != nil || workers.UID != owner.UID {
		return nil, client.IgnoreNotFound(err)
	}
	var leader corev1.Pod
	if err := l.Get(ctx, key, &leader); err != nil || !metav1.IsControlledBy(&workers, &leader) {
		return nil, client.IgnoreNotFound(err)
	}
	return &leader, nil
}

// createWorkers creates the workers of a leader, of its own revision.
func (l *Leaders) createWorkers(ctx context.Context, leader *corev1.Pod) error {
	revision, err := l.revisionFor(ctx, leader)
	if err != nil {
		return err
	}
	workers, err := newWorkers(leader, revision)
	if err != nil {
		return err
	}
	if err := ctrl.SetControllerReference(leader, workers, l.Scheme()); err != nil {
		return err
	}
	return l.Create(ctx, workers)
}

// revisionFor returns the revision of which the workers of a leader are to be made.
func (l *Leaders) revisionFor(ctx context.Context, leader *corev1.Pod) (*appsv1.ControllerRevision, error) {
	if l.TakesNewestTemplate {
		var set GroupSet
		if err := l.Get(ctx, client.ObjectKey{Namespace: leader.Namespace, Name: leader.Labels[setLabel]}, &set); err != nil {
			return nil, err
		}
		return newRevision(&set, 0)
	}
	var revisions appsv1.ControllerRevisionList
	err := l.List(ctx, &revisions, client.InNamespace(leader.Namespace), client.MatchingLabels{
		setLabel: leader.Labels[setLabel], revisionLabel: leader.Labels[revisionLabel],
	})
	if err != nil {
		return nil, err
	}
	if len(revisions.Items) == 0 {
		return nil, fmt.Errorf("the revision %s of leader %s is gone", leader.Labels[revisionLabel], leader.Name)
	}
	return &revisions.Items[0], nil
}

// SetupWithManager registers the controller, for Pods of groups only.
func (l *Leaders) SetupWithManager(mgr ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).Named("leader").
		For(&corev1.Pod{}).
		WithEventFilter(predicate.NewPredicateFuncs(func(object client.Object) bool { return object.GetLabels()[setLabel] != "" }))
	if !l.IgnoresWorkers {
		b.Owns(&appsv1.StatefulSet{})
	}
	return b.Complete(l)
}
