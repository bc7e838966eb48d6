package companions

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

func endpointsKind() schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind("Endpoints") }

// Endpoints is the controller that makes the Endpoints of Services with a selector, which newer versions of Kubernetes
// have next to EndpointSlices: the addresses of the Pods that are selected, ready or not, with the ports that they have
// by name. It deletes them with the Service. What somebody else writes into them stays until something else changes, as
// in a cluster.
//
// Left out are the annotation with the time of the last change, and the limit of 1000 addresses.
func Endpoints() Companion {
	return func(server *kube.Server) (core.Strategy, error) {
		watched := []schema.GroupVersionKind{serviceKind(), podKind(), endpointsKind()}
		s := &strategy{name: "endpoints", kinds: watched, handle: handleEndpoints, reconcile: writeEndpoints}
		return s.on(server)
	}
}

func handleEndpoints(c client, event core.Event) []core.Request {
	switch {
	case event.Key.Kind == kube.KindOf(podKind().GroupKind()):
		return serviceRequests(c, event)
	case event.Key.Kind == kube.KindOf(serviceKind().GroupKind()) || event.New == nil || event.Initial:
		return []core.Request{on(event.Key.Namespace, event.Key.Name)}
	}
	return nil
}

func writeEndpoints(c client, named request) error {
	service, err := get[corev1.Service](c, serviceKind(), named.namespace, named.name)
	switch {
	case err != nil:
		return err
	case service == nil:
		return ignoreNotFound(c.do(&kube.Request{Verb: kube.Delete, Kind: endpointsKind(), Namespace: named.namespace, Name: named.name}, nil))
	case !findsPods(service):
		return nil
	}
	pods, err := podsFor(c, service)
	if err != nil {
		return err
	}
	found, err := get[endpoints](c, endpointsKind(), service.Namespace, service.Name)
	if err != nil {
		return err
	}
	wanted, labels := packed(served(service, pods)), endpointsLabels(service)
	if found == nil {
		return unlessNamespaceEnds(c.create(endpointsKind(), &endpoints{
			ObjectMeta: metav1.ObjectMeta{Namespace: service.Namespace, Name: service.Name, Labels: labels}, Subsets: wanted,
		}))
	}
	// That the Service has become a headless one is no reason to write.
	sameLabels := maps.Equal(without(found.Labels, corev1.IsHeadlessService), without(labels, corev1.IsHeadlessService))
	if sameLabels && equality.Semantic.DeepEqual(packed(unpacked(found.Subsets)), wanted) {
		return nil
	}
	found.Subsets, found.Labels = wanted, labels
	return c.update(endpointsKind(), found)
}

// endpointsLabels are the labels of a Service, with those of the controller.
func endpointsLabels(service *corev1.Service) map[string]string {
	labels := without(service.Labels, corev1.IsHeadlessService)
	if isHeadless(service) {
		labels[corev1.IsHeadlessService] = ""
	}
	labels["endpoints.kubernetes.io/managed-by"] = "endpoint-controller"
	return labels
}

// The Go types of Endpoints are deprecated, and still used by many.
type (
	endpoints       = corev1.Endpoints       //nolint:staticcheck // see above
	endpointSubset  = corev1.EndpointSubset  //nolint:staticcheck // see above
	endpointAddress = corev1.EndpointAddress //nolint:staticcheck // see above
	endpointPort    = corev1.EndpointPort
)

// servedAddress is an address at one of its ports, or without any.
type servedAddress struct {
	Address endpointAddress
	Ready   bool
	// port is nil if there is none.
	port *endpointPort
}

// served are the addresses of the Pods of a Service, at each of its ports.
func served(service *corev1.Service, pods []*corev1.Pod) []servedAddress {
	var all []servedAddress
	for _, pod := range pods {
		if !hasEndpoint(pod) || pod.DeletionTimestamp != nil && !service.Spec.PublishNotReadyAddresses || len(service.Spec.IPFamilies) == 0 {
			continue
		}
		own := addresses(pod, service.Spec.IPFamilies[0] == corev1.IPv6Protocol)
		if len(own) == 0 {
			continue
		}
		s := servedAddress{
			Address: endpointAddress{IP: own[0], NodeName: &pod.Spec.NodeName, TargetRef: reference(pod), Hostname: hostname(service, pod)},
			Ready:   service.Spec.PublishNotReadyAddresses || isReady(pod),
		}
		if len(service.Spec.Ports) == 0 && service.Spec.ClusterIP == corev1.ClusterIPNone {
			all = append(all, s)
		}
		for i := range service.Spec.Ports {
			of := &service.Spec.Ports[i]
			if number, ok := portOf(pod, of); ok {
				s.port = &endpointPort{Name: of.Name, Port: number, Protocol: of.Protocol, AppProtocol: of.AppProtocol}
				all = append(all, s)
			}
		}
	}
	return all
}

// unpacked are the addresses of subsets, at each of their ports.
func unpacked(subsets []endpointSubset) []servedAddress {
	var all []servedAddress
	for _, subset := range subsets {
		ports := []*endpointPort{nil}
		for i := range subset.Ports {
			ports = append(ports, &subset.Ports[i])
		}
		if len(ports) > 1 {
			ports = ports[1:]
		}
		for _, port := range ports {
			for _, address := range subset.Addresses {
				all = append(all, servedAddress{address, true, port})
			}
			for _, address := range subset.NotReadyAddresses {
				all = append(all, servedAddress{address, false, port})
			}
		}
	}
	return all
}

// packed are subsets in which the addresses that serve at the same ports are together. They, and what is in them, are
// in an order that follows from it.
func packed(all []servedAddress) []endpointSubset {
	slices.SortFunc(all, func(a, b servedAddress) int { return cmp.Compare(textOf(a), textOf(b)) })
	ports, byPort := map[string]*endpointPort{}, map[string][]servedAddress{}
	for _, s := range all {
		key := textOf(s.port)
		ports[key] = s.port
		s.port = nil
		byPort[key] = append(byPort[key], s)
	}
	subsets := map[string]*endpointSubset{}
	for _, of := range slices.Sorted(maps.Keys(ports)) {
		key := textOf(byPort[of])
		subset := subsets[key]
		if subset == nil {
			subset = &endpointSubset{}
			for _, s := range byPort[of] {
				if s.Ready {
					subset.Addresses = append(subset.Addresses, s.Address)
				} else {
					subset.NotReadyAddresses = append(subset.NotReadyAddresses, s.Address)
				}
			}
			subsets[key] = subset
		}
		if ports[of] != nil {
			subset.Ports = append(subset.Ports, *ports[of])
		}
	}
	var sorted []endpointSubset
	for _, key := range slices.Sorted(maps.Keys(subsets)) {
		sorted = append(sorted, *subsets[key])
	}
	return sorted
}

// textOf is a value as text, to tell it from others.
func textOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic("companions: a value cannot be written as JSON: " + err.Error())
	}
	return string(text)
}
