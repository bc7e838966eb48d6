package kube

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selector is what the label and field selectors of a request ask for.
type selector struct {
	labels labels.Selector
	fields fields.Selector
}

// selector reads the selectors of the request.
func (op *operation) selector() (*selector, error) {
	byLabel, err := labels.Parse(op.request.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(op.request.FieldSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	known := op.resource.selectableFields(op.request.Kind.Version)
	for _, requirement := range byField.Requirements() {
		switch {
		case slices.Contains(known, requirement.Field):
		case op.resource.schemas != nil:
			return nil, apierrors.NewBadRequest("field label not supported: " + requirement.Field)
		default:
			return nil, fmt.Errorf("selecting %s by the field %s is not modelled: select by %s or by labels",
				op.resource.name, requirement.Field, strings.Join(known, ", "))
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

// selectableFields are the fields that field selectors of a kind may use: those
// whose values do not depend on defaults that are not modelled.
func (r *resource) selectableFields(version string) []string {
	names := []string{"metadata.name", "metadata.namespace"}
	switch r.name {
	case "Pod":
		names = append(names, "spec.nodeName", "spec.serviceAccountName", "status.phase", "status.nominatedNodeName")
	case "Event":
		names = append(names, "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "type")
	case kindNamespace:
		names = append(names, "status.phase")
	case "Node":
		names = append(names, "spec.unschedulable")
	case "Secret":
		names = append(names, "type")
	case "ReplicationController", "ReplicaSet.apps":
		names = append(names, "status.replicas")
	case "CertificateSigningRequest.certificates.k8s.io":
		names = append(names, "spec.signerName")
	}
	return append(names, r.selectable[version]...)
}

// fieldText is the value of a field as field selectors see it.
func fieldText(o *Object, name string) string {
	value, found, err := unstructured.NestedFieldNoCopy(o.tree, strings.Split(name, ".")...)
	switch {
	case err == nil && found && value != nil:
		return fmt.Sprint(value)
	case name == "spec.unschedulable":
		return "false"
	case name == "status.replicas":
		return "0"
	}
	return ""
}
