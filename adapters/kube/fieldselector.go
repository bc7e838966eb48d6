package kube

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// Selectable returns the error of the server for a list of a kind with a field selector, nil if objects of the kind can
// be selected so.
func (s *Server) Selectable(kind schema.GroupVersionKind, by fields.Selector) error {
	resource, err := s.registry.Find(kind)
	if err != nil {
		return err
	}
	return selectable(resource, kind.Version, by)
}

func selectable(resource *kinds.Resource, version string, by fields.Selector) error {
	known := resource.SelectableFields(version)
	for _, requirement := range by.Requirements() {
		if !slices.Contains(known, requirement.Field) {
			return apierrors.NewBadRequest(resource.NotSelectable(requirement.Field))
		}
	}
	return nil
}

// SelectableFields is an object as field selectors see it: its fields by the ways to them, such as "status.phase", with
// the few that have another way or a value where there is none.
type SelectableFields map[string]any

var _ fields.Fields = SelectableFields{}

// Has implements [fields.Fields].
func (f SelectableFields) Has(string) bool { return true }

// Get implements [fields.Fields].
func (f SelectableFields) Get(name string) string {
	object := &unstructured.Unstructured{Object: f}
	path := strings.Split(name, ".")
	switch name {
	case "status.successful":
		path = []string{"status", "succeeded"}
	case "reportingComponent":
		path = []string{"source", "component"}
		if jsontree.At(object, name) != nil {
			path = []string{name}
		}
	case "source":
		path = []string{"source", "component"}
	}
	if value := jsontree.At(object, path...); value != nil {
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
