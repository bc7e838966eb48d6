package kube

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// selector is what the label and field selectors of a request ask for.
type selector struct {
	labels labels.Selector
	fields fields.Selector
}

// selector reads the selectors of the request. The fields that caches select by are
// not fields of objects, see [FieldIndex].
func (op *operation) selector() (*selector, error) {
	byLabel, err := labels.Parse(op.request.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if op.request.FromCache {
		return &selector{labels: byLabel, fields: fields.Everything()}, nil
	}
	byField, err := fields.ParseSelector(op.request.FieldSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	known := op.resource.selectableFields(op.request.Kind.Version)
	for _, requirement := range byField.Requirements() {
		if !slices.Contains(known, requirement.Field) {
			return nil, apierrors.NewBadRequest(op.resource.notSelectable(requirement.Field))
		}
	}
	return &selector{labels: byLabel, fields: byField}, nil
}

func (s *selector) matches(o *Object) bool {
	if !s.labels.Matches(labels.Set(o.meta().GetLabels())) {
		return false
	}
	values := fields.Set{}
	for _, requirement := range s.fields.Requirements() {
		values[requirement.Field] = fieldText(o, requirement.Field)
	}
	return s.fields.Matches(values)
}

// selectableFields are the fields that field selectors of a kind may use.
func (r *resource) selectableFields(version string) []string {
	names := []string{"metadata.name"}
	if r.namespaced || !r.custom && r.ownFields() == nil {
		names = append(names, "metadata.namespace")
	}
	names = append(names, r.ownFields()...)
	return append(names, r.selectable[version]...)
}

// ownFields are the fields that one of Kubernetes' own kinds can be selected by besides
// its name and namespace.
func (r *resource) ownFields() []string {
	switch r.name {
	case kindPod:
		return []string{"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
			"status.phase", "status.podIP", "status.nominatedNodeName"}
	case "Event":
		return []string{"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type"}
	case kindNamespace:
		return []string{"status.phase"}
	case kindNode:
		return []string{"spec.unschedulable"}
	case "Secret":
		return []string{"type"}
	case kindService:
		return []string{"spec.clusterIP", "spec.type"}
	case kindJob:
		return []string{"status.successful"}
	case "ReplicationController":
		return []string{"status.replicas"}
	case kindSigningRequest:
		return []string{"spec.signerName"}
	}
	return nil
}

// notSelectable is the message about a field that a kind cannot be selected by.
func (r *resource) notSelectable(name string) string {
	switch {
	case r.name == kindJob:
		return fmt.Sprintf("field label %q not supported for Job", name)
	case r.custom || (r.group == "" || r.name == kindSigningRequest) && r.ownFields() != nil:
		return "field label not supported: " + name
	}
	return fmt.Sprintf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, name)
}

// fieldText is the value of a field as field selectors see it.
func fieldText(o *Object, name string) string {
	path := strings.Split(name, ".")
	switch name {
	case "status.successful":
		path = []string{"status", "succeeded"}
	case "reportingComponent":
		path = []string{"source", "component"}
		if jsontree.At(o.meta(), name) != nil {
			path = []string{name}
		}
	case "source":
		path = []string{"source", "component"}
	}
	value := jsontree.At(o.meta(), path...)
	if value != nil {
		return fmt.Sprint(value)
	}
	switch name {
	case "spec.unschedulable", "spec.hostNetwork":
		return "false"
	case "status.replicas", "status.successful":
		return "0"
	}
	return ""
}
