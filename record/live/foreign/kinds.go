package foreign

import (
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// kindOf returns a kind as recordings name it: with its group behind a dot.
func kindOf(apiVersion, kind string) core.Kind {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped || group == "" {
		return core.Kind(kind)
	}
	return core.Kind(kind + "." + group)
}

// resource is a resource with its group.
type resource struct{ group, name string }

// kinds knows the kinds of resources: those of Kubernetes, and those that an object was seen of.
type kinds map[resource]string

func newKinds() kinds {
	k := kinds{}
	for group, names := range map[string]string{
		"": "Binding ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController " +
			"ResourceQuota Secret Service ServiceAccount",
		"apps":                         "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
		"authentication.k8s.io":        "TokenRequest TokenReview",
		"batch":                        "CronJob Job",
		"autoscaling":                  "HorizontalPodAutoscaler",
		"policy":                       "PodDisruptionBudget",
		"coordination.k8s.io":          "Lease",
		"discovery.k8s.io":             "EndpointSlice",
		"events.k8s.io":                "Event",
		"networking.k8s.io":            "Ingress IngressClass NetworkPolicy",
		"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding Role RoleBinding",
		"storage.k8s.io":               "CSIDriver CSINode StorageClass VolumeAttachment",
		"scheduling.k8s.io":            "PriorityClass",
		"apiextensions.k8s.io":         "CustomResourceDefinition",
		"admissionregistration.k8s.io": "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
	} {
		for _, kind := range strings.Fields(names) {
			k[resource{group, plural(kind)}] = kind
		}
	}
	return k
}

// plural returns the resource of a kind, for kinds of Kubernetes.
func plural(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case name == "endpoints":
		return name
	case strings.HasSuffix(name, "ss"):
		return name + "es"
	case strings.HasSuffix(name, "cy"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}

// learn notes the kind of a resource.
func (k kinds) learn(of resource, kind string) {
	if _, known := k[of]; !known && len(k) < 1<<14 {
		k[of] = kind
	}
}

// of returns the kind of a resource. One of which no object was seen is called as it is itself.
func (k kinds) of(of resource) core.Kind {
	kind, known := k[of]
	if !known {
		kind = of.name
	}
	if of.group != "" {
		kind += "." + of.group
	}
	return core.Kind(kind)
}
