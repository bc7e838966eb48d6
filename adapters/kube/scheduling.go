package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// This file holds the classes of a cluster that say how Pods run: what the server's own
// admission plugins make of the RuntimeClass of a Pod, and of the PriorityClass that is the
// default.

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
		return nil, internalError("resource name may not be empty")
	case strings.Contains(name, "/"):
		return nil, internalError(fmt.Sprintf("invalid resource name %q: [may not contain '/']", name))
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

// checkClasses refuses a valid object that the classes of the cluster do not allow.
func (op *operation) checkClasses(object, current *unstructured.Unstructured) error {
	switch {
	case op.request.Subresource != "":
		return nil
	case op.resource.Name == kinds.PriorityClass:
		return op.checkDefaultPriority(object)
	case op.resource.Name != kinds.Pod || current != nil || jsontree.At(object, "spec", "overhead") == nil:
		return nil
	}
	pod := &corev1.Pod{}
	if err := jsontree.Into(object.Object, pod); err != nil {
		return err
	}
	if class, err := runtimeClass(op.state, pod); err != nil || class != nil && class.Overhead != nil {
		return err
	}
	return podRejected(pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
}

// checkDefaultPriority refuses a second PriorityClass that is the default.
func (op *operation) checkDefaultPriority(object *unstructured.Unstructured) error {
	if jsontree.At(object, "globalDefault") != true {
		return nil
	}
	for _, o := range op.state.List(kinds.PriorityClass, "") {
		if o.Key.Name != object.GetName() && jsontree.At(&unstructured.Unstructured{Object: storage.Of(o.Content).Tree}, "globalDefault") == true {
			return apierrors.NewForbidden(schedulingv1.Resource("priorityclasses"), object.GetName(),
				fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", o.Key.Name))
		}
	}
	return nil
}
