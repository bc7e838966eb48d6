package builtin

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
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

// external reports whether a Service can be reached from outside of the cluster.
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

// validateFamilies returns what is wrong with the addresses that a Service asks for, and with
// their families, before it is given any. old is nil for a new Service.
func validateFamilies(s, old *corev1.Service) field.ErrorList {
	spec := field.NewPath("spec")
	addresses := s.Spec.ClusterIPs
	var errs field.ErrorList
	switch {
	case s.Spec.ClusterIP == "" && len(addresses) > 0:
		errs = append(errs, field.Invalid(spec.Child("clusterIPs"), addresses, "must be empty when `clusterIP` is not specified"))
	case s.Spec.ClusterIP != "" && addresses[0] != s.Spec.ClusterIP:
		errs = append(errs, field.Invalid(spec.Child("clusterIPs"), addresses, "first value must match `clusterIP`"))
	}
	families := []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	for i, family := range s.Spec.IPFamilies {
		at := spec.Child("ipFamilies").Index(i)
		if !slices.Contains(families, family) {
			errs = append(errs, field.NotSupported(at, family, families))
		}
		if slices.Contains(s.Spec.IPFamilies[:i], family) {
			errs = append(errs, field.Duplicate(at, family))
		}
	}
	policies := []corev1.IPFamilyPolicy{corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack}
	if policy := s.Spec.IPFamilyPolicy; policy != nil && !slices.Contains(policies, *policy) {
		errs = append(errs, field.NotSupported(spec.Child("ipFamilyPolicy"), policy, policies))
	}
	var before []string
	if old != nil {
		before = old.Spec.ClusterIPs
	}
	return append(errs, validateAddressList(s, before, spec.Child("clusterIPs"))...)
}

// validateAddressList returns what is wrong with the addresses that a Service asks for. Those
// that it had before are right.
func validateAddressList(s *corev1.Service, before []string, path *field.Path) field.ErrorList {
	addresses := s.Spec.ClusterIPs
	var errs, wrong field.ErrorList
	for i, address := range addresses {
		switch {
		case i > 0 || address != corev1.ClusterIPNone:
			wrong = append(wrong, utilvalidation.IsValidIPForLegacyField(path.Index(i), address, true, before)...)
		case len(addresses) > 1:
			wrong = append(wrong, field.Invalid(path, addresses, "'None' must be the first and only value"))
		}
	}
	errs = append(errs, wrong...)
	const most = 2
	if len(addresses) > most {
		errs = append(errs, field.Invalid(path, addresses, "may only hold up to 2 values"))
	}
	if len(wrong) > 0 || s.Spec.ClusterIP == corev1.ClusterIPNone {
		return errs
	}
	seen := map[corev1.IPFamily]bool{}
	for _, address := range addresses {
		seen[familyOf(address)] = true
	}
	if len(addresses) > 1 && len(seen) == 1 {
		errs = append(errs, field.Invalid(path, addresses, "may specify no more than one IP for each IP family"))
	}
	for i, address := range addresses[:min(len(addresses), len(s.Spec.IPFamilies))] {
		if wanted := s.Spec.IPFamilies[i]; familyOf(address) != wanted && slices.Contains([]corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}, wanted) {
			errs = append(errs, field.Invalid(path.Index(i), address, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", wanted, i)))
		}
	}
	return errs
}

// familyOf is the family of an address.
func familyOf(address string) corev1.IPFamily {
	if parsed, err := netip.ParseAddr(address); err == nil && parsed.Is6() {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// setFamilies says which families of addresses a Service has. old is nil for a new Service.
func setFamilies(s, old *corev1.Service) field.ErrorList {
	spec := field.NewPath("spec")
	open := s.Spec.ClusterIP == corev1.ClusterIPNone && len(s.Spec.Selector) == 0
	if open {
		point(&s.Spec.IPFamilyPolicy, corev1.IPFamilyPolicyRequireDualStack)
	}
	point(&s.Spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	if errs := validateFamilies(s, old); len(errs) > 0 {
		return errs
	}
	single := *s.Spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
	var errs field.ErrorList
	for _, several := range []struct {
		count int
		what  string
	}{{len(s.Spec.ClusterIPs), "cluster IPs"}, {len(s.Spec.IPFamilies), "IP families"}} {
		if single && several.count > 1 {
			errs = append(errs, field.Invalid(spec.Child("ipFamilyPolicy"), s.Spec.IPFamilyPolicy,
				fmt.Sprintf("must be 'RequireDualStack' or 'PreferDualStack' when multiple %s are specified", several.what)))
		}
	}
	for i, address := range s.Spec.ClusterIPs {
		if i >= len(s.Spec.IPFamilies) && address != corev1.ClusterIPNone {
			if family := familyOf(address); family != corev1.IPv4Protocol {
				errs = append(errs, field.Invalid(spec.Child("clusterIPs").Index(i), s.Spec.ClusterIPs, string(family)+" is not configured on this cluster"))
			} else {
				s.Spec.IPFamilies = append(s.Spec.IPFamilies, family)
			}
		}
	}
	if len(errs) > 0 {
		return errs
	}
	if open {
		completeFamilies(s, single)
		return nil
	}
	if ptr.Deref(s.Spec.IPFamilyPolicy, "") == corev1.IPFamilyPolicyRequireDualStack {
		errs = append(errs, field.Invalid(spec.Child("ipFamilyPolicy"), s.Spec.IPFamilyPolicy, "this cluster is not configured for dual-stack services"))
	}
	for i, family := range s.Spec.IPFamilies {
		if family != corev1.IPv4Protocol {
			errs = append(errs, field.Invalid(spec.Child("ipFamilies").Index(i), family, "not configured on this cluster"))
		}
	}
	if len(s.Spec.IPFamilies) == 0 {
		s.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	return errs
}

// completeFamilies gives the families to a Service without addresses and without a selector,
// whose endpoints may have any.
func completeFamilies(s *corev1.Service, single bool) {
	if len(s.Spec.IPFamilies) == 0 {
		s.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if single || len(s.Spec.IPFamilies) > 1 {
		return
	}
	other := corev1.IPv6Protocol
	if s.Spec.IPFamilies[0] == other {
		other = corev1.IPv4Protocol
	}
	s.Spec.IPFamilies = append(s.Spec.IPFamilies, other)
}
