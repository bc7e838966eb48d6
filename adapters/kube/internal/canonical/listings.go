package canonical

// documentedListing returns how the items of a list of Kubernetes' own types belong together where that is not how an
// apply merges them. An apply replaces a list as a whole ("atomic") also where the API says that its order means
// nothing, since its items have no key, or together are one decision. And it merges some lists by key of which the
// order means something.
func documentedListing(model, field string) (known listing, documented bool) {
	name := model + " " + field
	switch name {
	case "io.k8s.api.core.v1.PodSpec initContainers", // run one after the other
		"io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration webhooks",         // called one after the other
		"io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec variables",       // may use those before them
		"io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicySpec variables",    // likewise
		"io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec variables",         // likewise
		"io.k8s.api.admissionregistration.v1beta1.MutatingWebhookConfiguration webhooks",    // as above
		"io.k8s.api.admissionregistration.v1beta1.ValidatingAdmissionPolicySpec variables",  // as above
		"io.k8s.api.admissionregistration.v1alpha1.MutatingAdmissionPolicySpec variables",   // as above
		"io.k8s.api.admissionregistration.v1alpha1.ValidatingAdmissionPolicySpec variables": // as above
		return listing{}, true
	case "io.k8s.api.core.v1.Container env", "io.k8s.api.core.v1.EphemeralContainer env":
		return listing{unordered: true, keys: []string{"name"}, expands: true}, true
	case "io.k8s.api.core.v1.NodeSpec taints": // unique by these, as validation has it
		return listing{unordered: true, keys: []string{"key", "effect"}}, true
	case "io.k8s.api.core.v1.ServiceAccount imagePullSecrets", "io.k8s.api.core.v1.PodStatus containerStatuses",
		"io.k8s.api.core.v1.PodStatus initContainerStatuses", "io.k8s.api.core.v1.PodStatus ephemeralContainerStatuses",
		"io.k8s.api.core.v1.NodeStatus volumesAttached":
		return listing{unordered: true, keys: []string{"name"}}, true
	case "io.k8s.api.core.v1.Capabilities add", "io.k8s.api.core.v1.Capabilities drop",
		"io.k8s.api.core.v1.NamespaceSpec finalizers",
		"io.k8s.api.core.v1.NodeStatus volumesInUse",
		"io.k8s.api.core.v1.PersistentVolumeClaimSpec accessModes", "io.k8s.api.core.v1.PersistentVolumeClaimStatus accessModes",
		"io.k8s.api.core.v1.PersistentVolumeSpec accessModes",
		"io.k8s.api.core.v1.PodSpec tolerations", "io.k8s.api.core.v1.PodSpec readinessGates",
		"io.k8s.api.core.v1.PodSecurityContext supplementalGroups",
		"io.k8s.api.core.v1.ResourceQuotaSpec scopes",
		"io.k8s.api.core.v1.ServiceSpec externalIPs", "io.k8s.api.core.v1.ServiceSpec loadBalancerSourceRanges",
		"io.k8s.api.core.v1.LoadBalancerStatus ingress", "io.k8s.api.networking.v1.IngressLoadBalancerStatus ingress",
		// Terms of which one is enough, or that must all be true.
		"io.k8s.api.core.v1.NodeSelector nodeSelectorTerms",
		"io.k8s.api.core.v1.NodeSelectorTerm matchExpressions", "io.k8s.api.core.v1.NodeSelectorTerm matchFields",
		"io.k8s.api.core.v1.NodeSelectorRequirement values",
		"io.k8s.api.core.v1.PodAffinity requiredDuringSchedulingIgnoredDuringExecution",
		"io.k8s.api.core.v1.PodAffinity preferredDuringSchedulingIgnoredDuringExecution",
		"io.k8s.api.core.v1.PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution",
		"io.k8s.api.core.v1.PodAntiAffinity preferredDuringSchedulingIgnoredDuringExecution",
		"io.k8s.api.core.v1.NodeAffinity preferredDuringSchedulingIgnoredDuringExecution",
		"io.k8s.api.core.v1.PodAffinityTerm namespaces",
		"io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector matchExpressions",
		"io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement values",
		// Where traffic goes to.
		"io.k8s.api.core.v1.Endpoints subsets", "io.k8s.api.core.v1.EndpointSubset addresses",
		"io.k8s.api.core.v1.EndpointSubset notReadyAddresses", "io.k8s.api.core.v1.EndpointSubset ports",
		"io.k8s.api.discovery.v1.EndpointSlice endpoints", "io.k8s.api.discovery.v1.EndpointSlice ports",
		"io.k8s.api.discovery.v1.EndpointHints forZones", "io.k8s.api.discovery.v1.EndpointHints forNodes",
		// What is allowed: all that some rule allows.
		"io.k8s.api.networking.v1.NetworkPolicySpec ingress", "io.k8s.api.networking.v1.NetworkPolicySpec egress",
		"io.k8s.api.networking.v1.NetworkPolicySpec policyTypes",
		"io.k8s.api.networking.v1.NetworkPolicyIngressRule from", "io.k8s.api.networking.v1.NetworkPolicyIngressRule ports",
		"io.k8s.api.networking.v1.NetworkPolicyEgressRule to", "io.k8s.api.networking.v1.NetworkPolicyEgressRule ports",
		"io.k8s.api.networking.v1.IPBlock except", "io.k8s.api.networking.v1.IngressTLS hosts",
		"io.k8s.api.rbac.v1.Role rules", "io.k8s.api.rbac.v1.ClusterRole rules",
		"io.k8s.api.rbac.v1.RoleBinding subjects", "io.k8s.api.rbac.v1.ClusterRoleBinding subjects",
		"io.k8s.api.rbac.v1.AggregationRule clusterRoleSelectors",
		"io.k8s.api.rbac.v1.PolicyRule verbs", "io.k8s.api.rbac.v1.PolicyRule apiGroups", "io.k8s.api.rbac.v1.PolicyRule resources",
		"io.k8s.api.rbac.v1.PolicyRule resourceNames", "io.k8s.api.rbac.v1.PolicyRule nonResourceURLs",
		"io.k8s.api.certificates.v1.CertificateSigningRequestSpec usages",
		// Of several metrics, the one that asks for the most counts; of a Job's current runs, each is one.
		"io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec metrics", "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus currentMetrics",
		"io.k8s.api.batch.v1.CronJobStatus active":
		return listing{unordered: true}, true
	}
	return listing{}, false
}
