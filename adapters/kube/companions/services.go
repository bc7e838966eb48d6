package companions

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

func serviceKind() schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind("Service") }

// findsPods reports whether the endpoints of a Service are those of Pods that it selects. The others are made by users.
func findsPods(service *corev1.Service) bool {
	return service.Spec.Type != corev1.ServiceTypeExternalName && service.Spec.Selector != nil
}

// isHeadless reports whether a Service has no address of its own.
func isHeadless(service *corev1.Service) bool {
	return service.Spec.ClusterIP == "" || service.Spec.ClusterIP == corev1.ClusterIPNone
}

// podsFor returns the Pods that a Service selects, in the order of their names.
func podsFor(c client, service *corev1.Service) ([]*corev1.Pod, error) {
	selector := labels.SelectorFromSet(service.Spec.Selector)
	return list[corev1.Pod](c, &kube.Request{Kind: podKind(), Namespace: service.Namespace, LabelSelector: selector.String()})
}

// serviceRequests are those that a change of a Pod leads to: for the Services that select it, if something has changed
// that endpoints show, and for those that select it no longer, or only now. That a Pod which was not ready has come to
// its end leads to none, as in a cluster.
func serviceRequests(c client, event core.Event) []core.Request {
	old, now := typed[corev1.Pod](event.Old), typed[corev1.Pod](event.New)
	if old == nil || now == nil {
		return append(servicesOf(c, old), servicesOf(c, now)...)
	}
	changed := endpointChanged(old, now)
	if !changed && labels.Equals(old.Labels, now.Labels) {
		return nil
	}
	before, after := servicesOf(c, old), servicesOf(c, now)
	var found []core.Request
	for _, service := range append(before, after...) {
		if changed || !slices.Contains(before, service) || !slices.Contains(after, service) {
			found = append(found, service)
		}
	}
	return found
}

// servicesOf are the requests for the Services that select a Pod, as the cache shows them.
func servicesOf(c client, pod *corev1.Pod) []core.Request {
	if pod == nil {
		return nil
	}
	var found []core.Request
	for _, service := range listCached[corev1.Service](c, serviceKind(), pod.Namespace) {
		if service.Spec.Selector != nil && labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			found = append(found, on(service.Namespace, service.Name))
		}
	}
	return found
}

// endpointChanged reports whether a change of a Pod is one that endpoints show. Each change of a Pod that is being
// deleted counts as one.
func endpointChanged(old, now *corev1.Pod) bool {
	return old.DeletionTimestamp != nil || now.DeletionTimestamp != nil || isReady(old) != isReady(now) ||
		!slices.Equal(old.Status.PodIPs, now.Status.PodIPs)
}

// hasEndpoint reports whether a Pod can be an endpoint.
func hasEndpoint(pod *corev1.Pod) bool {
	return !isFinished(pod) && (pod.Status.PodIP != "" || len(pod.Status.PodIPs) > 0)
}

// hostname is the name by which a Service makes a Pod known, "" if it does not.
func hostname(service *corev1.Service, pod *corev1.Pod) string {
	if pod.Spec.Subdomain != service.Name {
		return ""
	}
	return pod.Spec.Hostname
}

// reference refers to a Pod from an endpoint.
func reference(pod *corev1.Pod) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: podKind().Kind, Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

// portOf is the port of a Pod that a Service leads to, and false if the Pod has none of the name that is asked for.
func portOf(pod *corev1.Pod, of *corev1.ServicePort) (int32, bool) {
	if of.TargetPort.Type == intstr.Int {
		return of.TargetPort.IntVal, true
	}
	containers := slices.Clone(pod.Spec.Containers)
	for _, container := range pod.Spec.InitContainers {
		if container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			containers = append(containers, container)
		}
	}
	for _, container := range containers {
		for _, port := range container.Ports {
			if port.Name == of.TargetPort.StrVal && port.Protocol == of.Protocol {
				return port.ContainerPort, true
			}
		}
	}
	return 0, false
}
