package kube

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// allocateService gives a Service the addresses and ports that it needs. The cluster
// has IPv4 addresses only. current is nil for a new Service.
func allocateService(state core.Snapshot, key core.Key, object, current *unstructured.Unstructured) error {
	service := &corev1.Service{}
	if err := jsontree.Into(object.Object, service); err != nil {
		return err
	}
	a := &storage.Allocator{Key: key, State: state, Held: map[string]bool{}}
	var old *corev1.Service
	if current != nil {
		old = &corev1.Service{}
		if err := jsontree.Into(current.Object, old); err != nil {
			return err
		}
		dropUnneeded(service, old)
		keepAllocated(service, old)
		for _, name := range storage.AllocationsOf(old) {
			a.Held[name] = true
		}
		a.Addressed = storage.HasClusterIP(old)
	}
	if len(service.Spec.ClusterIPs) == 0 && service.Spec.ClusterIP != "" {
		service.Spec.ClusterIPs = []string{service.Spec.ClusterIP}
	}
	var errs field.ErrorList
	if given := service.Spec.ClusterIPs; current == nil && service.Spec.ClusterIP == "" && len(given) > 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "clusterIPs"), given, "must be empty when `clusterIP` is not specified"))
	}
	if service.Spec.Type != corev1.ServiceTypeExternalName && len(errs) == 0 {
		errs = append(errs, setFamilies(service, old)...)
	}
	if len(errs) == 0 {
		errs = allocate(a, service)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), key.Name, errs)
	}
	tree, err := jsontree.Of(service)
	if err != nil {
		return err
	}
	object.Object["spec"] = tree["spec"]
	if _, hasStatus := object.Object["status"]; hasStatus {
		object.Object["status"] = tree["status"]
	}
	return nil
}

func hasNodePorts(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer
}

func hasHealthCheck(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// dropUnneeded drops what a change of the type makes useless, unless it is changed too.
func dropUnneeded(s, old *corev1.Service) {
	if storage.HasClusterIP(old) && !storage.HasClusterIP(s) {
		if s.Spec.ClusterIP == old.Spec.ClusterIP {
			s.Spec.ClusterIP, s.Spec.ClusterIPs = "", nil
		}
		if slices.Equal(s.Spec.IPFamilies, old.Spec.IPFamilies) {
			s.Spec.IPFamilies = nil
		}
		if ptr.Equal(s.Spec.IPFamilyPolicy, old.Spec.IPFamilyPolicy) {
			s.Spec.IPFamilyPolicy = nil
		}
	}
	if hasNodePorts(old) && !hasNodePorts(s) && slices.Equal(nodePorts(s), nodePorts(old)) {
		for i := range s.Spec.Ports {
			s.Spec.Ports[i].NodePort = 0
		}
	}
	if hasHealthCheck(old) && !hasHealthCheck(s) && s.Spec.HealthCheckNodePort == old.Spec.HealthCheckNodePort {
		s.Spec.HealthCheckNodePort = 0
	}
	balanced := s.Spec.Type == corev1.ServiceTypeLoadBalancer
	if old.Spec.Type == corev1.ServiceTypeLoadBalancer && !balanced {
		if ptr.Equal(s.Spec.AllocateLoadBalancerNodePorts, old.Spec.AllocateLoadBalancerNodePorts) {
			s.Spec.AllocateLoadBalancerNodePorts = nil
		}
		if ptr.Equal(s.Spec.LoadBalancerClass, old.Spec.LoadBalancerClass) {
			s.Spec.LoadBalancerClass = nil
		}
	}
	if external(old) && !external(s) && s.Spec.ExternalTrafficPolicy == old.Spec.ExternalTrafficPolicy {
		s.Spec.ExternalTrafficPolicy = ""
	}
	if !balanced {
		s.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
}

// external tells whether a Service can be reached from outside of the cluster.
func external(s *corev1.Service) bool {
	return hasNodePorts(s) || s.Spec.Type == corev1.ServiceTypeClusterIP && len(s.Spec.ExternalIPs) > 0
}

func nodePorts(s *corev1.Service) []int32 {
	var ports []int32
	for _, p := range s.Spec.Ports {
		ports = append(ports, p.NodePort)
	}
	return ports
}

// keepAllocated brings back what was allocated and an update need not repeat.
func keepAllocated(s, old *corev1.Service) {
	if storage.HasClusterIP(old) && storage.HasClusterIP(s) {
		fill(&s.Spec.ClusterIP, old.Spec.ClusterIP)
		if len(s.Spec.ClusterIPs) == 0 || slices.Equal(s.Spec.ClusterIPs, old.Spec.ClusterIPs) && s.Spec.ClusterIP != old.Spec.ClusterIP {
			s.Spec.ClusterIPs = nil
			if s.Spec.ClusterIP == old.Spec.ClusterIP {
				s.Spec.ClusterIPs = old.Spec.ClusterIPs
			}
		}
	}
	if s.Spec.IPFamilyPolicy == nil && storage.HasClusterIP(s) {
		s.Spec.IPFamilyPolicy = old.Spec.IPFamilyPolicy
	}
	if hasNodePorts(old) && hasNodePorts(s) {
		kept := nodePorts(s)
		before := map[string]int32{}
		for _, p := range old.Spec.Ports {
			before[p.Name] = p.NodePort
		}
		for i := range s.Spec.Ports {
			p := &s.Spec.Ports[i]
			if port := before[p.Name]; p.NodePort == 0 && !slices.Contains(kept, port) {
				p.NodePort = port
			}
		}
	}
	if hasHealthCheck(old) && hasHealthCheck(s) {
		fill(&s.Spec.HealthCheckNodePort, old.Spec.HealthCheckNodePort)
	}
}

// allocate takes what a Service asks for, and finds what it does not ask for.
func allocate(a *storage.Allocator, s *corev1.Service) field.ErrorList {
	if storage.HasClusterIP(s) && s.Spec.ClusterIP != corev1.ClusterIPNone && !a.Addressed {
		if err := allocateAddress(a, s); err != nil {
			return field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs"), s.Spec.ClusterIPs, err.Error())}
		}
	}
	if hasNodePorts(s) {
		if errs := allocateNodePorts(a, s); errs != nil {
			return errs
		}
	}
	if !hasHealthCheck(s) {
		return nil
	}
	var err error
	switch port := s.Spec.HealthCheckNodePort; {
	case port == 0:
		s.Spec.HealthCheckNodePort, err = a.NextNodePort()
	case !a.Take(storage.PortName(port)):
		err = storage.ErrPortTaken
	}
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "healthCheckNodePort"), s.Spec.HealthCheckNodePort, err.Error())}
	}
	return nil
}

func allocateAddress(a *storage.Allocator, s *corev1.Service) error {
	if asked := s.Spec.ClusterIP; asked != "" {
		address, err := netip.ParseAddr(asked)
		switch {
		case err != nil || !netip.MustParsePrefix(storage.AddressPrefix+"0/24").Contains(address):
			return fmt.Errorf("failed to allocate IP %s: the provided network does not match the current range", asked)
		case !a.Take(asked):
			return fmt.Errorf("failed to allocate IP %s: provided IP is already allocated", asked)
		}
		return nil
	}
	address, err := a.NextAddress()
	switch {
	case err != nil:
		return fmt.Errorf("failed to allocate IP: %w", err)
	case a.Key.Name == "":
		s.Spec.ClusterIPs = []string{""}
		// The record of an address names the Service that it belongs to.
		return fmt.Errorf("failed to allocate IP: IPAddress.networking.k8s.io %q is invalid: spec.parentRef.name: Required value", address)
	}
	s.Spec.ClusterIP, s.Spec.ClusterIPs = address, []string{address}
	return nil
}

// allocateNodePorts gives ports of the same number, for several protocols, one and the
// same port of the nodes.
func allocateNodePorts(a *storage.Allocator, s *corev1.Service) field.ErrorList {
	wanted := s.Spec.Type == corev1.ServiceTypeNodePort || ptr.Deref(s.Spec.AllocateLoadBalancerNodePorts, true)
	shared := map[int32]int32{}
	for _, p := range s.Spec.Ports {
		if shared[p.Port] == 0 {
			shared[p.Port] = p.NodePort
		}
	}
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		if p.NodePort == 0 && !wanted {
			continue
		}
		fill(&p.NodePort, shared[p.Port])
		var err error
		switch {
		case p.NodePort == 0:
			p.NodePort, err = a.NextNodePort()
		case p.NodePort < storage.FirstNodePort || p.NodePort > storage.LastNodePort:
			err = fmt.Errorf("provided port is not in the valid range. The range of valid ports is %d-%d", storage.FirstNodePort, storage.LastNodePort)
		case !a.Take(storage.PortName(p.NodePort)):
			err = storage.ErrPortTaken
		}
		if err != nil {
			return field.ErrorList{field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), p.NodePort, err.Error())}
		}
		shared[p.Port] = p.NodePort
	}
	return nil
}
