package companions

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// StatefulSets is the controller that makes the Pods of StatefulSets: in order or in parallel, from the revisions of
// the template, with rolling updates down to the partition or on deletion, with claims made from the templates for
// them, and owners of these as the retention policy says.
//
// A Pod that is ready is available, whatever minReadySeconds says. The API server drops maxUnavailable, as one without
// the feature gate MaxUnavailableStatefulSet does. Where the Pod or the claim of a StatefulSet before has the name that
// is needed, the companion waits until it is gone.
func StatefulSets() Companion {
	s := statefulSets{controls{owner: statefulSetKind(), dependent: podKind(), claims: func(*corev1.Pod) bool { return true }}}
	return func(server *kube.Server) (core.Strategy, error) {
		all := &strategy{
			name:   "statefulset",
			kinds:  []schema.GroupVersionKind{statefulSetKind(), podKind(), claimKind(), revisionKind()},
			handle: s.handle, reconcile: s.reconcile,
		}
		return all.on(server)
	}
}

type statefulSets struct{ controls }

func (s statefulSets) handle(c client, event core.Event) []core.Request {
	switch event.Key.Kind {
	case kube.KindOf(s.owner.GroupKind()):
		return []core.Request{on(event.Key.Namespace, event.Key.Name)}
	case kube.KindOf(s.dependent.GroupKind()):
		return append(s.requests(c, event), s.named(c, event)...)
	case kube.KindOf(claimKind().GroupKind()):
		if event.New == nil {
			return s.waiting(c, event.Key)
		}
	}
	return nil
}

// named is the request for the set that may wait for the name of a Pod that is gone, whoever that belonged to: the real
// controller tries again and again.
func (s statefulSets) named(c client, event core.Event) []core.Request {
	at := strings.LastIndexByte(event.Key.Name, '-')
	if event.New != nil || at < 0 || lifetime(c, s.owner, event.Key.Namespace, event.Key.Name[:at]) == nil {
		return nil
	}
	return []core.Request{on(event.Key.Namespace, event.Key.Name[:at])}
}

// waiting are the requests for those who may wait for a claim to be gone.
func (s statefulSets) waiting(c client, claim core.Key) []core.Request {
	var found []core.Request
	for _, set := range listCached[appsv1.StatefulSet](c, s.owner, claim.Namespace) {
		for _, template := range set.Spec.VolumeClaimTemplates {
			if strings.HasPrefix(claim.Name, template.Name+"-"+set.Name+"-") {
				found = append(found, on(set.Namespace, set.Name))
			}
		}
	}
	return found
}

func (s statefulSets) reconcile(c client, named request) error {
	if named.what == release {
		return s.release(c, named)
	}
	set, err := get[appsv1.StatefulSet](c, s.owner, named.namespace, named.name)
	if err != nil || set == nil {
		return err
	}
	pods, err := s.podsOf(c, set, set.Spec.Selector)
	if err != nil {
		return err
	}
	history, err := readHistory(c, s.owner, set, set.Spec.Selector, &set.Spec.Template, statefulHashing())
	if err != nil {
		return err
	}
	r := &rollout{client: c, set: set, collisions: ptr.Deref(set.Status.CollisionCount, 0)}
	if r.update, err = history.newest(c, &r.collisions); err != nil {
		return err
	}
	if r.current = history.named(set.Status.CurrentRevision); r.current == nil {
		r.current = r.update
	}
	r.sort(pods)
	failed := r.work()
	if err := r.report(); err != nil {
		return err
	}
	if errors.Is(failed, errWaits) {
		failed = nil
	}
	needed := map[string]bool{r.current.Name: true, r.update.Name: true}
	for _, pod := range pods {
		needed[pod.Labels[appsv1.StatefulSetRevisionLabel]] = true
	}
	return cmp.Or(history.truncate(c, set.Spec.RevisionHistoryLimit, needed), failed)
}

// report writes the status of the set if it is another one.
func (r *rollout) report() error {
	status := r.status()
	if equality.Semantic.DeepEqual(r.set.Status, status) {
		return nil
	}
	r.set.Status = status
	return r.client.updateStatus(statefulSetKind(), r.set)
}

// status is the status of the set with its Pods as they are now.
func (r *rollout) status() appsv1.StatefulSetStatus {
	status := appsv1.StatefulSetStatus{
		ObservedGeneration: r.set.Generation,
		CurrentRevision:    r.current.Name,
		UpdateRevision:     r.update.Name,
		CollisionCount:     ptr.To(r.collisions),
		Conditions:         r.set.Status.Conditions,
	}
	for _, pod := range slices.Concat(r.replicas, r.condemned) {
		if pod == nil {
			continue
		}
		status.Replicas++
		if runs(pod) {
			status.ReadyReplicas++
		}
		if isReady(pod) {
			status.AvailableReplicas++
		}
		if pod.DeletionTimestamp != nil {
			continue
		}
		status.CurrentReplicas += int32(ordinal(revisionOf(pod) == r.current.Name))
		status.UpdatedReplicas += int32(ordinal(revisionOf(pod) == r.update.Name))
	}
	wanted := int32(len(r.replicas))
	complete := status.UpdatedReplicas == wanted && status.ReadyReplicas == wanted && status.Replicas == wanted
	if complete && r.set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		status.CurrentReplicas, status.CurrentRevision = status.UpdatedReplicas, status.UpdateRevision
	}
	return status
}

// runs reports whether a Pod runs and is ready.
func runs(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning && isReady(pod) }

// revisionOf is the name of the revision that a Pod was made from.
func revisionOf(pod *corev1.Pod) string { return pod.Labels[appsv1.StatefulSetRevisionLabel] }

// numberOf is the number of a Pod of a set, and false if its name is not that of one.
func numberOf(set metav1.Object, pod *corev1.Pod) (int, bool) {
	digits, ok := strings.CutPrefix(pod.Name, set.GetName()+"-")
	number, err := strconv.Atoi(digits)
	return number, ok && err == nil && number >= 0 && digits == strconv.Itoa(number)
}
