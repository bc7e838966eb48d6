package cluster

import (
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// autoupdate is the annotation of objects that an API server makes to limit requests.
const autoupdate = "apf.kubernetes.io/autoupdate-spec"

// own reports whether an object with these annotations is one that every API server makes
// for itself, or a namespace that was only made to hold objects. The simulated server
// has none of these, so they are left out of lists, unless a run starts with them.
func (c *Cluster) own(key core.Key, annotations map[string]any) bool {
	if c.populated[key] {
		return false
	}
	switch key.Kind {
	case "Service", "Endpoints", "EndpointSlice.discovery.k8s.io":
		return key.Namespace == "default" && key.Name == "kubernetes"
	case "Event", "Event.events.k8s.io":
		// About that Service, or the ServiceCIDR, which it may not know the name of yet.
		return key.Namespace == "default" && (strings.HasPrefix(key.Name, "kubernetes.") || strings.HasPrefix(key.Name, "."))
	case "Namespace":
		return key.Name == "default" || strings.HasPrefix(key.Name, "kube-") || c.holders[key.Name]
	case "Lease.coordination.k8s.io", "ConfigMap":
		return key.Namespace == "kube-system"
	case "PriorityClass.scheduling.k8s.io":
		return strings.HasPrefix(key.Name, "system-")
	case "ServiceCIDR.networking.k8s.io":
		return key.Name == "kubernetes"
	case "IPAddress.networking.k8s.io":
		return key.Name == "10.0.0.1" // that of the Service kubernetes
	case "FlowSchema.flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io":
		return annotations[autoupdate] != nil
	}
	return false
}
