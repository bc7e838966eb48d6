package companions

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

func sliceKind() schema.GroupVersionKind {
	return discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice")
}

// EndpointSlices is the controller that makes the EndpointSlices of Services with a selector: the addresses of the Pods
// that are selected, with their conditions (ready, serving, terminating), host names and nodes, a slice for each set of
// ports that Pods have by name, and one without endpoints where there would be none. A Pod without an address, or one
// that has come to its end, is no endpoint. What is left when the Service is deleted is for the garbage collector.
//
// Left out are hints of any kind (trafficDistribution, and annotations for topology), the annotation with the time of
// the last change, and a real controller's trouble with a slice from which somebody takes the label that names its
// Service: it gives up on that Service.
func EndpointSlices(options ...EndpointSliceOption) Companion {
	e := &endpointSlices{}
	for _, option := range options {
		option(e)
	}
	return func(server *kube.Server) (core.Strategy, error) {
		watched := []schema.GroupVersionKind{serviceKind(), podKind(), sliceKind()}
		if e.knownNodes {
			watched = append(watched, nodeKind())
		}
		s := &strategy{name: "endpointslice", kinds: watched, handle: e.handle, reconcile: e.reconcile}
		return s.on(server)
	}
}

// EndpointSliceOption is a choice for [EndpointSlices].
type EndpointSliceOption func(*endpointSlices)

// KnownNodes says that there is a Node object for each node of the system. A Pod on another one, or on none, is then no
// endpoint, unless the Service publishes addresses that are not ready. Endpoints have the zone of their Node. Without
// it, no Node is looked at.
func KnownNodes() EndpointSliceOption { return func(e *endpointSlices) { e.knownNodes = true } }

type endpointSlices struct{ knownNodes bool }

// sliceManager is the name by which the slices are known that the controller manages.
const sliceManager = "endpointslice-controller.k8s.io"

func (e *endpointSlices) handle(c client, event core.Event) []core.Request {
	switch event.Key.Kind {
	case kube.KindOf(serviceKind().GroupKind()):
		return []core.Request{on(event.Key.Namespace, event.Key.Name)}
	case kube.KindOf(sliceKind().GroupKind()):
		return handleSlice(event)
	case kube.KindOf(nodeKind().GroupKind()):
		return e.handleNode(c, event)
	}
	requests := serviceRequests(c, event)
	if old, now := typed[corev1.Pod](event.Old), typed[corev1.Pod](event.New); e.knownNodes && old != nil && now != nil && old.Spec.NodeName != now.Spec.NodeName {
		requests = append(requests, servicesOf(c, now)...)
	}
	return requests
}

// handleSlice returns the requests for the Services of a slice that is, or was, the controller's.
func handleSlice(event core.Event) []core.Request {
	var found []core.Request
	old, now := metaOf(event.Old), metaOf(event.New)
	if old != nil && now != nil && old.GetGeneration() == now.GetGeneration() && labels.Equals(old.GetLabels(), now.GetLabels()) {
		return nil
	}
	for _, slice := range []metav1.Object{old, now} {
		if slice == nil || slice.GetLabels()[discoveryv1.LabelManagedBy] != sliceManager {
			continue
		}
		if service := slice.GetLabels()[discoveryv1.LabelServiceName]; service != "" {
			found = append(found, on(event.Key.Namespace, service))
		}
	}
	return found
}

// handleNode returns the requests for the Services with Pods on a Node that is new. A real controller is refused until
// then, and tries again.
func (e *endpointSlices) handleNode(c client, event core.Event) []core.Request {
	if event.Old != nil {
		return nil
	}
	var found []core.Request
	for _, pod := range listCached[corev1.Pod](c, podKind(), "") {
		if pod.Spec.NodeName == event.Key.Name {
			found = append(found, servicesOf(c, pod)...)
		}
	}
	return found
}

func (e *endpointSlices) reconcile(c client, named request) error {
	service, err := get[corev1.Service](c, serviceKind(), named.namespace, named.name)
	if err != nil || service == nil || !findsPods(service) {
		return err
	}
	if service.Spec.TrafficDistribution != nil {
		c.leavesOut(serviceKind(), service, "spec.trafficDistribution")
	}
	if strings.EqualFold(service.Annotations[corev1.AnnotationTopologyMode], "auto") {
		c.leavesOut(serviceKind(), service, "metadata.annotations["+corev1.AnnotationTopologyMode+"]")
	}
	pods, err := podsFor(c, service)
	if err != nil {
		return err
	}
	selector := labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.Name, discoveryv1.LabelManagedBy: sliceManager})
	all, err := list[discoveryv1.EndpointSlice](c, &kube.Request{Kind: sliceKind(), Namespace: service.Namespace, LabelSelector: selector.String()})
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s *discoveryv1.EndpointSlice) bool { return s.DeletionTimestamp != nil })
	for _, family := range service.Spec.IPFamilies {
		of := discoveryv1.AddressType(family)
		s := &sliceSync{client: c, service: service, family: of}
		for _, slice := range all {
			if slice.AddressType == of {
				s.existing = append(s.existing, slice)
			}
		}
		if err := e.wanted(s, pods); err != nil {
			return err
		}
		s.plan()
		if err := s.write(); err != nil {
			return err
		}
	}
	for _, slice := range all {
		if !slices.Contains(service.Spec.IPFamilies, corev1.IPFamily(slice.AddressType)) {
			if err := c.remove(sliceKind(), slice); err != nil {
				return err
			}
		}
	}
	return nil
}

// wanted finds the endpoints that a Service is to have, by their ports.
func (e *endpointSlices) wanted(s *sliceSync, pods []*corev1.Pod) error {
	for _, pod := range pods {
		if !hasEndpoint(pod) {
			continue
		}
		group := s.group(portsOf(s.service, pod))
		endpoint := endpointOf(s.service, pod, s.family)
		if e.knownNodes {
			node, err := get[corev1.Node](s.client, nodeKind(), "", pod.Spec.NodeName)
			switch {
			case err != nil:
				return err
			case node != nil && node.Labels[corev1.LabelTopologyZone] != "":
				endpoint.Zone = ptr.To(node.Labels[corev1.LabelTopologyZone])
			case node == nil && !s.service.Spec.PublishNotReadyAddresses:
				continue
			}
		}
		if len(endpoint.Addresses) > 0 {
			group.endpoints = append(group.endpoints, endpoint)
		}
	}
	return nil
}

// endpointOf is the endpoint of a Pod.
func endpointOf(service *corev1.Service, pod *corev1.Pod, family discoveryv1.AddressType) discoveryv1.Endpoint {
	serving, terminating := isReady(pod), pod.DeletionTimestamp != nil
	endpoint := discoveryv1.Endpoint{
		Addresses: addresses(pod, family == discoveryv1.AddressTypeIPv6),
		Conditions: discoveryv1.EndpointConditions{
			Ready: ptr.To(service.Spec.PublishNotReadyAddresses || serving && !terminating), Serving: &serving, Terminating: &terminating,
		},
		TargetRef: reference(pod),
	}
	if pod.Spec.NodeName != "" {
		endpoint.NodeName = &pod.Spec.NodeName
	}
	if name := hostname(service, pod); name != "" {
		endpoint.Hostname = &name
	}
	return endpoint
}

// addresses are those of a Pod that are of a family, sorted.
func addresses(pod *corev1.Pod, ofIPv6 bool) []string {
	var found []string
	for _, ip := range pod.Status.PodIPs {
		if address, err := netip.ParseAddr(ip.IP); err == nil && address.Is6() == ofIPv6 {
			found = append(found, address.String())
		}
	}
	slices.Sort(found)
	return found
}

// portsOf are the ports of a Pod that a Service leads to.
func portsOf(service *corev1.Service, pod *corev1.Pod) []discoveryv1.EndpointPort {
	ports := []discoveryv1.EndpointPort{}
	for i := range service.Spec.Ports {
		of := &service.Spec.Ports[i]
		if number, ok := portOf(pod, of); ok {
			ports = append(ports, discoveryv1.EndpointPort{Name: &of.Name, Port: &number, Protocol: &of.Protocol, AppProtocol: of.AppProtocol})
		}
	}
	return ports
}

// sliceSync is the controller at work on the slices of a Service for a family of addresses.
type sliceSync struct {
	client  client
	service *corev1.Service
	family  discoveryv1.AddressType

	existing []*discoveryv1.EndpointSlice
	// groups are the endpoints that are wanted, by the keys of their ports.
	groups map[string]*sliceGroup

	created, updated, removed []*discoveryv1.EndpointSlice
}

// sliceGroup is endpoints with the same ports.
type sliceGroup struct {
	ports     []discoveryv1.EndpointPort
	endpoints []discoveryv1.Endpoint
}

// group returns the endpoints with these ports.
func (s *sliceSync) group(ports []discoveryv1.EndpointPort) *sliceGroup {
	key := portsKey(ports)
	if s.groups == nil {
		s.groups = map[string]*sliceGroup{}
	}
	if s.groups[key] == nil {
		s.groups[key] = &sliceGroup{ports: ports}
	}
	return s.groups[key]
}

// portsKey is the same for the same set of ports.
func portsKey(ports []discoveryv1.EndpointPort) string {
	keys := make([]string, len(ports))
	for i, port := range ports {
		keys[i] = textOf(port)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// plan finds out which slices are to be written. Those of another Service of the same name go.
func (s *sliceSync) plan() {
	byPorts := map[string][]*discoveryv1.EndpointSlice{}
	for _, slice := range s.existing {
		key := portsKey(slice.Ports)
		switch {
		case !isOwnedBy(slice, s.service):
			s.removed = append(s.removed, slice)
		case s.groups[key] == nil:
			s.removed = append(s.removed, slice)
		default:
			byPorts[key] = append(byPorts[key], slice)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.groups)) {
		s.place(s.groups[key], byPorts[key])
	}
	if len(s.existing) > len(s.removed) || len(s.created) > 0 {
		return
	}
	// There is always a slice: without ports and endpoints, if need be.
	empty := s.newSlice(&sliceGroup{ports: []discoveryv1.EndpointPort{}})
	if len(s.removed) == 1 && isEmpty(s.removed[0], empty) {
		s.removed = nil
		return
	}
	s.created = append(s.created, empty)
}

// isOwnedBy reports whether a slice was made for the Service.
func isOwnedBy(slice *discoveryv1.EndpointSlice, service *corev1.Service) bool {
	return slices.ContainsFunc(slice.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.UID == service.UID && o.Kind == serviceKind().Kind && o.APIVersion == "v1"
	})
}

// isEmpty reports whether a slice is the same as the one without endpoints, whoever owns it. As for the real
// controller, a label without a value is no label.
func isEmpty(slice, empty *discoveryv1.EndpointSlice) bool {
	valued := func(all map[string]string) map[string]string {
		all = maps.Clone(all)
		maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
		return all
	}
	return len(slice.Endpoints) == 0 && len(slice.Ports) == 0 && maps.Equal(valued(slice.Labels), valued(empty.Labels))
}

// endpointsPerSlice is how many endpoints a slice has at most.
const endpointsPerSlice = 100

// place finds slices for endpoints: those that are there already, as far as they have room, and new ones.
func (s *sliceSync) place(group *sliceGroup, existing []*discoveryv1.EndpointSlice) {
	rest := map[string]*discoveryv1.Endpoint{}
	for i := range group.endpoints {
		rest[endpointKey(&group.endpoints[i])] = &group.endpoints[i]
	}
	var changed, unchanged []*discoveryv1.EndpointSlice
	for _, slice := range existing {
		var kept []discoveryv1.Endpoint
		same := true
		for i := range slice.Endpoints {
			key := endpointKey(&slice.Endpoints[i])
			if endpoint := rest[key]; endpoint != nil {
				same = same && isSameEndpoint(endpoint, &slice.Endpoints[i])
				kept = append(kept, *endpoint)
				delete(rest, key)
			}
		}
		same = same && len(kept) == len(slice.Endpoints)
		switch {
		case same && maps.Equal(ownLabels(slice.Labels), ownLabels(s.service.Labels)):
			unchanged = append(unchanged, slice)
		case !same && len(kept) == 0:
			s.removed = append(s.removed, slice)
		default:
			slice.Endpoints, slice.Labels = kept, s.labels()
			changed = append(changed, slice)
		}
	}
	left := slices.DeleteFunc(group.endpoints, func(e discoveryv1.Endpoint) bool { return rest[endpointKey(&e)] == nil })
	slices.SortStableFunc(changed, func(a, b *discoveryv1.EndpointSlice) int { return -cmp.Compare(len(a.Endpoints), len(b.Endpoints)) })
	for _, slice := range changed {
		left = fill(slice, left)
	}
	for len(left) > 0 {
		slice := fullest(unchanged, len(left))
		if slice == nil {
			slice = s.newSlice(group)
			s.created = append(s.created, slice)
		} else {
			unchanged = slices.DeleteFunc(unchanged, func(u *discoveryv1.EndpointSlice) bool { return u == slice })
			changed = append(changed, slice)
		}
		left = fill(slice, left)
	}
	s.updated = append(s.updated, changed...)
}

// fill adds endpoints to a slice while it has room, and returns the others.
func fill(slice *discoveryv1.EndpointSlice, endpoints []discoveryv1.Endpoint) []discoveryv1.Endpoint {
	room := min(len(endpoints), max(0, endpointsPerSlice-len(slice.Endpoints)))
	slice.Endpoints = append(slice.Endpoints, endpoints[:room]...)
	return endpoints[room:]
}

// fullest is the slice with the least room that has room for a number of endpoints, nil if none has.
func fullest(all []*discoveryv1.EndpointSlice, number int) *discoveryv1.EndpointSlice {
	var found *discoveryv1.EndpointSlice
	for _, slice := range all {
		if len(slice.Endpoints)+number <= endpointsPerSlice && number < endpointsPerSlice && (found == nil || len(slice.Endpoints) > len(found.Endpoints)) {
			found = slice
		}
	}
	return found
}

// endpointKey tells endpoints apart: one that differs in something else is the same one, changed.
func endpointKey(e *discoveryv1.Endpoint) string {
	of := slices.Sorted(slices.Values(e.Addresses))
	of = append(of, ptr.Deref(e.Hostname, ""))
	if e.TargetRef != nil {
		of = append(of, e.TargetRef.Namespace, e.TargetRef.Name)
	}
	return strings.Join(of, " ")
}

// isSameEndpoint reports whether nothing has changed in an endpoint.
func isSameEndpoint(a, b *discoveryv1.Endpoint) bool {
	return ptr.Equal(a.NodeName, b.NodeName) && ptr.Equal(a.Zone, b.Zone) && equality.Semantic.DeepEqual(a.Conditions, b.Conditions) &&
		equality.Semantic.DeepEqual(a.TargetRef, b.TargetRef)
}

// newSlice returns a slice without endpoints.
func (s *sliceSync) newSlice(group *sliceGroup) *discoveryv1.EndpointSlice {
	prefix := s.service.Name + "-"
	if len(apivalidation.NameIsDNSSubdomain(prefix, true)) > 0 {
		prefix = s.service.Name
	}
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.service.Namespace, GenerateName: prefix, Labels: s.labels(),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s.service, serviceKind())},
		},
		AddressType: s.family, Ports: group.ports, Endpoints: []discoveryv1.Endpoint{},
	}
}

// labels are those of the slices of a Service: its own, and who looks after them.
func (s *sliceSync) labels() map[string]string {
	all := ownLabels(s.service.Labels)
	if isHeadless(s.service) {
		all[corev1.IsHeadlessService] = ""
	}
	all[discoveryv1.LabelServiceName], all[discoveryv1.LabelManagedBy] = s.service.Name, sliceManager
	return all
}

// ownLabels are those that do not say what a slice is.
func ownLabels(all map[string]string) map[string]string {
	return without(all, corev1.IsHeadlessService, discoveryv1.LabelServiceName, discoveryv1.LabelManagedBy)
}

// without returns labels but for some.
func without(all map[string]string, names ...string) map[string]string {
	kept := map[string]string{}
	for name, value := range all {
		if !slices.Contains(names, name) {
			kept[name] = value
		}
	}
	return kept
}

// write makes the requests. A slice that is to be created takes the place of one that is to go. None is created for a
// Service that is being deleted.
func (s *sliceSync) write() error {
	s.removed = slices.DeleteFunc(s.removed, func(slice *discoveryv1.EndpointSlice) bool {
		if len(s.created) == 0 || !isOwnedBy(slice, s.service) {
			return false
		}
		last := len(s.created) - 1
		replacing := s.created[last]
		replacing.Name = slice.Name
		s.created, s.updated = s.created[:last], append(s.updated, replacing)
		return true
	})
	if s.service.DeletionTimestamp == nil {
		for _, slice := range s.created {
			if err := s.client.create(sliceKind(), slice); err != nil {
				return unlessNamespaceEnds(err)
			}
		}
	}
	for _, slice := range s.updated {
		if err := s.client.update(sliceKind(), slice); err != nil {
			return err
		}
	}
	for _, slice := range s.removed {
		if err := s.client.remove(sliceKind(), slice); err != nil {
			return err
		}
	}
	return nil
}
