package kube

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

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
