package kube

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
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
	known := op.resource.SelectableFields(op.request.Kind.Version)
	for _, requirement := range byField.Requirements() {
		if !slices.Contains(known, requirement.Field) {
			return nil, apierrors.NewBadRequest(op.resource.NotSelectable(requirement.Field))
		}
	}
	return &selector{labels: byLabel, fields: byField}, nil
}

func (s *selector) matches(o *storage.Object) bool {
	if !s.labels.Matches(labels.Set(o.Meta().GetLabels())) {
		return false
	}
	values := fields.Set{}
	for _, requirement := range s.fields.Requirements() {
		values[requirement.Field] = fieldText(o, requirement.Field)
	}
	return s.fields.Matches(values)
}

// fieldText is the value of a field as field selectors see it.
func fieldText(o *storage.Object, name string) string {
	path := strings.Split(name, ".")
	switch name {
	case "status.successful":
		path = []string{"status", "succeeded"}
	case "reportingComponent":
		path = []string{"source", "component"}
		if jsontree.At(o.Meta(), name) != nil {
			path = []string{name}
		}
	case "source":
		path = []string{"source", "component"}
	}
	value := jsontree.At(o.Meta(), path...)
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
