package builtin

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func defaultService(s *corev1.Service) {
	spec := &s.Spec
	fill(&spec.Type, corev1.ServiceTypeClusterIP)
	fill(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	switch spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		point(&spec.SessionAffinityConfig, corev1.SessionAffinityConfig{})
		point(&spec.SessionAffinityConfig.ClientIP, corev1.ClientIPConfig{})
		point(&spec.SessionAffinityConfig.ClientIP.TimeoutSeconds, corev1.DefaultClientIPServiceAffinitySeconds)
	}
	for i := range spec.Ports {
		port := &spec.Ports[i]
		fill(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == (intstr.IntOrString{}) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	if external(s) {
		fill(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if spec.Type != corev1.ServiceTypeExternalName {
		point(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		point(&spec.AllocateLoadBalancerNodePorts, true)
		for i := range s.Status.LoadBalancer.Ingress {
			if ingress := &s.Status.LoadBalancer.Ingress[i]; ingress.IP != "" {
				point(&ingress.IPMode, corev1.LoadBalancerIPModeVIP)
			}
		}
	}
}

func defaultEndpoints(e *corev1.Endpoints) { //nolint:staticcheck // deprecated, and still used by many
	for _, subset := range e.Subsets {
		for i := range subset.Ports {
			fill(&subset.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	}
}

func defaultNetworkPolicy(p *networkingv1.NetworkPolicy) {
	for _, rule := range p.Spec.Ingress {
		defaultPolicyPorts(rule.Ports)
	}
	for _, rule := range p.Spec.Egress {
		defaultPolicyPorts(rule.Ports)
	}
	if len(p.Spec.PolicyTypes) > 0 {
		return
	}
	p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	if len(p.Spec.Egress) > 0 {
		p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
	}
}

func defaultPolicyPorts(ports []networkingv1.NetworkPolicyPort) {
	for i := range ports {
		point(&ports[i].Protocol, corev1.ProtocolTCP)
	}
}

// defaultWebhook sets what both kinds of webhooks have.
func defaultWebhook(
	failure **admissionregistrationv1.FailurePolicyType, match **admissionregistrationv1.MatchPolicyType,
	namespaces, objects **metav1.LabelSelector, timeout **int32,
	config *admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations,
) {
	point(failure, admissionregistrationv1.Fail)
	point(match, admissionregistrationv1.Equivalent)
	point(namespaces, metav1.LabelSelector{})
	point(objects, metav1.LabelSelector{})
	point(timeout, 10)
	if config.Service != nil {
		point(&config.Service.Port, 443)
	}
	for i := range rules {
		point(&rules[i].Scope, admissionregistrationv1.AllScopes)
	}
}
