package kinds

import (
	"fmt"
)

// SelectableFields are the fields that field selectors of a kind may use.
func (r *Resource) SelectableFields(version string) []string {
	names := []string{"metadata.name"}
	if r.Namespaced || !r.Custom && r.ownFields() == nil {
		names = append(names, "metadata.namespace")
	}
	names = append(names, r.ownFields()...)
	return append(names, r.selectable[version]...)
}

// ownFields are the fields that one of Kubernetes' own kinds can be selected by besides
// its name and namespace.
func (r *Resource) ownFields() []string {
	switch r.Name {
	case Pod:
		return []string{"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
			"status.phase", "status.podIP", "status.nominatedNodeName"}
	case "Event":
		return []string{"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type"}
	case Namespace:
		return []string{"status.phase"}
	case Node:
		return []string{"spec.unschedulable"}
	case "Secret":
		return []string{"type"}
	case Service:
		return []string{"spec.clusterIP", "spec.type"}
	case Job:
		return []string{"status.successful"}
	case "ReplicationController":
		return []string{"status.replicas"}
	case SigningRequest:
		return []string{"spec.signerName"}
	}
	return nil
}

// NotSelectable is the message about a field that a kind cannot be selected by.
func (r *Resource) NotSelectable(name string) string {
	switch {
	case r.Name == Job:
		return fmt.Sprintf("field label %q not supported for Job", name)
	case r.Custom || (r.Group == "" || r.Name == SigningRequest) && r.ownFields() != nil:
		return "field label not supported: " + name
	}
	return fmt.Sprintf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, name)
}
