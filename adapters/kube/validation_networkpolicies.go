package kube

import (
	"net"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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
