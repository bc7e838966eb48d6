package companions

import (
	"cmp"
	"errors"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

func daemonSetKind() schema.GroupVersionKind {
	return appsv1.SchemeGroupVersion.WithKind("DaemonSet")
}

// DaemonSets is the controller that makes the Pods of DaemonSets: one for each Node that the template selects, by
// labels, affinity and tolerations. The Nodes are objects of the system. It replaces Pods that have come to their end,
// and updates the others within maxUnavailable or maxSurge, or on deletion. A Pod names its Node in its affinity, where
// [Pods] puts it.
//
// Where a real controller is free to take any Node first for an update, the companion takes them by their names. It
// learns of a Node as the real one does: when that is new, or has other labels or taints, and only if a Pod is to be
// made or to go; not when the Node is deleted. Left out are minReadySeconds, the time between the failure of a Pod and
// the next one, and the label pod-template-generation, which is deprecated and counts up for ever.
func DaemonSets() Companion {
	d := daemonSets{controls{owner: daemonSetKind(), dependent: podKind(), claims: func(*corev1.Pod) bool { return true }, leave: true}}
	return func(server *kube.Server) (core.Strategy, error) {
		watched := []schema.GroupVersionKind{daemonSetKind(), podKind(), revisionKind(), nodeKind()}
		s := &strategy{name: "daemonset", kinds: watched, handle: d.handle, reconcile: d.reconcile}
		return s.on(server)
	}
}

type daemonSets struct{ controls }

func (d daemonSets) handle(c client, event core.Event) []core.Request {
	switch event.Key.Kind {
	case kube.KindOf(daemonSetKind().GroupKind()):
		return []core.Request{on(event.Key.Namespace, event.Key.Name)}
	case kube.KindOf(nodeKind().GroupKind()):
		return d.handleNode(c, event)
	case kube.KindOf(revisionKind().GroupKind()):
		if event.Old == nil {
			return nil
		}
		return d.owners(c, event)
	}
	return d.requests(c, event)
}

// handleNode returns the requests for those DaemonSets that have to do something on a Node, or may have to count it
// anew, and for those whose update fails, since a real controller tries again.
func (d daemonSets) handleNode(c client, event core.Event) []core.Request {
	old, now := typed[corev1.Node](event.Old), typed[corev1.Node](event.New)
	changed := now != nil && (old == nil || !equality.Semantic.DeepEqual(old.Labels, now.Labels) || !equality.Semantic.DeepEqual(old.Spec.Taints, now.Spec.Taints))
	known := map[string]bool{event.Key.Name: true}
	var current *corev1.Node // it may have changed again
	for _, node := range listCached[corev1.Node](c, nodeKind(), "") {
		known[node.Name] = true
		if node.Name == event.Key.Name {
			current = node
		}
	}
	scheduled := map[core.Request]bool{}
	elsewhere := map[types.UID]map[string][]*corev1.Pod{}
	for _, pod := range listCached[corev1.Pod](c, podKind(), "") {
		owner := d.controllerOf(pod)
		if owner == nil {
			continue
		}
		set := on(pod.Namespace, owner.Name)
		scheduled[set] = scheduled[set] || pod.Spec.NodeName == event.Key.Name
		if pod.Spec.NodeName != "" && !known[pod.Spec.NodeName] {
			if elsewhere[owner.UID] == nil {
				elsewhere[owner.UID] = map[string][]*corev1.Pod{}
			}
			elsewhere[owner.UID][pod.Spec.NodeName] = append(elsewhere[owner.UID][pod.Spec.NodeName], pod)
		}
	}
	var found []core.Request
	for _, set := range listCached[appsv1.DaemonSet](c, daemonSetKind(), "") {
		named := on(set.Namespace, set.Name)
		needed := false
		if changed && current != nil {
			runs, stays := fits(set, current)
			needed = runs && !scheduled[named] || scheduled[named] && (!stays || set.Status.NumberMisscheduled > 0)
		}
		if needed || d.fails(c, set, elsewhere[set.UID]) {
			found = append(found, named)
		}
	}
	return found
}

// fails reports whether an update of a DaemonSet has to look at a Node that is not there, as the cache shows it: there
// is a Pod on it to be replaced.
func (d daemonSets) fails(c client, set *appsv1.DaemonSet, elsewhere map[string][]*corev1.Pod) bool {
	s := &daemonSync{set: set}
	if len(elsewhere) == 0 || s.surge(1) == 0 {
		return false
	}
	var last int64
	for _, revision := range listCached[appsv1.ControllerRevision](c, revisionKind(), set.Namespace) {
		if metav1.IsControlledBy(revision, set) && revision.Revision > last {
			last, s.hash = revision.Revision, revision.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
		}
	}
	for _, pods := range elsewhere {
		if newest, old, ok := s.revisionsOn(pods); ok && newest == nil && old != nil {
			return true
		}
	}
	return false
}

// fits reports whether a DaemonSet is to have a Pod on a Node, and whether one that is there already stays.
func fits(set *appsv1.DaemonSet, node *corev1.Node) (runs, stays bool) {
	spec := set.Spec.Template.Spec
	if spec.NodeName != "" && spec.NodeName != node.Name || !isSelected(&spec, node) {
		return false, false
	}
	tolerations := daemonTolerations(&spec)
	if isTainted(node, tolerations, corev1.TaintEffectNoExecute) {
		return false, false
	}
	return !isTainted(node, tolerations, corev1.TaintEffectNoSchedule), true
}

// daemonTolerations are those of a template, and those that each Pod of a DaemonSet has.
func daemonTolerations(spec *corev1.PodSpec) []corev1.Toleration {
	all := slices.Clone(spec.Tolerations)
	add := func(key string, effect corev1.TaintEffect) {
		toleration := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
		at := slices.IndexFunc(all, func(t corev1.Toleration) bool { return t.MatchToleration(&toleration) })
		if at < 0 {
			all = append(all, toleration)
		} else {
			all[at] = toleration // without end
		}
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if spec.HostNetwork {
		add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
	return all
}

func (d daemonSets) reconcile(c client, named request) error {
	if named.what == release {
		return d.release(c, named)
	}
	set, err := get[appsv1.DaemonSet](c, daemonSetKind(), named.namespace, named.name)
	if err != nil || set == nil || set.DeletionTimestamp != nil || selectorOf(set.Spec.Selector).Empty() {
		return err
	}
	nodes, err := list[corev1.Node](c, &kube.Request{Kind: nodeKind()})
	if err != nil {
		return err
	}
	history, err := readHistory(c, daemonSetKind(), set, set.Spec.Selector, &set.Spec.Template, daemonHashing())
	if err != nil {
		return err
	}
	s := &daemonSync{daemonSets: d, client: c, set: set, nodes: nodes, collisions: ptr.Deref(set.Status.CollisionCount, 0)}
	update, err := history.newest(c, &s.collisions)
	if err != nil {
		return err
	}
	s.hash = update.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
	failed := s.manage()
	if failed == nil && set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		failed = s.update()
	}
	if failed == nil && !s.stuck {
		failed = s.truncate(history, update)
	}
	return errors.Join(failed, s.report())
}

// daemonSync is the controller of DaemonSets at work on one of them.
type daemonSync struct {
	daemonSets

	client client
	set    *appsv1.DaemonSet
	nodes  []*corev1.Node
	// hash is that of the revision that Pods are to have.
	hash       string
	collisions int32
	// pods are those of the set, nil if they have to be read.
	pods []*corev1.Pod
	// stuck tells that an update waits for a Pod on a Node that is not there.
	stuck bool
}

// byNode returns the Pods of the set by their Nodes. If ended is false, those are left out that have come to their end
// and are being deleted.
func (s *daemonSync) byNode(ended bool) (map[string][]*corev1.Pod, error) {
	if s.pods == nil {
		pods, err := s.podsOf(s.client, s.set, s.set.Spec.Selector)
		if err != nil {
			return nil, err
		}
		s.pods = pods
	}
	found := map[string][]*corev1.Pod{}
	for _, pod := range s.pods {
		node := cmp.Or(pod.Spec.NodeName, nodeByAffinity(pod))
		if node == "" || !ended && isFinished(pod) && pod.DeletionTimestamp != nil {
			continue
		}
		found[node] = append(found[node], pod)
	}
	return found, nil
}

// isUpdated reports whether a Pod is of the newest revision.
func (s *daemonSync) isUpdated(pod *corev1.Pod) bool {
	return pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == s.hash
}

// truncate deletes the oldest revisions beyond the limit, but for those that Pods are of.
func (s *daemonSync) truncate(history *history, update *appsv1.ControllerRevision) error {
	byNode, err := s.byNode(true)
	if err != nil {
		return err
	}
	live := map[string]bool{}
	for _, pods := range byNode {
		for _, pod := range pods {
			live[pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]] = true
		}
	}
	number := len(history.revisions) - 1 - int(ptr.Deref(s.set.Spec.RevisionHistoryLimit, 0))
	unused := slices.DeleteFunc(slices.Clone(history.revisions), func(r *appsv1.ControllerRevision) bool {
		hash := r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
		return r.Name == update.Name || hash != "" && live[hash]
	})
	return deleteFirst(s.client, unused, number)
}

// report writes the status of the set if it is another one.
func (s *daemonSync) report() error {
	byNode, err := s.byNode(false)
	if err != nil {
		return err
	}
	status := appsv1.DaemonSetStatus{
		ObservedGeneration: s.set.Generation, CollisionCount: s.set.Status.CollisionCount, Conditions: s.set.Status.Conditions,
	}
	if s.collisions > 0 {
		status.CollisionCount = ptr.To(s.collisions)
	}
	for _, node := range s.nodes {
		runs, _ := fits(s.set, node)
		pods := byNode[node.Name]
		if !runs {
			status.NumberMisscheduled += int32(ordinal(len(pods) > 0))
			continue
		}
		status.DesiredNumberScheduled++
		if len(pods) == 0 {
			continue
		}
		status.CurrentNumberScheduled++
		pod := oldestFirst(pods)[0]
		status.NumberReady += int32(ordinal(isReady(pod)))
		status.UpdatedNumberScheduled += int32(ordinal(s.isUpdated(pod)))
	}
	status.NumberAvailable = status.NumberReady
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	if equality.Semantic.DeepEqual(s.set.Status, status) {
		return nil
	}
	s.set.Status = status
	return s.client.updateStatus(daemonSetKind(), s.set)
}

// oldestFirst sorts the Pods on a Node: those first that are scheduled, and then those that were made first. Times are
// the same here, so that names decide.
func oldestFirst(pods []*corev1.Pod) []*corev1.Pod {
	sorted := slices.Clone(pods)
	slices.SortFunc(sorted, func(a, b *corev1.Pod) int {
		return cmp.Or(
			-cmp.Compare(ordinal(a.Spec.NodeName != ""), ordinal(b.Spec.NodeName != "")),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return sorted
}

// newDaemon is the Pod for a Node.
func (s *daemonSync) newDaemon(node string) *corev1.Pod {
	pod := newPod(&s.set.Spec.Template, s.set, metav1.NewControllerRef(s.set, daemonSetKind()))
	pod.Labels = without(pod.Labels)
	pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = s.hash
	pod.Spec.Tolerations = daemonTolerations(&pod.Spec)
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
		}}},
	}
	return pod
}
