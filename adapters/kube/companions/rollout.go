package companions

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// rollout is the controller of StatefulSets at work on one of them.
type rollout struct {
	client client
	set    *appsv1.StatefulSet
	// current and update are the revisions that Pods are made from below the partition, and above it.
	current, update *appsv1.ControllerRevision
	collisions      int32
	// replicas are the Pods that the set asks for, by their place in it; nil for those that are not there. condemned
	// are the others, the last one first.
	replicas, condemned []*corev1.Pod
}

// sort finds the places of Pods.
func (r *rollout) sort(pods []*corev1.Pod) {
	r.replicas = make([]*corev1.Pod, ptr.Deref(r.set.Spec.Replicas, 1))
	for _, pod := range pods {
		number, ok := numberOf(r.set, pod)
		place := number - r.start()
		switch {
		case !ok:
		case place >= 0 && place < len(r.replicas):
			r.replicas[place] = pod
		default:
			r.condemned = append(r.condemned, pod)
		}
	}
	slices.SortFunc(r.condemned, func(a, b *corev1.Pod) int { return -cmp.Compare(r.number(a), r.number(b)) })
}

// number is that of a Pod with a place in the set.
func (r *rollout) number(pod *corev1.Pod) int {
	number, _ := numberOf(r.set, pod)
	return number
}

// start is the number of the first Pod.
func (r *rollout) start() int {
	if r.set.Spec.Ordinals == nil {
		return 0
	}
	return int(r.set.Spec.Ordinals.Start)
}

// ordered reports whether Pods are made and deleted one after the other.
func (r *rollout) ordered() bool {
	return r.set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
}

// work brings the Pods closer to what the set asks for.
func (r *rollout) work() error {
	if r.set.DeletionTimestamp != nil {
		return nil
	}
	sick := r.firstUnavailable()
	if wait, err := r.ensureAll(); err != nil || wait {
		return err
	}
	for _, pod := range r.condemned {
		if err := r.retain(pod); err != nil {
			return err
		}
	}
	for i, pod := range r.condemned {
		if r.ordered() && (pod.DeletionTimestamp != nil || !isReady(pod) && pod != sick) {
			return nil
		}
		if err := r.remove(r.condemned, i); err != nil || r.ordered() {
			return err
		}
	}
	if r.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	return r.replace()
}

// ensureAll makes the Pods that are missing. It reports whether the rest has to wait. A real controller makes those of
// a parallel set in batches, the next of which is twice as large as the one before. An error ends the last batch, so
// that it decides which Pods there are.
func (r *rollout) ensureAll() (bool, error) {
	if r.ordered() {
		for place := range r.replicas {
			if wait, err := r.ensure(place); err != nil || wait {
				return true, err
			}
		}
		return false, nil
	}
	for begin, size := 0, 1; begin < len(r.replicas); begin, size = begin+size, 2*size {
		var failed error
		for place := begin; place < min(begin+size, len(r.replicas)); place++ {
			_, err := r.ensure(place)
			failed = cmp.Or(failed, err)
		}
		if failed != nil {
			return true, failed
		}
	}
	return false, nil
}

// firstUnavailable is the first Pod that is there and not available, nil if there is none, or if one before it is
// missing.
func (r *rollout) firstUnavailable() *corev1.Pod {
	condemned := slices.Clone(r.condemned)
	slices.Reverse(condemned)
	for _, pod := range slices.Concat(r.replicas, condemned) {
		if pod == nil || !isReady(pod) || pod.DeletionTimestamp != nil {
			return pod
		}
	}
	return nil
}

// ensure makes a Pod, or replaces one that has come to its end. It reports whether later ones have to wait.
func (r *rollout) ensure(place int) (bool, error) {
	pod := r.replicas[place]
	switch {
	case pod != nil && isFinished(pod):
		return true, r.remove(r.replicas, place)
	case pod == nil:
		created, err := r.create(place)
		r.replicas[place] = created
		return true, err
	case pod.Status.Phase == corev1.PodPending:
		if err := r.claim(pod); err != nil {
			return true, err
		}
		if err := r.retain(pod); err != nil {
			return true, err
		}
	}
	if r.ordered() && (pod.DeletionTimestamp != nil || !runs(pod)) {
		return true, nil
	}
	return false, r.conform(pod)
}

// conform gives a Pod, and its claims, what each Pod of the set has. A Pod that was adopted may be refused the volumes
// that it has not.
func (r *rollout) conform(pod *corev1.Pod) error {
	number := r.number(pod)
	volumes := r.volumes(pod.Spec.Volumes, number)
	unmounted := slices.ContainsFunc(volumes, func(v corev1.Volume) bool {
		return !slices.ContainsFunc(pod.Spec.Volumes, func(of corev1.Volume) bool { return equality.Semantic.DeepEqual(of, v) })
	})
	if unmounted {
		if err := r.claim(pod); err != nil {
			return err
		}
	}
	if err := r.retain(pod); err != nil {
		return err
	}
	if !unmounted && pod.Labels[appsv1.StatefulSetPodNameLabel] == pod.Name {
		return nil
	}
	if unmounted {
		pod.Spec.Volumes = volumes
	}
	maps.Copy(pod.Labels, r.identity(pod.Name, number))
	return r.client.update(podKind(), pod)
}

// remove deletes a Pod, unless it is being deleted already.
func (r *rollout) remove(pods []*corev1.Pod, i int) error {
	pod := pods[i]
	if pod.DeletionTimestamp != nil {
		return nil
	}
	if err := r.client.remove(podKind(), pod); err != nil {
		return err
	}
	if !lingers(pod) {
		pods[i] = nil
		return nil
	}
	pod.DeletionTimestamp = ptr.To(r.client.now())
	return nil
}

// replace deletes the last Pod that is out of date, down to the partition, if those after it are available.
func (r *rollout) replace() error {
	for place := len(r.replicas) - 1; place >= r.partition(); place-- {
		pod := r.replicas[place]
		if pod != nil && revisionOf(pod) != r.update.Name && pod.DeletionTimestamp == nil {
			return r.remove(r.replicas, place)
		}
		if pod == nil || !isReady(pod) || pod.DeletionTimestamp != nil {
			return nil
		}
	}
	return nil
}

// partition is the first place that is updated.
func (r *rollout) partition() int {
	if rolling := r.set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return int(ptr.Deref(rolling.Partition, 0))
	}
	return 0
}

// create makes the Pod of a place with its claims, and returns nil if something that has to go first is in the way.
func (r *rollout) create(place int) (*corev1.Pod, error) {
	revision, template := r.update, &r.set.Spec.Template
	if place < r.partition() {
		revision = r.current
		of, err := templateOf(revision)
		if err != nil {
			return nil, err
		}
		template = of
	}
	pod := newPod(template, r.set, metav1.NewControllerRef(r.set, statefulSetKind()))
	number := r.start() + place
	pod.Name = pod.GenerateName + strconv.Itoa(number)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, r.identity(pod.Name, number))
	pod.Labels[appsv1.StatefulSetRevisionLabel] = revision.Name
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, r.set.Spec.ServiceName
	pod.Spec.Volumes = r.volumes(pod.Spec.Volumes, number)
	if stale, err := r.claimsAreStale(pod); err != nil || stale {
		return nil, err
	}
	if err := r.claim(pod); err != nil {
		return nil, err
	}
	err := r.client.create(podKind(), pod)
	if apierrors.IsAlreadyExists(err) {
		return nil, r.inTheWay(pod.Name, err)
	}
	if err != nil {
		return nil, err
	}
	return pod, r.retain(pod)
}

// identity are the labels that say which Pod it is.
func (r *rollout) identity(name string, number int) map[string]string {
	return map[string]string{appsv1.StatefulSetPodNameLabel: name, appsv1.PodIndexLabel: strconv.Itoa(number)}
}

// errWaits tells that something has to go before more can be done, and that its end is an event. A real controller
// fails, and tries again and again.
var errWaits = errors.New("what was there before has to go first")

// inTheWay is what it comes to that a Pod of the name is there: to wait, if that was made for a set of the same name,
// since its end is then an event.
func (r *rollout) inTheWay(name string, refused error) error {
	pod, err := get[corev1.Pod](r.client, podKind(), r.set.Namespace, name)
	if err != nil {
		return err
	}
	owner := controls{owner: statefulSetKind()}
	if pod == nil {
		return refused
	}
	if of := owner.controllerOf(pod); of == nil || of.Name != r.set.Name || of.UID == r.set.UID {
		return refused
	}
	return errWaits
}
