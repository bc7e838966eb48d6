package companions

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/dump"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"
)

// templateHash is the hash by which the Pods of a template are told from others.
func templateHash(template *corev1.PodTemplateSpec, collisions *int32) string {
	hash := fnv.New32a()
	fmt.Fprintf(hash, "%v", dump.ForHash(*template))
	if collisions != nil {
		hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(uint32(*collisions))))
	}
	return rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
}

// collide tries another name for a ReplicaSet if the one that it was to have is taken.
func (r *deploying) collide(set *appsv1.ReplicaSet, refused error) error {
	if apierrors.IsAlreadyExists(refused) {
		r.deployment.Status.CollisionCount = ptr.To(ptr.Deref(r.deployment.Status.CollisionCount, 0) + 1)
		return r.ensure()
	}
	if r.hasDeadline() {
		message := fmt.Sprintf("Failed to create new replica set %q: %v", set.Name, refused)
		r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ReplicaSetCreateError", message)
		if err := r.client.updateStatus(deploymentKind(), r.deployment); err != nil {
			return err
		}
	}
	return refused
}

// revise brings the annotations of the current ReplicaSet up to date, with the revision, and says on the Deployment
// which that is.
func (r *deploying) revise() error {
	if r.current == nil {
		return nil
	}
	annotations, seconds := r.annotations(r.current), r.deployment.Spec.MinReadySeconds
	if !maps.Equal(annotations, r.current.Annotations) || r.current.Spec.MinReadySeconds != seconds {
		r.current.Annotations, r.current.Spec.MinReadySeconds = annotations, seconds
		if err := r.client.update(replicaSetKind(), r.current); err != nil {
			return err
		}
	}
	r.setRevision()
	if r.hasDeadline() && r.condition(appsv1.DeploymentProgressing) == nil {
		r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "FoundNewReplicaSet", fmt.Sprintf("Found new replica set %q", r.current.Name))
	}
	return nil
}

// annotations are those of the current ReplicaSet, nil for a new one: those of the Deployment, with a revision that is
// higher than that of any other.
func (r *deploying) annotations(current *appsv1.ReplicaSet) map[string]string {
	const historyAnnotation = "deployment.kubernetes.io/revision-history"
	own := []string{
		corev1.LastAppliedConfigAnnotation, revisionAnnotation, historyAnnotation, desiredAnnotation, maxAnnotation, "deprecated.deployment.rollback.to",
	}
	all := map[string]string{}
	if current != nil {
		maps.Copy(all, current.Annotations)
	}
	for name, value := range r.deployment.Annotations {
		if !slices.Contains(own, name) {
			all[name] = value
		}
	}
	highest := int64(0)
	for _, set := range r.old {
		highest = max(highest, revisionNumber(set))
	}
	before, had := all[revisionAnnotation]
	if current != nil && revisionNumber(current) > highest {
		return all
	}
	all[revisionAnnotation] = strconv.FormatInt(highest+1, 10)
	if had {
		all[historyAnnotation] = strings.TrimPrefix(all[historyAnnotation]+","+before, ",")
	}
	return all
}

func revisionNumber(set *appsv1.ReplicaSet) int64 {
	number, err := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return number
}

// setRevision says on the Deployment which revision it has.
func (r *deploying) setRevision() {
	if r.deployment.Annotations == nil {
		r.deployment.Annotations = map[string]string{}
	}
	if revision := r.current.Annotations[revisionAnnotation]; r.deployment.Annotations[revisionAnnotation] != revision {
		r.deployment.Annotations[revisionAnnotation] = revision
		r.annotated = true
	}
}

// annotateSize says on a ReplicaSet for which size of the Deployment it was made. It reports whether that was another
// one.
func (r *deploying) annotateSize(set *appsv1.ReplicaSet) bool {
	desired, most := strconv.Itoa(int(r.replicas())), strconv.Itoa(int(r.replicas()+r.maxSurge()))
	if set.Annotations[desiredAnnotation] == desired && set.Annotations[maxAnnotation] == most {
		return false
	}
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	set.Annotations[desiredAnnotation], set.Annotations[maxAnnotation] = desired, most
	return true
}

// fences are how many Pods a rolling update may add, and how many may be missing: at least one of them is more than
// none.
func (r *deploying) fences() (surge, unavailable int32) {
	rolling := r.deployment.Spec.Strategy.RollingUpdate
	if rolling == nil || r.deployment.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return 0, 0
	}
	whole := int(r.replicas())
	surge, unavailable = int32(scaled(rolling.MaxSurge, whole, true)), int32(scaled(rolling.MaxUnavailable, whole, false))
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

func (r *deploying) maxSurge() int32 {
	surge, _ := r.fences()
	return surge
}

func (r *deploying) maxUnavailable() int32 {
	_, unavailable := r.fences()
	return min(unavailable, r.replicas())
}

// total is the sum of a number over ReplicaSets.
func total(sets []*appsv1.ReplicaSet, number func(*appsv1.ReplicaSet) int32) int32 {
	var sum int32
	for _, set := range sets {
		sum += number(set)
	}
	return sum
}

func availableOf(set *appsv1.ReplicaSet) int32 { return set.Status.AvailableReplicas }

// room is how large the current ReplicaSet may be.
func (r *deploying) room(current *appsv1.ReplicaSet) int32 {
	if r.deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return r.replicas()
	}
	size := replicasOf(current)
	free := r.replicas() + r.maxSurge() - total(r.old, replicasOf) - size
	return size + max(0, min(free, r.replicas()-size))
}

// scale sets the size of a ReplicaSet, if it has another one.
func (r *deploying) scale(set *appsv1.ReplicaSet, size int32) error {
	if replicasOf(set) == size {
		return nil
	}
	set.Spec.Replicas = ptr.To(size)
	r.annotateSize(set)
	return r.client.update(replicaSetKind(), set)
}

// roll makes room for new Pods, and takes old ones away as far as enough are available.
func (r *deploying) roll() error {
	if err := r.ensure(); err != nil {
		return err
	}
	if size := replicasOf(r.current); size != r.replicas() {
		wanted := r.replicas()
		if size < wanted {
			wanted = r.room(r.current)
		}
		if wanted != size {
			return r.scale(r.current, wanted)
		}
	}
	scaled, err := r.shrink()
	if err != nil || scaled {
		return err
	}
	return r.tidyIfComplete()
}

// shrink takes away old Pods: first those that are not available, and then others, as long as enough are.
func (r *deploying) shrink() (bool, error) {
	if total(r.old, replicasOf) == 0 {
		return false, nil
	}
	least := r.replicas() - r.maxUnavailable()
	surplus := total(r.old, replicasOf) + replicasOf(r.current) - least - (replicasOf(r.current) - availableOf(r.current))
	if surplus <= 0 {
		return false, nil
	}
	scaled := false
	take := func(set *appsv1.ReplicaSet, from *int32, number int32) error {
		if number = min(number, *from); number <= 0 {
			return nil
		}
		*from -= number
		scaled = true
		return r.scale(set, replicasOf(set)-number)
	}
	for _, set := range r.old {
		size := replicasOf(set)
		if surplus > 0 && 0 < size && size < availableOf(set) {
			return false, nil // the real controller gives up on a status that is so far behind
		}
		if err := take(set, &surplus, size-availableOf(set)); err != nil {
			return false, err
		}
	}
	spare := total(r.old, availableOf) + availableOf(r.current) - least
	for _, set := range r.old {
		if err := take(set, &spare, replicasOf(set)); err != nil {
			return false, err
		}
	}
	return scaled, nil
}

// scaleInProportion brings the ReplicaSets to the size of the Deployment: each by its share, while an update is under
// way.
func (r *deploying) scaleInProportion() error {
	active := slices.DeleteFunc(slices.Clone(r.sets), func(set *appsv1.ReplicaSet) bool { return replicasOf(set) == 0 })
	if len(active) <= 1 {
		only := r.current
		switch {
		case len(active) == 1:
			only = active[0]
		case only == nil && len(r.old) > 0:
			only = r.old[len(r.old)-1]
		}
		if only == nil {
			return nil
		}
		return r.scale(only, r.replicas())
	}
	if r.isSaturated() {
		for _, set := range r.old {
			if err := r.scale(set, 0); err != nil {
				return err
			}
		}
		return nil
	}
	if r.deployment.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return nil
	}
	var allowed int32
	if r.replicas() > 0 {
		allowed = r.replicas() + r.maxSurge()
	}
	toAdd := allowed - total(active, replicasOf)
	slices.SortStableFunc(active, func(a, b *appsv1.ReplicaSet) int {
		order := byAge(a, b)
		if toAdd > 0 {
			order = -order
		}
		return cmp.Or(-cmp.Compare(replicasOf(a), replicasOf(b)), order)
	})
	added := int32(0)
	sizes := make([]int32, len(active))
	for i, set := range active {
		share := r.share(set)
		if toAdd > 0 {
			share = min(share, toAdd-added)
		} else {
			share = max(share, toAdd-added)
		}
		if toAdd == added {
			share = 0
		}
		sizes[i] = replicasOf(set) + share
		added += share
	}
	sizes[0] = max(0, sizes[0]+toAdd-added)
	for i, set := range active {
		sized := replicasOf(set) != sizes[i]
		set.Spec.Replicas = ptr.To(sizes[i])
		if annotated := r.annotateSize(set); sized || annotated {
			if err := r.client.update(replicaSetKind(), set); err != nil {
				return err
			}
		}
	}
	return nil
}

// share is by how much a ReplicaSet grows if it keeps its share of the Deployment.
func (r *deploying) share(set *appsv1.ReplicaSet) int32 {
	size := replicasOf(set)
	if r.replicas() == 0 {
		return -size
	}
	before, err := strconv.Atoi(set.Annotations[maxAnnotation])
	if err != nil || before <= 0 {
		before = int(r.deployment.Status.Replicas)
	}
	if before == 0 {
		return 0
	}
	return int32(math.Round(float64(size*(r.replicas()+r.maxSurge()))/float64(before))) - size
}

// isSaturated reports whether the current ReplicaSet has all Pods that the Deployment asks for.
func (r *deploying) isSaturated() bool {
	if r.current == nil {
		return false
	}
	desired, known := desiredWith(r.current)
	return known && desired == r.replicas() && replicasOf(r.current) == r.replicas() && availableOf(r.current) == r.replicas()
}
