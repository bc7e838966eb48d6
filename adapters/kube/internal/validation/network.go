package validation

import (
	"fmt"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateIngress(i *networkingv1.Ingress) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if len(i.Spec.Rules) == 0 && i.Spec.DefaultBackend == nil {
		errs = append(errs, field.Invalid(spec, i.Spec.Rules, "either `defaultBackend` or `rules` must be specified"))
	}
	if i.Spec.DefaultBackend != nil {
		errs = append(errs, validateBackend(i.Spec.DefaultBackend, spec.Child("defaultBackend"))...)
	}
	for n, rule := range i.Spec.Rules {
		errs = append(errs, validateIngressRule(&rule, spec.Child("rules").Index(n))...)
	}
	for n, tls := range i.Spec.TLS {
		at := spec.Child("tls").Index(n)
		for m, host := range tls.Hosts {
			errs = append(errs, validateHost(host, at.Child("hosts").Index(m))...)
		}
		if tls.SecretName != "" {
			for _, message := range validation.NameIsDNSSubdomain(tls.SecretName, false) {
				errs = append(errs, field.Invalid(at.Child("secretName"), tls.SecretName, message))
			}
		}
	}
	if class := i.Spec.IngressClassName; class != nil {
		for _, message := range validation.NameIsDNSSubdomain(*class, false) {
			errs = append(errs, field.Invalid(spec.Child("ingressClassName"), *class, message))
		}
	}
	return errs
}

// validateHost checks the name of a host, which may stand for many.
func validateHost(host string, path *field.Path) field.ErrorList {
	rule := utilvalidation.IsDNS1123Subdomain
	if strings.Contains(host, "*") {
		rule = utilvalidation.IsWildcardDNS1123Subdomain
	}
	var errs field.ErrorList
	for _, message := range rule(host) {
		errs = append(errs, field.Invalid(path, host, message))
	}
	return errs
}

func validateIngressRule(rule *networkingv1.IngressRule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if rule.Host != "" {
		if net.ParseIP(rule.Host) != nil {
			errs = append(errs, field.Invalid(path.Child("host"), rule.Host, "must be a DNS name, not an IP address"))
		}
		errs = append(errs, validateHost(rule.Host, path.Child("host"))...)
	}
	if rule.HTTP == nil {
		return errs
	}
	paths := path.Child("http", "paths")
	if len(rule.HTTP.Paths) == 0 {
		errs = append(errs, field.Required(paths, ""))
	}
	for i := range rule.HTTP.Paths {
		errs = append(errs, validateIngressPath(&rule.HTTP.Paths[i], paths.Index(i))...)
	}
	return errs
}

func validateIngressPath(p *networkingv1.HTTPIngressPath, path *field.Path) field.ErrorList {
	at := path.Child("path")
	var errs field.ErrorList
	absolute := func() {
		if !strings.HasPrefix(p.Path, "/") {
			errs = append(errs, field.Invalid(at, p.Path, "must be an absolute path"))
		}
	}
	switch known := []networkingv1.PathType{networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix}; {
	case p.PathType == nil:
		return field.ErrorList{field.Required(path.Child("pathType"), "pathType must be specified")}
	case !slices.Contains(known, *p.PathType):
		errs = append(errs, field.NotSupported(path.Child("pathType"), *p.PathType, known))
	case *p.PathType != networkingv1.PathTypeImplementationSpecific:
		absolute()
		for _, part := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(p.Path, part) {
				errs = append(errs, field.Invalid(at, p.Path, fmt.Sprintf("must not contain '%s'", part)))
			}
		}
		for _, end := range []string{"/..", "/."} {
			if strings.HasSuffix(p.Path, end) {
				errs = append(errs, field.Invalid(at, p.Path, fmt.Sprintf("cannot end with '%s'", end)))
			}
		}
	case p.Path != "":
		absolute()
	}
	return append(errs, validateBackend(&p.Backend, path.Child("backend"))...)
}

// validateBackend checks where requests are to go: to a Service, or to something else.
func validateBackend(b *networkingv1.IngressBackend, path *field.Path) field.ErrorList {
	switch {
	case b.Resource != nil && b.Service != nil:
		return field.ErrorList{field.Invalid(path, "", "cannot set both resource and service backends")}
	case b.Resource != nil:
		return validateReference(b.Resource.APIGroup, b.Resource.Kind, b.Resource.Name, path.Child("resource"))
	case b.Service == nil:
		return field.ErrorList{field.Invalid(path, "", "resource or service backend is required")}
	}
	service := path.Child("service")
	var errs field.ErrorList
	if b.Service.Name == "" {
		errs = append(errs, field.Required(service.Child("name"), ""))
	} else {
		for _, message := range validation.NameIsDNSLabel(b.Service.Name, false) {
			errs = append(errs, field.Invalid(service.Child("name"), b.Service.Name, message))
		}
	}
	port := b.Service.Port
	switch {
	case port.Name != "" && port.Number != 0:
		errs = append(errs, field.Invalid(path, "", "cannot set both port name & port number"))
	case port.Name != "":
		for _, message := range utilvalidation.IsValidPortName(port.Name) {
			errs = append(errs, field.Invalid(service.Child("port", "name"), port.Name, message))
		}
	case port.Number != 0:
		for _, message := range utilvalidation.IsValidPortNum(int(port.Number)) {
			errs = append(errs, field.Invalid(service.Child("port", "number"), port.Number, message))
		}
	default:
		errs = append(errs, field.Required(path, "port name or number is required"))
	}
	return errs
}

// validateReference checks a reference to an object of any kind.
func validateReference(group *string, kind, name string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if group != nil {
		for _, message := range utilvalidation.IsDNS1123Subdomain(*group) {
			errs = append(errs, field.Invalid(at.Child("apiGroup"), *group, message))
		}
	}
	for _, part := range []struct{ field, value string }{{"kind", kind}, {"name", name}} {
		if part.value == "" {
			errs = append(errs, field.Required(at.Child(part.field), ""))
		}
		for _, message := range path.IsValidPathSegmentName(part.value) {
			errs = append(errs, field.Invalid(at.Child(part.field), part.value, message))
		}
	}
	return errs
}

func validateIngressClass(c *networkingv1.IngressClass) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	const longest = 250
	if len(c.Spec.Controller) > longest {
		errs = append(errs, field.TooLong(spec.Child("controller"), "", longest))
	}
	errs = append(errs, utilvalidation.IsDomainPrefixedPath(spec.Child("controller"), c.Spec.Controller)...)
	p := c.Spec.Parameters
	if p == nil {
		return errs
	}
	parameters := spec.Child("parameters")
	errs = append(errs, validateReference(p.APIGroup, p.Kind, p.Name, parameters)...)
	namespace := parameters.Child("namespace")
	known := []string{networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace}
	switch {
	case !slices.Contains(known, *p.Scope):
		errs = append(errs, field.NotSupported(parameters.Child("scope"), *p.Scope, known))
	case *p.Scope == networkingv1.IngressClassParametersReferenceScopeCluster:
		if p.Namespace != nil {
			errs = append(errs, field.Forbidden(namespace, "`parameters.scope` is set to 'Cluster'"))
		}
	case p.Namespace == nil:
		errs = append(errs, field.Required(namespace, "`parameters.scope` is set to 'Namespace'"))
	default:
		errs = append(errs, validateLabelName(*p.Namespace, namespace)...)
	}
	return errs
}

func validateNetworkPolicy(p *networkingv1.NetworkPolicy) field.ErrorList {
	spec := field.NewPath("spec")
	errs := metav1validation.ValidateLabelSelector(&p.Spec.PodSelector, metav1validation.LabelSelectorValidationOptions{}, spec.Child("podSelector"))
	for i, rule := range p.Spec.Ingress {
		at := spec.Child("ingress").Index(i)
		errs = append(errs, validatePolicyPorts(rule.Ports, at.Child("ports"))...)
		errs = append(errs, validatePeers(rule.From, at.Child("from"))...)
	}
	for i, rule := range p.Spec.Egress {
		at := spec.Child("egress").Index(i)
		errs = append(errs, validatePolicyPorts(rule.Ports, at.Child("ports"))...)
		errs = append(errs, validatePeers(rule.To, at.Child("to"))...)
	}
	known := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}
	types := spec.Child("policyTypes")
	if len(p.Spec.PolicyTypes) > len(known) {
		return append(errs, field.Invalid(types, &p.Spec.PolicyTypes, "may not specify more than two policyTypes"))
	}
	for i, policyType := range p.Spec.PolicyTypes {
		if !slices.Contains(known, policyType) {
			errs = append(errs, field.NotSupported(types.Index(i), policyType, known))
		}
	}
	return errs
}

func validatePolicyPorts(ports []networkingv1.NetworkPolicyPort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, p := range ports {
		at := path.Index(i)
		if p.Protocol != nil {
			errs = append(errs, validateProtocol(*p.Protocol, []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}, at.Child("protocol"))...)
		}
		end := at.Child("endPort")
		switch {
		case p.Port == nil:
			if p.EndPort != nil {
				errs = append(errs, field.Invalid(end, *p.EndPort, "may not be specified when `port` is not specified"))
			}
			continue
		case p.EndPort == nil:
		case p.Port.Type == intstr.String:
			errs = append(errs, field.Invalid(end, *p.EndPort, "may not be specified when `port` is non-numeric"))
		case *p.EndPort < p.Port.IntVal:
			errs = append(errs, field.Invalid(end, p.Port.IntVal, "must be greater than or equal to `port`"))
		}
		errs = append(errs, validateTargetPort(*p.Port, at.Child("port"))...)
	}
	return errs
}

func validateProtocol(protocol corev1.Protocol, known []corev1.Protocol, path *field.Path) field.ErrorList {
	if slices.Contains(known, protocol) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, protocol, known)}
}

func validatePeers(peers []networkingv1.NetworkPolicyPeer, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, peer := range peers {
		at := path.Index(i)
		if peer.PodSelector != nil {
			errs = append(errs, metav1validation.ValidateLabelSelector(peer.PodSelector, metav1validation.LabelSelectorValidationOptions{}, at.Child("podSelector"))...)
		}
		if peer.NamespaceSelector != nil {
			errs = append(errs, metav1validation.ValidateLabelSelector(peer.NamespaceSelector, metav1validation.LabelSelectorValidationOptions{}, at.Child("namespaceSelector"))...)
		}
		if peer.IPBlock != nil {
			errs = append(errs, validateBlock(peer.IPBlock, at.Child("ipBlock"))...)
		}
		switch selected := peer.PodSelector != nil || peer.NamespaceSelector != nil; {
		case !selected && peer.IPBlock == nil:
			errs = append(errs, field.Required(at, "must specify a peer"))
		case selected && peer.IPBlock != nil:
			errs = append(errs, field.Forbidden(at, "may not specify both ipBlock and another peer"))
		}
	}
	return errs
}

// validateBlock checks addresses and those that are taken out of them.
func validateBlock(block *networkingv1.IPBlock, path *field.Path) field.ErrorList {
	if block.CIDR == "" {
		return field.ErrorList{field.Required(path.Child("cidr"), "")}
	}
	errs := utilvalidation.IsValidCIDRForLegacyField(path.Child("cidr"), block.CIDR, true, nil)
	_, all, err := net.ParseCIDR(block.CIDR)
	if err != nil {
		return errs
	}
	width, _ := all.Mask.Size()
	for i, except := range block.Except {
		at := path.Child("except").Index(i)
		errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(at, except, true, nil)...)
		_, some, err := net.ParseCIDR(except)
		if err != nil {
			continue
		}
		if narrower, _ := some.Mask.Size(); !all.Contains(some.IP) || width >= narrower {
			errs = append(errs, field.Invalid(at, except, "must be a strict subset of `cidr`"))
		}
	}
	return errs
}
