package leadergroups

import (
	"context"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// available is the condition that all groups are ready, and updating that some are not yet of the current revision.
	available = "Available"
	updating  = "Updating"
)

// GroupSets keeps the leaders of each GroupSet: a StatefulSet with a Pod for each group. It updates one group after the other, from the last to the first.
type GroupSets struct {
	client.Client
	// CountsWorkersByName is a defect: it takes the workers that it finds under the name of a leader for those of the leader.
	CountsWorkersByName bool
}

// Reconcile brings leaders and status closer to what the set wants.
func (r *GroupSets) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var set GroupSet
	if err := r.Get(ctx, request.NamespacedName, &set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !set.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	revision, err := r.ensureRevision(ctx, &set)
	if err != nil {
		return ctrl.Result{}, err
	}
	groups, err := r.groups(ctx, &set, revision.Labels[revisionLabel])
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.ensureLeaders(ctx, &set, revision, groups); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.report(ctx, &set, groups); err != nil {
		return ctrl.Result{}, err
	}
	if int(set.Status.UpdatedGroups) < len(groups) {
		return ctrl.Result{}, nil // a group that is recreated may need its revision
	}
	return ctrl.Result{}, r.pruneRevisions(ctx, &set, revision)
}

// group is what a set has in place of one of its groups.
type group struct {
	// ready tells that the leader and all of its workers are, and updated that they are of the current revision.
	ready, updated bool
}

// groups looks at the groups of a set, by number.
func (r *GroupSets) groups(ctx context.Context, set *GroupSet, revision string) ([]group, error) {
	var leaders corev1.PodList
	if err := r.List(ctx, &leaders, client.InNamespace(set.Namespace), client.MatchingFields{controllerIndex: set.Name}); err != nil {
		return nil, err
	}
	groups := make([]group, set.Spec.Groups)
	for i := range leaders.Items {
		leader := &leaders.Items[i]
		number, err := strconv.Atoi(leader.Labels[appsv1.PodIndexLabel])
		if err != nil {
			return nil, err
		}
		if number >= len(groups) {
			continue
		}
		ready, err := r.ready(ctx, leader)
		if err != nil {
			return nil, err
		}
		groups[number] = group{ready: ready, updated: leader.Labels[revisionLabel] == revision}
	}
	return groups, nil
}

// ready reports whether a leader and its workers are.
func (r *GroupSets) ready(ctx context.Context, leader *corev1.Pod) (bool, error) {
	if !podReady(leader) {
		return false, nil
	}
	var workers appsv1.StatefulSet
	if err := r.Get(ctx, client.ObjectKeyFromObject(leader), &workers); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if !r.CountsWorkersByName && !metav1.IsControlledBy(&workers, leader) {
		return false, nil
	}
	status := &workers.Status
	return status.ObservedGeneration >= workers.Generation && status.ReadyReplicas == *workers.Spec.Replicas, nil
}

// podReady reports whether a Pod is ready, and there to stay.
func podReady(pod *corev1.Pod) bool {
	if !pod.DeletionTimestamp.IsZero() {
		return false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// ensureLeaders brings the StatefulSet of the leaders to the revision, and lets it go on to the next group when the last is done.
func (r *GroupSets) ensureLeaders(ctx context.Context, set *GroupSet, revision *appsv1.ControllerRevision, groups []group) error {
	var leaders appsv1.StatefulSet
	err := r.Get(ctx, client.ObjectKeyFromObject(set), &leaders)
	switch {
	case apierrors.IsNotFound(err):
		created := newLeaders(set, revision)
		if err := ctrl.SetControllerReference(set, created, r.Scheme()); err != nil {
			return err
		}
		return r.Create(ctx, created)
	case err != nil:
		return err
	}
	before := leaders.DeepCopy()
	partition := leaders.Spec.UpdateStrategy.RollingUpdate.Partition
	if key := revision.Labels[revisionLabel]; leaders.Spec.Template.Labels[revisionLabel] != key {
		leaders.Labels[revisionLabel] = key
		leaders.Spec.Template = leaderTemplate(set, key)
		*partition = set.Spec.Groups
	}
	leaders.Spec.Replicas = &set.Spec.Groups
	*partition = min(*partition, nextPartition(groups))
	if equality.Semantic.DeepEqual(before, &leaders) {
		return nil
	}
	return r.Update(ctx, &leaders)
}

// nextPartition returns the number of the group from which on all may be of the current revision: those that are, and one more if all others are ready.
func nextPartition(groups []group) int32 {
	partition := len(groups)
	for partition > 0 && groups[partition-1].ready && groups[partition-1].updated {
		partition--
	}
	for i := range partition - 1 {
		if !groups[i].ready {
			return int32(partition)
		}
	}
	return int32(max(partition-1, 0))
}

// report writes what there is into the status of a set.
func (r *GroupSets) report(ctx context.Context, set *GroupSet, groups []group) error {
	before := set.deepCopy()
	if summarize(set, groups); equality.Semantic.DeepEqual(before, set) {
		return nil
	}
	return r.Status().Update(ctx, set)
}

// summarize says in the status of a set what there is.
func summarize(set *GroupSet, groups []group) {
	status := &set.Status
	status.ObservedGeneration, status.ReadyGroups, status.UpdatedGroups = set.Generation, 0, 0
	for _, g := range groups {
		if g.ready {
			status.ReadyGroups++
		}
		if g.ready && g.updated {
			status.UpdatedGroups++
		}
	}
	all := int32(len(groups))
	setCondition(set, available, status.ReadyGroups == all, "GroupsReady")
	setCondition(set, updating, status.UpdatedGroups < all, "GroupsUpdating")
}

func setCondition(set *GroupSet, name string, is bool, reason string) {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&set.Status.Conditions, metav1.Condition{
		Type: name, Status: status, Reason: reason, ObservedGeneration: set.Generation,
	})
}

// SetupWithManager registers the controller. It is told of workers through the label of their set.
func (r *GroupSets) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("groupset").
		For(&GroupSet{}).
		Owns(&appsv1.StatefulSet{}).
		Watches(&appsv1.StatefulSet{}, handler.EnqueueRequestsFromMapFunc(setOf)).
		Complete(r)
}

// setOf asks for the set that an object is labelled with.
func setOf(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[setLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
}
