package cluster

import (
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// own tells whether an object is one that every API server makes for itself. Lists of
// it are left out of what controllers see, as the simulated server has none, unless a
// run starts with it.
func (c *Cluster) own(key core.Key) bool {
	if c.populated[key] {
		return false
	}
	switch key.Kind {
	case "Service", "Endpoints", "EndpointSlice.discovery.k8s.io":
		return key.Namespace == "default" && key.Name == "kubernetes"
	case "Namespace":
		return key.Name == "default" || strings.HasPrefix(key.Name, "kube-")
	case "Lease.coordination.k8s.io", "ConfigMap":
		return key.Namespace == "kube-system"
	case "PriorityClass.scheduling.k8s.io":
		return strings.HasPrefix(key.Name, "system-")
	}
	return false
}
