package companions

import (
	"fmt"
	"hash/fnv"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Pods is the scheduler and the nodes: a Pod that is created is put on a node, runs, and is ready, all in one step. One
// that is to come to an end does so in another. A Pod that is being deleted is gone once its node has noticed, and its
// finalizers are gone.
//
// A Pod waits for the claims to volumes that it names, until they are bound (see [VolumeClaims]), and for its
// scheduling gates. It is ready only with its readiness gates. A container that is reported not to be ready, or to be
// terminated, is started again if the restart policy says so.
//
// A Pod with a name of its own has an address that no other is likely to have. Those with generated names that are made
// alike share one, so that outcomes do not differ in it. The containers of a Job's Pod that fail and are to be started
// again are, seven times, and then run on. Left out are init containers, probes, hooks, resources, node selectors,
// affinity and taints, and whether the Secrets and ConfigMaps are there that a Pod names.
func Pods(options ...PodOption) Companion {
	k := &kubelet{node: func(*corev1.Pod) string { return "node" }, exits: func(*corev1.Pod) int32 { return 0 }, lasts: func(*corev1.Pod) bool { return false }}
	for _, option := range options {
		option(k)
	}
	return func(server *kube.Server) (core.Strategy, error) {
		s := &strategy{name: "kubelet", kinds: []schema.GroupVersionKind{podKind(), claimKind()}, handle: k.handle, reconcile: k.reconcile}
		return s.on(server)
	}
}

// PodOption is a choice for [Pods].
type PodOption func(*kubelet)

// OnNode says which node a Pod is put on. Without it, that is one called "node", or the one that the affinity of the
// Pod names, as that of a DaemonSet does. With "" the Pod runs on no node: when it is deleted, it is gone at once.
func OnNode(node func(*corev1.Pod) string) PodOption { return func(k *kubelet) { k.node = node } }

// Exits says with which exit code the containers of a Pod come to their end, if they do: Pods that are always restarted
// run for ever. Without it, it is 0. A Pod whose exit code is another one fails, or its containers are started again if
// its restart policy says so.
func Exits(code func(*corev1.Pod) int32) PodOption { return func(k *kubelet) { k.exits = code } }

// Lasts says which Pods run until they are deleted, although they are not always restarted: workers that wait for work,
// say, such as those with an SSH server. Without it, each of these comes to its end, sooner or later. It is asked again
// whenever a Pod changes: containers that wait for a sign, such as an annotation, last until it is there.
func Lasts(pod func(*corev1.Pod) bool) PodOption { return func(k *kubelet) { k.lasts = pod } }

// Overruns says which of the Pods with activeDeadlineSeconds are still at work when these are over: such a Pod runs,
// and has then failed for the reason DeadlineExceeded, whatever [Exits] and [Lasts] say of it. All others have come to
// their end before, or have been deleted. Without this option nobody knows which ones do, and a Pod with a deadline
// makes a check inconclusive.
func Overruns(pod func(*corev1.Pod) bool) PodOption { return func(k *kubelet) { k.overruns = pod } }

type kubelet struct {
	node  func(*corev1.Pod) string
	exits func(*corev1.Pod) int32
	lasts func(*corev1.Pod) bool
	// overruns is nil if nobody has said what becomes of Pods with a deadline.
	overruns func(*corev1.Pod) bool
}

func (k *kubelet) handle(c client, event core.Event) []core.Request {
	if event.Key.Kind == kube.KindOf(podKind().GroupKind()) {
		if event.New == nil {
			return nil
		}
		return []core.Request{on(event.Key.Namespace, event.Key.Name)}
	}
	if event.New == nil {
		return nil
	}
	var found []core.Request
	for _, pod := range listCached[corev1.Pod](c, podKind(), event.Key.Namespace) {
		if pod.Spec.NodeName == "" && slices.Contains(claimsOf(pod), event.Key.Name) {
			found = append(found, on(pod.Namespace, pod.Name))
		}
	}
	return found
}

// claimsOf are the names of the claims that a Pod waits for.
func claimsOf(pod *corev1.Pod) []string {
	var names []string
	for _, volume := range pod.Spec.Volumes {
		switch {
		case volume.PersistentVolumeClaim != nil:
			names = append(names, volume.PersistentVolumeClaim.ClaimName)
		case volume.Ephemeral != nil:
			names = append(names, pod.Name+"-"+volume.Name)
		}
	}
	return names
}

func (k *kubelet) reconcile(c client, named request) error {
	pod, err := get[corev1.Pod](c, podKind(), named.namespace, named.name)
	switch {
	case err != nil || pod == nil:
		return err
	case pod.DeletionTimestamp != nil:
		return k.stop(c, pod)
	case isFinished(pod) || len(pod.Spec.SchedulingGates) > 0:
		return nil
	}
	if pod.Spec.ActiveDeadlineSeconds != nil && k.overruns == nil {
		c.needsWord(podKind(), pod, "spec.activeDeadlineSeconds", "how long a Pod takes is not known: say with the option Overruns of companions.Pods which ones are still at work when their time is over")
	}
	if pod.Spec.NodeName == "" && pod.Status.Phase != corev1.PodRunning {
		ready, err := claimsBound(c, pod)
		if err != nil || !ready {
			return err
		}
		if pod, err = k.schedule(c, pod); err != nil || pod == nil {
			return err
		}
	}
	status := pod.Status.DeepCopy()
	if k.next(pod, status, c.now()); equality.Semantic.DeepEqual(&pod.Status, status) {
		return nil
	}
	pod.Status = *status
	return c.updateStatus(podKind(), pod)
}

// claimsBound reports whether all claims that a Pod names are there, and bound.
func claimsBound(c client, pod *corev1.Pod) (bool, error) {
	for _, name := range claimsOf(pod) {
		claim, err := get[corev1.PersistentVolumeClaim](c, claimKind(), pod.Namespace, name)
		if err != nil || claim == nil || claim.Status.Phase != corev1.ClaimBound {
			return false, err
		}
	}
	return true, nil
}

// schedule puts a Pod on its node, and returns it as it is then; nil if it is gone.
func (k *kubelet) schedule(c client, pod *corev1.Pod) (*corev1.Pod, error) {
	node := nodeByAffinity(pod)
	if node == "" {
		node = k.node(pod)
	}
	if node == "" {
		return pod, nil
	}
	binding := &corev1.Binding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Binding"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
	err := c.do(&kube.Request{
		Verb: kube.Create, Kind: podKind(), Subresource: "binding", Namespace: pod.Namespace, Name: pod.Name,
		Body: body(corev1.SchemeGroupVersion.WithKind("Binding"), binding),
	}, nil)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	return get[corev1.Pod](c, podKind(), pod.Namespace, pod.Name)
}

// nodeByAffinity is the only node whose name the affinity of a Pod allows, "" if it says nothing like that.
func nodeByAffinity(pod *corev1.Pod) string {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return ""
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) != 1 {
		return ""
	}
	for _, field := range required.NodeSelectorTerms[0].MatchFields {
		if field.Key == metav1.ObjectNameField && field.Operator == corev1.NodeSelectorOpIn && len(field.Values) == 1 {
			return field.Values[0]
		}
	}
	return ""
}

// killed is the exit code of what was killed.
const killed = 137

// stop ends a Pod that is being deleted. One with finalizers shows that it has come to its end; the others are gone.
func (k *kubelet) stop(c client, pod *corev1.Pod) error {
	if len(pod.Finalizers) > 0 && !isFinished(pod) {
		end(&pod.Status, pod, killed, c.now())
		if err := ignoreNotFound(c.updateStatus(podKind(), pod)); err != nil {
			return err
		}
	}
	if ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 0 {
		return nil // nobody waits for the node any more
	}
	return ignoreNotFound(c.do(&kube.Request{
		Verb: kube.Delete, Kind: podKind(), Namespace: pod.Namespace, Name: pod.Name,
		PreconditionUID: string(pod.UID), GracePeriodSeconds: new(int64),
	}, nil))
}

// next takes a Pod one phase further.
func (k *kubelet) next(pod *corev1.Pod, status *corev1.PodStatus, now metav1.Time) {
	if status.Phase != corev1.PodRunning || !allReady(pod) {
		run(status, pod, now)
		return
	}
	code := k.exits(pod)
	switch {
	case pod.Spec.ActiveDeadlineSeconds != nil && k.overruns(pod):
		end(status, pod, killed, now)
		status.Reason, status.Message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways || k.lasts(pod):
		run(status, pod, now)
	case code != 0 && pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && ofJob(pod) && restarts(pod) < mostRestarts:
		status.ContainerStatuses = containers(status, pod, false, terminated(code, now)) // it is started again in the next step
		setCondition(status, corev1.PodReady, false, "ContainersNotReady", now)
		setCondition(status, corev1.ContainersReady, false, "ContainersNotReady", now)
	case code != 0 && pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure:
		run(status, pod, now) // it runs, fails, and runs again: nothing else is seen of it
	default:
		end(status, pod, code, now)
	}
}

// mostRestarts is how often the containers of a Pod of a Job are started again at most: once more than a Job waits for
// that has nothing else said.
const mostRestarts = 7

// ofJob reports whether a Pod belongs to a Job, which counts how often its containers are started again.
func ofJob(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "Job"
}

// allReady reports whether all containers of a Pod are reported to be ready.
func allReady(pod *corev1.Pod) bool {
	return len(pod.Status.ContainerStatuses) == len(pod.Spec.Containers) &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return !s.Ready })
}

// run makes the status that of a Pod whose containers run.
func run(status *corev1.PodStatus, pod *corev1.Pod, now metav1.Time) {
	status.Phase = corev1.PodRunning
	if status.StartTime == nil {
		status.StartTime = ptr.To(now)
	}
	if status.PodIP == "" {
		status.PodIP = address(pod)
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	}
	status.ContainerStatuses = containers(status, pod, true, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}})
	ready := !slices.ContainsFunc(pod.Spec.ReadinessGates, func(gate corev1.PodReadinessGate) bool { return !hasCondition(pod, gate.ConditionType) })
	for _, condition := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady} {
		setCondition(status, condition, true, "", now)
	}
	reason := ""
	if !ready {
		reason = "ReadinessGatesNotReady"
	}
	setCondition(status, corev1.PodReady, ready, reason, now)
}

// end makes the status that of a Pod whose containers have come to their end.
func end(status *corev1.PodStatus, pod *corev1.Pod, code int32, now metav1.Time) {
	status.Phase = corev1.PodSucceeded
	if code != 0 {
		status.Phase = corev1.PodFailed
	}
	status.ContainerStatuses = containers(status, pod, false, terminated(code, now))
	for _, condition := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		setCondition(status, condition, false, "Pod"+map[bool]string{true: "Completed", false: "Failed"}[code == 0], now)
	}
}

// terminated is the state of a container that has come to its end.
func terminated(code int32, now metav1.Time) corev1.ContainerState {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: now, FinishedAt: now}}
}

// containers are the statuses of the containers of a Pod, all in the same state. One that runs again after it had come
// to its end has been restarted.
func containers(status *corev1.PodStatus, pod *corev1.Pod, ready bool, state corev1.ContainerState) []corev1.ContainerStatus {
	all := make([]corev1.ContainerStatus, len(pod.Spec.Containers))
	for i, container := range pod.Spec.Containers {
		all[i] = corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, ImageID: container.Image, Ready: ready, Started: ptr.To(ready), State: state,
		}
		for _, before := range status.ContainerStatuses {
			if before.Name != container.Name {
				continue
			}
			all[i].RestartCount, all[i].LastTerminationState = before.RestartCount, before.LastTerminationState
			switch {
			case state.Running != nil && before.State.Running != nil:
				all[i].State = before.State // since then
			case state.Running != nil && before.State.Terminated != nil:
				all[i].RestartCount, all[i].LastTerminationState = before.RestartCount+1, before.State
			}
		}
	}
	return all
}

// setCondition sets a condition of a Pod.
func setCondition(status *corev1.PodStatus, of corev1.PodConditionType, is bool, reason string, now metav1.Time) {
	value := corev1.ConditionFalse
	if is {
		value = corev1.ConditionTrue
	}
	condition := corev1.PodCondition{Type: of, Status: value, Reason: reason, LastTransitionTime: now}
	at := slices.IndexFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == of })
	switch {
	case at < 0:
		status.Conditions = append(status.Conditions, condition)
	case status.Conditions[at].Status != value || status.Conditions[at].Reason != reason:
		if status.Conditions[at].Status == value {
			condition.LastTransitionTime = status.Conditions[at].LastTransitionTime
		}
		status.Conditions[at] = condition
	}
}

// address is the address of a Pod. It follows from its name, or, where that is generated, from what it is generated
// from.
func address(pod *corev1.Pod) string {
	name := pod.Name
	if base, generated := storage.GeneratedFrom(name, pod.GenerateName); generated {
		name = base
	}
	hash := fnv.New32a()
	fmt.Fprintf(hash, "%s/%s", pod.Namespace, name)
	const last = 254
	sum := hash.Sum32()
	return fmt.Sprintf("10.244.%d.%d", sum>>8%last+1, sum%last+1)
}
