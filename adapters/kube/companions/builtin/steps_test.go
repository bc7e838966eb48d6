package builtin

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
)

func mustJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func encode(kind schema.GroupVersionKind, object runtime.Object) []byte {
	object.GetObjectKind().SetGroupVersionKind(kind)
	return mustJSON(object)
}

// creation is the step of creating an object.
func creation(kind schema.GroupVersionKind, object runtime.Object) step {
	text := encode(kind, object)
	return step{name: "create " + string(text), do: func(w *world) {
		if err := w.Do(&kube.Request{Verb: kube.Create, Kind: kind, Namespace: namespaceOf(kind), Body: text}).(*kube.Response).Err(); err != nil {
			panic(err)
		}
	}}
}

// addition is the step of creating an object, unless one of its name is there.
func addition(kind schema.GroupVersionKind, object runtime.Object) step {
	text := encode(kind, object)
	return step{name: "add " + string(text), do: func(w *world) {
		err := w.Do(&kube.Request{Verb: kube.Create, Kind: kind, Namespace: namespaceOf(kind), Body: text}).(*kube.Response).Err()
		if err != nil && !apierrors.IsAlreadyExists(err) {
			panic(err)
		}
	}}
}

// deletion is the step of deleting an object, if it is there.
func deletion(kind schema.GroupVersionKind, name string) step {
	return step{name: "delete " + kind.Kind + " " + name, do: func(w *world) {
		w.Do(&kube.Request{Verb: kube.Delete, Kind: kind, Namespace: namespaceOf(kind), Name: name})
	}}
}

// namespaceOf is the namespace of the objects of a kind.
func namespaceOf(kind schema.GroupVersionKind) string {
	if kind.Kind == "Node" {
		return ""
	}
	return "default"
}

// patching is the step of changing an object by a merge patch. What the server refuses is refused on both sides.
func patching(kind schema.GroupVersionKind, name, patch string) step {
	return step{name: "patch " + kind.Kind + " " + name + " " + patch, do: func(w *world) {
		w.Do(&kube.Request{Verb: kube.Patch, Kind: kind, Namespace: namespaceOf(kind), Name: name, PatchType: types.MergePatchType, Body: []byte(patch)})
	}}
}

// onPod is the step of doing something to a Pod, by its number among all.
func onPod(what string, number int, do func(*world, *corev1.Pod)) step {
	return step{name: fmt.Sprintf("%s Pod %d", what, number), do: func(w *world) {
		if pods := podsOf(w); len(pods) > 0 {
			do(w, pods[number%len(pods)])
		}
	}}
}

func claimKind() schema.GroupVersionKind {
	return corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
}
func podKind() schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind("Pod") }

// setPhase reports a phase of a Pod.
func setPhase(phase corev1.PodPhase, ready bool) func(*world, *corev1.Pod) {
	return func(w *world, pod *corev1.Pod) {
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			return // a Pod never comes back
		}
		status := metav1.ConditionFalse
		if ready {
			status = metav1.ConditionTrue
		}
		pod.Status.Phase = phase
		// Pods that ran before they were bound are the same as others then: which of two is deleted that are as good is
		// chance, on both sides.
		others := slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
		pod.Status.Conditions = append([]corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionStatus(status), LastTransitionTime: metav1.Unix(946684800, 0),
		}}, others...)
		updateStatus(w, pod)
	}
}

// updateStatus writes the status of a Pod.
func updateStatus(w *world, pod *corev1.Pod) {
	w.Do(&kube.Request{Verb: kube.Update, Kind: podKind(), Subresource: "status", Namespace: pod.Namespace, Name: pod.Name, Body: encode(podKind(), pod)})
}

// exit reports that the container of a Pod has ended with an exit code.
func exit(code int32) func(*world, *corev1.Pod) {
	return func(w *world, pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "c", Image: "i", ImageID: "i", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
		}}
		setPhase(corev1.PodFailed, false)(w, pod)
	}
}

// bind puts a Pod on a node.
func bind(w *world, pod *corev1.Pod) {
	if node := target(pod); node != "" {
		bindTo(node)(w, pod)
		return
	}
	bindTo("n")(w, pod)
}

// target is the node of a Pod: the one that it is on, or the only one that it may be put on.
func target(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" || pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return pod.Spec.NodeName
	}
	return pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
}

// bindTo puts a Pod on a node, unless it is on one.
func bindTo(node string) func(*world, *corev1.Pod) {
	return func(w *world, pod *corev1.Pod) {
		kind := corev1.SchemeGroupVersion.WithKind("Binding")
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
		w.Do(&kube.Request{Verb: kube.Create, Kind: podKind(), Subresource: "binding", Namespace: pod.Namespace, Name: pod.Name, Body: encode(kind, binding)})
	}
}

// remove deletes a Pod, with a grace period, nil for its own.
func remove(grace *int64) func(*world, *corev1.Pod) {
	return func(w *world, pod *corev1.Pod) {
		if grace != nil && pod.DeletionTimestamp == nil {
			return // the node ends what was deleted
		}
		w.Do(&kube.Request{Verb: kube.Delete, Kind: podKind(), Namespace: pod.Namespace, Name: pod.Name, GracePeriodSeconds: grace})
	}
}

// label changes the label by which Pods are selected.
func label(value string) func(*world, *corev1.Pod) {
	return func(w *world, pod *corev1.Pod) {
		patching(podKind(), pod.Name, `{"metadata":{"labels":{"app":"`+value+`"}}}`).do(w)
	}
}

// patch changes a Pod by a merge patch.
func patch(text string) func(*world, *corev1.Pod) {
	return func(w *world, pod *corev1.Pod) { patching(podKind(), pod.Name, text).do(w) }
}

// letEnd takes the finalizers from a Pod that is being deleted.
func letEnd(w *world, pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil {
		patch(`{"metadata":{"finalizers":null}}`)(w, pod)
	}
}

// numbered is the step of doing something to an object of a kind, by its number among all.
func numbered(what string, kind schema.GroupVersionKind, number int, do func(name string) step) step {
	return step{name: fmt.Sprintf("%s %s %d", what, kind.Kind, number), do: func(w *world) {
		if all := inOrder(w, kube.KindOf(kind.GroupKind())); len(all) > 0 {
			do(all[number%len(all)].Key.Name).do(w)
		}
	}}
}

// on is the step of changing an object by a merge patch, by its number among all of its kind.
func on(what string, kind schema.GroupVersionKind, number int, patch string) step {
	return numbered(what+" "+patch, kind, number, func(name string) step { return patching(kind, name, patch) })
}

// removal is the step of deleting an object, by its number among all of its kind.
func removal(kind schema.GroupVersionKind, number int) step {
	return numbered("delete", kind, number, func(name string) step { return deletion(kind, name) })
}

// podSteps are what happens to Pods, with how often it does.
func podSteps(random *rand.Rand, finish bool) step {
	number := random.IntN(8)
	choices := []step{
		onPod("bind", number, bind),
		onPod("run", number, setPhase(corev1.PodRunning, true)), onPod("run", number+1, setPhase(corev1.PodRunning, true)),
		onPod("run", number+2, setPhase(corev1.PodRunning, true)), onPod("run", number+3, setPhase(corev1.PodRunning, true)),
		onPod("unready", number, setPhase(corev1.PodRunning, false)),
		onPod("fail", number, setPhase(corev1.PodFailed, false)),
		onPod("delete", number, remove(nil)),
		onPod("end", number, remove(ptr.To[int64](0))), onPod("end", number+1, remove(ptr.To[int64](0))),
	}
	if finish {
		choices = append(choices, onPod("succeed", number, setPhase(corev1.PodSucceeded, false)), onPod("succeed", number+1, setPhase(corev1.PodSucceeded, false)))
	}
	return choices[random.IntN(len(choices))]
}

// template is one for Pods.
func template(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}},
	}
}

// together makes one step of several.
func together(steps ...step) step {
	name, day := "", false
	for _, s := range steps {
		name, day = name+s.name+"; ", day || s.day
	}
	return step{name: name, day: day, do: func(w *world) {
		for _, s := range steps {
			s.do(w)
		}
	}}
}

func selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

func appsKind(name string) schema.GroupVersionKind { return appsv1.SchemeGroupVersion.WithKind(name) }
