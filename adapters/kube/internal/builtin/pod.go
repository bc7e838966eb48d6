package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/adapters/kube/internal/validation"
	"github.com/orrery-dev/orrery/core"
)

// admitPod does what the server's own admission plugins do to a Pod: it tolerates
// nodes that go away for a while, and has the priority of its class. current is nil
// for a new Pod.
func admitPod(state core.Snapshot, object, current *unstructured.Unstructured) error {
	pod := &corev1.Pod{}
	if err := jsontree.Into(object.Object, pod); err != nil {
		return err
	}
	tolerate(pod, corev1.TaintNodeNotReady)
	tolerate(pod, corev1.TaintNodeUnreachable)
	if current == nil {
		if err := prioritize(state, pod); err != nil {
			return err
		}
		if err := runAs(state, pod); err != nil {
			return err
		}
	} else {
		old := &corev1.Pod{}
		if err := jsontree.Into(current.Object, old); err != nil {
			return err
		}
		if pod.Spec.Priority == nil {
			pod.Spec.Priority = old.Spec.Priority
		}
		if pod.Spec.PreemptionPolicy == nil {
			pod.Spec.PreemptionPolicy = old.Spec.PreemptionPolicy
		}
	}
	tree, err := jsontree.Of(pod)
	if err != nil {
		return err
	}
	object.Object["spec"] = tree["spec"]
	return nil
}

// tolerate adds a toleration of a taint for five minutes, unless there is one.
func tolerate(pod *corev1.Pod, taint string) {
	for _, t := range pod.Spec.Tolerations {
		if (t.Key == taint || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return
		}
	}
	fiveMinutes := int64(300)
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
		Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &fiveMinutes,
	})
}

// prioritize gives a Pod the priority of its class.
func prioritize(state core.Snapshot, pod *corev1.Pod) error {
	class, err := priorityClass(state, pod)
	if err != nil {
		return err
	}
	pod.Spec.PriorityClassName = class.Name
	forbidden := func(format string, args ...any) error {
		return apierrors.NewForbidden(corev1.Resource("pods"), pod.Name, fmt.Errorf(format, args...))
	}
	if asked := pod.Spec.Priority; asked != nil && *asked != class.Value {
		return forbidden("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *asked, class.Value)
	}
	if asked := pod.Spec.PreemptionPolicy; asked != nil && *asked != *class.PreemptionPolicy {
		return forbidden("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", *asked, *class.PreemptionPolicy)
	}
	pod.Spec.Priority, pod.Spec.PreemptionPolicy = &class.Value, class.PreemptionPolicy
	return nil
}

// priorityClass finds the class that a Pod names, or the one that is the default. Two
// classes are there in every cluster.
func priorityClass(state core.Snapshot, pod *corev1.Pod) (schedulingv1.PriorityClass, error) {
	class := schedulingv1.PriorityClass{}
	point(&class.PreemptionPolicy, corev1.PreemptLowerPriority)
	class.Name = pod.Spec.PriorityClassName
	if class.Name == "" {
		return defaultPriorityClass(state, class)
	}
	if class.Value = validation.SystemPriority(class.Name); class.Value != 0 {
		return class, nil
	}
	content := state.Get(core.Key{Kind: kinds.PriorityClass, Name: class.Name})
	if content == nil {
		return class, apierrors.NewForbidden(corev1.Resource("pods"), pod.Name, fmt.Errorf("no PriorityClass with name %s was found", class.Name))
	}
	err := jsontree.Into(storage.Of(content).Tree, &class)
	return class, err
}

// defaultPriorityClass is the lowest of the classes that are marked as the default,
// or else the class that is given.
func defaultPriorityClass(state core.Snapshot, otherwise schedulingv1.PriorityClass) (schedulingv1.PriorityClass, error) {
	found := []schedulingv1.PriorityClass{}
	for _, o := range state.List(kinds.PriorityClass, "") {
		var class schedulingv1.PriorityClass
		if err := jsontree.Into(storage.Of(o.Content).Tree, &class); err != nil {
			return otherwise, err
		}
		if class.GlobalDefault {
			found = append(found, class)
		}
	}
	if len(found) == 0 {
		return otherwise, nil
	}
	return slices.MinFunc(found, func(a, b schedulingv1.PriorityClass) int { return int(a.Value) - int(b.Value) }), nil
}

// newPodStatus is the status of a Pod that was just created.
func newPodStatus(object *unstructured.Unstructured) map[string]any {
	pod := &corev1.Pod{}
	if err := jsontree.Into(object.Object, pod); err != nil {
		panic("kube: a decoded Pod cannot be read: " + err.Error())
	}
	status := map[string]any{"phase": string(corev1.PodPending), "qosClass": string(qosClass(pod))}
	if len(pod.Spec.SchedulingGates) > 0 {
		SetCondition(status, corev1.PodCondition{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
			Reason: corev1.PodReasonSchedulingGated, Message: "Scheduling is blocked due to non-empty scheduling gates",
		})
	}
	return status
}

// qosClass tells how well the resources of a Pod are known: guaranteed if each
// container has limits of CPU and memory which are what it requests.
func qosClass(pod *corev1.Pod) corev1.PodQOSClass {
	needs := []corev1.ResourceRequirements{}
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		needs = append(needs, c.Resources)
	}
	if pod.Spec.Resources != nil {
		needs = []corev1.ResourceRequirements{*pod.Spec.Resources}
	}
	some, guaranteed := false, true
	for _, n := range needs {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := n.Requests[name], n.Limits[name]
			some = some || request.Sign() > 0 || limit.Sign() > 0
			guaranteed = guaranteed && limit.Sign() > 0 && request.Cmp(limit) == 0
		}
	}
	switch {
	case !some:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// PodStatus is the status of a Pod, which is there in any case.
func PodStatus(pod *unstructured.Unstructured) map[string]any {
	status, _ := pod.Object["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
		pod.Object["status"] = status
	}
	return status
}

// SetCondition sets a condition in the status of a Pod, which came to be so at the given time, or when the server's
// clock began.
func SetCondition(status map[string]any, c corev1.PodCondition) {
	since := c.LastTransitionTime
	if since.IsZero() {
		since = storage.Now()
	}
	now := since.UTC().Format(time.RFC3339)
	fields := map[string]any{"type": string(c.Type), "status": string(c.Status), "lastProbeTime": nil, "lastTransitionTime": now}
	if c.Reason != "" {
		fields["reason"] = c.Reason
	}
	if c.Message != "" {
		fields["message"] = c.Message
	}
	conditions, _ := status["conditions"].([]any)
	kept := make([]any, 0, len(conditions)+1)
	for _, condition := range conditions {
		if jsontree.Without(condition)["type"] != fields["type"] {
			kept = append(kept, condition)
		}
	}
	status["conditions"] = append(kept, fields)
}

// runtimeClass finds the class that a Pod names, nil if it names none.
func runtimeClass(state core.Snapshot, pod *corev1.Pod) (*nodev1.RuntimeClass, error) {
	if pod.Spec.RuntimeClassName == nil {
		return nil, nil
	}
	name := *pod.Spec.RuntimeClassName
	content := state.Get(core.Key{Kind: kinds.RuntimeClass, Name: name})
	switch {
	case content != nil:
		class := &nodev1.RuntimeClass{}
		return class, jsontree.Into(storage.Of(content).Tree, class)
	// The plugin then asks the server for the class, and these are no names to ask for.
	case name == "":
		return nil, InternalError("resource name may not be empty")
	case strings.Contains(name, "/"):
		return nil, InternalError(fmt.Sprintf("invalid resource name %q: [may not contain '/']", name))
	}
	return nil, podRejected(pod, fmt.Sprintf("pod rejected: RuntimeClass %q not found", name))
}

// podRejected is the refusal of a Pod by an admission plugin.
func podRejected(pod *corev1.Pod, message string) error {
	return apierrors.NewForbidden(corev1.Resource("pods"), pod.Name, fmt.Errorf("%s", message))
}

// runAs gives a new Pod what its RuntimeClass says.
func runAs(state core.Snapshot, pod *corev1.Pod) error {
	class, err := runtimeClass(state, pod)
	if class == nil || err != nil {
		return err
	}
	if class.Overhead != nil {
		if len(pod.Spec.Overhead) > 0 && !equality.Semantic.DeepEqual(pod.Spec.Overhead, class.Overhead.PodFixed) {
			return podRejected(pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
		}
		pod.Spec.Overhead = class.Overhead.PodFixed
	}
	if class.Scheduling == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(class.Scheduling.NodeSelector)) {
		wanted := class.Scheduling.NodeSelector[key]
		if has, set := pod.Spec.NodeSelector[key]; set && has != wanted {
			return podRejected(pod, fmt.Sprintf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, wanted, key, has))
		}
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		pod.Spec.NodeSelector[key] = wanted
	}
	for _, toleration := range class.Scheduling.Tolerations {
		if !slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return equality.Semantic.DeepEqual(t, toleration) }) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, toleration)
		}
	}
	return nil
}

// Claims are the names of the claims of a Pod's volumes: those that they name, and those that are made for ephemeral
// ones.
func Claims(tree map[string]any) []string {
	named, ephemeral := claims(&unstructured.Unstructured{Object: tree})
	return append(named, ephemeral...)
}

func claims(pod *unstructured.Unstructured) (named, ephemeral []string) {
	for _, volume := range jsontree.ListAt(pod, "spec", "volumes") {
		fields, _ := volume.(map[string]any)
		claim, _ := fields["persistentVolumeClaim"].(map[string]any)
		if name, ok := claim["claimName"].(string); ok {
			named = append(named, name)
		}
		if fields["ephemeral"] != nil {
			name, _ := fields["name"].(string)
			ephemeral = append(ephemeral, pod.GetName()+"-"+name)
		}
	}
	return named, ephemeral
}

// Uses reports whether a Pod keeps a claim in its namespace from being deleted. It has to be on a node. A claim that
// was made for it is kept only until its node has stopped it.
func Uses(tree map[string]any, claim *unstructured.Unstructured) bool {
	pod := &unstructured.Unstructured{Object: tree}
	if node, _ := jsontree.At(pod, "spec", "nodeName").(string); node == "" {
		return false
	}
	named, ephemeral := claims(pod)
	grace := pod.GetDeletionGracePeriodSeconds()
	stopped := pod.GetDeletionTimestamp() != nil && grace != nil && *grace == 0
	return slices.Contains(named, claim.GetName()) || !stopped && slices.Contains(ephemeral, claim.GetName()) && metav1.IsControlledBy(claim, pod)
}
