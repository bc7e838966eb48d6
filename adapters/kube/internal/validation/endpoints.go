package validation

import (
	"fmt"
	"net"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateEndpoints(e *corev1.Endpoints) field.ErrorList { //nolint:staticcheck // deprecated, and still used by many
	var errs field.ErrorList
	for i, subset := range e.Subsets {
		at := field.NewPath("subsets").Index(i)
		if len(subset.Addresses)+len(subset.NotReadyAddresses) == 0 {
			errs = append(errs, field.Required(at, "must specify `addresses` or `notReadyAddresses`"))
		}
		errs = append(errs, validateEndpointAddresses(subset.Addresses, at.Child("addresses"))...)
		errs = append(errs, validateEndpointAddresses(subset.NotReadyAddresses, at.Child("notReadyAddresses"))...)
		for j, p := range subset.Ports {
			port := at.Child("ports").Index(j)
			if p.Name != "" || len(subset.Ports) > 1 {
				errs = append(errs, validateLabelName(p.Name, port.Child("name"))...)
			}
			for _, message := range utilvalidation.IsValidPortNum(int(p.Port)) {
				errs = append(errs, field.Invalid(port.Child("port"), p.Port, message))
			}
			errs = append(errs, validateProtocol(p.Protocol, endpointProtocols(), port.Child("protocol"))...)
		}
	}
	return errs
}

// endpointProtocols are in the order of their names, as messages have them.
func endpointProtocols() []corev1.Protocol {
	return []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}
}

func validateEndpointAddresses(addresses []corev1.EndpointAddress, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, a := range addresses {
		at := path.Index(i)
		errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Child("ip"), a.IP, true, nil)...)
		if a.Hostname != "" {
			errs = append(errs, validateLabelName(a.Hostname, at.Child("hostname"))...)
		}
		errs = append(errs, validateNodeName(a.NodeName, at.Child("nodeName"))...)
		errs = append(errs, validateReachable(a.IP, at.Child("ip"))...)
	}
	return errs
}

func validateNodeName(name *string, path *field.Path) field.ErrorList {
	if name == nil {
		return nil
	}
	var errs field.ErrorList
	for _, message := range validation.NameIsDNSSubdomain(*name, false) {
		errs = append(errs, field.Invalid(path, *name, message))
	}
	return errs
}

// validateReachable refuses the addresses that mean something else on each machine.
func validateReachable(address string, path *field.Path) field.ErrorList {
	ip := net.ParseIP(address)
	refuse := func(message string) field.ErrorList { return field.ErrorList{field.Invalid(path, address, message)} }
	switch {
	case ip == nil:
		return refuse("must be a valid IP address")
	case ip.IsUnspecified():
		return refuse(fmt.Sprintf("may not be unspecified (%v)", address))
	case ip.IsLoopback():
		return refuse("may not be in the loopback range (127.0.0.0/8, ::1/128)")
	case ip.IsLinkLocalUnicast():
		return refuse("may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	case ip.IsLinkLocalMulticast():
		return refuse("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	}
	return nil
}

func validateEndpointSlice(s *discoveryv1.EndpointSlice) field.ErrorList {
	types := []discoveryv1.AddressType{discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}
	var errs field.ErrorList
	switch addressType := field.NewPath("addressType"); {
	case s.AddressType == "":
		errs = append(errs, field.Required(addressType, ""))
	case !slices.Contains(types, s.AddressType):
		errs = append(errs, field.NotSupported(addressType, s.AddressType, types))
	}
	names := map[string]bool{}
	for i, p := range s.Ports {
		at := field.NewPath("ports").Index(i)
		if *p.Name != "" {
			errs = append(errs, validateLabelName(*p.Name, at.Child("name"))...)
		}
		if names[*p.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
		}
		names[*p.Name] = true
		errs = append(errs, validateProtocol(*p.Protocol, endpointProtocols(), at.Child("protocol"))...)
	}
	for i := range s.Endpoints {
		errs = append(errs, validateEndpoint(&s.Endpoints[i], s.AddressType, field.NewPath("endpoints").Index(i))...)
	}
	return errs
}

func validateEndpoint(e *discoveryv1.Endpoint, addressType discoveryv1.AddressType, path *field.Path) field.ErrorList {
	addresses := path.Child("addresses")
	var errs field.ErrorList
	const most = 100
	switch {
	case len(e.Addresses) == 0:
		errs = append(errs, field.Required(addresses, "must contain at least 1 address"))
	case len(e.Addresses) > most:
		errs = append(errs, field.TooMany(addresses, len(e.Addresses), most))
	}
	for i, address := range e.Addresses {
		at := addresses.Index(i)
		switch addressType {
		case discoveryv1.AddressTypeFQDN:
			errs = append(errs, utilvalidation.IsFullyQualifiedDomainName(at, address)...)
		case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6:
			if invalid := utilvalidation.IsValidIPForLegacyField(at, address, true, nil); len(invalid) > 0 {
				errs = append(errs, invalid...)
				continue
			}
			if four := net.ParseIP(address).To4() != nil; four != (addressType == discoveryv1.AddressTypeIPv4) {
				errs = append(errs, field.Invalid(addresses, address, "must be an "+string(addressType)+" address"))
			}
			errs = append(errs, validateReachable(address, at)...)
		}
	}
	errs = append(errs, validateNodeName(e.NodeName, path.Child("nodeName"))...)
	if e.Hostname != nil {
		errs = append(errs, validateLabelName(*e.Hostname, path.Child("hostname"))...)
	}
	return errs
}
