package companions

import (
	"errors"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// sync creates Pods on Nodes and deletes Pods.
func (s *daemonSync) sync(nodes []string, excess []*corev1.Pod) error {
	if len(nodes)+len(excess) == 0 {
		return nil
	}
	s.pods = nil
	var failed []error
	for _, node := range nodes {
		failed = append(failed, unlessNamespaceEnds(s.client.create(podKind(), s.newDaemon(node))))
	}
	for _, pod := range excess {
		failed = append(failed, s.client.remove(podKind(), pod))
	}
	return errors.Join(failed...)
}

// manage makes the Pods that are missing on Nodes, and deletes those that are too many, that have come to their end, or
// that are where they should not be.
func (s *daemonSync) manage() error {
	byNode, err := s.byNode(false)
	if err != nil {
		return err
	}
	var needed []string
	var excess []*corev1.Pod
	known := map[string]bool{}
	for _, node := range s.nodes {
		known[node.Name] = true
		pods, scheduled := byNode[node.Name]
		switch runs, stays := fits(s.set, node); {
		case runs && !scheduled:
			needed = append(needed, node.Name)
		case stays:
			running := slices.DeleteFunc(notDeleted(pods), isFinished)
			excess = append(excess, filter(notDeleted(pods), isFinished)...)
			excess = append(excess, s.superfluous(running)...)
			if runs && len(running) == 0 && s.surge(1) > 0 {
				needed = append(needed, node.Name)
			}
		default:
			excess = append(excess, notDeleted(pods)...)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		if !known[node] {
			excess = append(excess, filter(byNode[node], func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" })...)
		}
	}
	return s.sync(needed, excess)
}

// notDeleted are the Pods that are not being deleted.
func notDeleted(pods []*corev1.Pod) []*corev1.Pod {
	return filter(pods, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil })
}

// superfluous are those of the Pods that run on a Node of which there is an older one. With surge, an old and a new one
// may run until the new one is ready, or the old one is not.
func (s *daemonSync) superfluous(running []*corev1.Pod) []*corev1.Pod {
	if len(running) <= 1 {
		return nil
	}
	sorted := oldestFirst(running)
	if s.surge(1) == 0 {
		return sorted[1:]
	}
	var newest, old *corev1.Pod
	var excess []*corev1.Pod
	for _, pod := range sorted {
		switch {
		case s.isUpdated(pod) && newest == nil:
			newest = pod
		case !s.isUpdated(pod) && old == nil:
			old = pod
		default:
			excess = append(excess, pod)
		}
	}
	if newest != nil && old != nil && (!isReady(old) || isReady(newest)) {
		excess = append(excess, old)
	}
	return excess
}

// surge is how many Pods a rolling update may add.
func (s *daemonSync) surge(wanted int) int {
	rolling := s.set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || s.set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return 0
	}
	return scaled(rolling.MaxSurge, wanted, true)
}

// unavailable is how many Pods may be missing in a rolling update. If it may not add any, that is at least one.
func (s *daemonSync) unavailable(wanted int) int {
	number := 0
	if rolling := s.set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		number = scaled(rolling.MaxUnavailable, wanted, true)
	}
	if number == 0 && wanted > 0 && s.surge(wanted) == 0 {
		return 1
	}
	return number
}

// scaled is a number that may be a part of another one, 0 if there is none, or none that can be read: the server
// refuses it.
func scaled(of *intstr.IntOrString, whole int, up bool) int {
	number, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(of, intstr.FromInt32(0)), whole, up)
	if err != nil {
		return 0
	}
	return number
}

// update replaces Pods that are not of the newest revision, as far as enough others are ready.
func (s *daemonSync) update() error {
	byNode, err := s.byNode(false)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, node := range s.nodes {
		if runs, _ := fits(s.set, node); runs {
			wanted[node.Name] = true
			if _, scheduled := byNode[node.Name]; !scheduled {
				byNode[node.Name] = nil
			}
		}
	}
	if s.surge(len(wanted)) > 0 {
		return s.addAhead(byNode, wanted)
	}
	unavailable := 0
	var broken, candidates []*corev1.Pod
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		newest, old, ok := s.revisionsOn(byNode[node])
		switch {
		case !ok || (newest == nil) == (old == nil):
			unavailable++
		case newest != nil:
			unavailable += ordinal(!isReady(newest))
		case !isReady(old):
			unavailable++
			broken = append(broken, old)
		default:
			candidates = append(candidates, old)
		}
	}
	number := max(0, min(s.unavailable(len(wanted))-unavailable, len(candidates)))
	return s.sync(nil, append(broken, candidates[:number]...))
}

// revisionsOn are the Pod of the newest revision on a Node and the one of another, and false if there are several of a
// kind.
func (s *daemonSync) revisionsOn(pods []*corev1.Pod) (newest, old *corev1.Pod, ok bool) {
	for _, pod := range notDeleted(pods) {
		place := &old
		if s.isUpdated(pod) {
			place = &newest
		}
		if *place != nil {
			return nil, nil, false
		}
		*place = pod
	}
	return newest, old, true
}

// addAhead adds Pods of the newest revision beside others, and deletes those others once the new ones are ready.
func (s *daemonSync) addAhead(byNode map[string][]*corev1.Pod, wanted map[string]bool) error {
	known := map[string]bool{}
	for _, node := range s.nodes {
		known[node.Name] = true
	}
	surging, available := 0, 0
	var excess, misplaced []*corev1.Pod
	var broken, candidates []string
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		newest, old, ok := s.revisionsOn(byNode[node])
		if !ok {
			surging++
			continue
		}
		if old != nil {
			available += ordinal(isReady(old))
		} else if newest != nil {
			available += ordinal(isReady(newest))
		}
		switch {
		case old == nil:
		case newest != nil && isReady(newest):
			excess = append(excess, old)
		case newest != nil:
			surging++
		case !known[node]:
			s.stuck = true // the real controller fails until the Pod is gone
			return nil
		case !isReady(old) && !wanted[node]:
			excess = append(excess, old)
		case !isReady(old):
			broken = append(broken, node)
		case !wanted[node]:
			misplaced = append(misplaced, old)
		default:
			candidates = append(candidates, node)
		}
	}
	excess = append(excess, misplaced[:max(0, min(available-len(wanted), len(misplaced)))]...)
	number := max(0, min(s.surge(len(wanted))-surging, len(candidates)))
	return s.sync(append(broken, candidates[:number]...), excess)
}
