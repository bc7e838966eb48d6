package informer

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// Scope is what of a kind an informer lists and watches, if that is not all of it. A nil scope is all.
type Scope struct {
	// namespace is empty for all.
	namespace string
	// labels and fields are nil if they select everything.
	labels labels.Selector
	fields fields.Selector
}

// NewScope returns the scope of an informer that lists a namespace, empty for all, with these options. The error says
// what of them is not modelled.
func NewScope(namespace string, options metav1.ListOptions) (*Scope, error) {
	s := &Scope{}
	if options.LabelSelector != "" {
		selector, err := labels.Parse(options.LabelSelector)
		if err != nil {
			return nil, fmt.Errorf("the label selector of an informer cannot be read: %w", err)
		}
		s.labels = selector
	}
	if options.FieldSelector != "" {
		selector, err := fields.ParseSelector(options.FieldSelector)
		if err != nil {
			return nil, fmt.Errorf("the field selector of an informer cannot be read: %w", err)
		}
		s.fields = selector
	}
	return ScopeOf(namespace, s.labels, s.fields), nil
}

// ScopeOf returns the scope of an informer that lists a namespace, empty for all, by these selectors. Either may be
// nil.
func ScopeOf(namespace string, byLabel labels.Selector, byField fields.Selector) *Scope {
	s := &Scope{namespace: namespace}
	if byLabel != nil && !byLabel.Empty() {
		s.labels = byLabel
	}
	if byField != nil && !byField.Empty() {
		s.fields = byField
	}
	if s.namespace == "" && s.labels == nil && s.fields == nil {
		return nil
	}
	return s
}

// Select narrows a selection to the scope, as far as a cache can, and returns false if nothing is left of it.
func (s *Scope) Select(which Selection) (Selection, bool) {
	if s == nil {
		return which, true
	}
	if s.namespace != "" {
		if which.Namespace != "" && which.Namespace != s.namespace {
			return which, false
		}
		which.Namespace = s.namespace
	}
	if s.labels != nil {
		which.Labels = both(which.Labels, s.labels)
	}
	return which, true
}

// both selects what two selectors select. The first may be nil.
func both(a, b labels.Selector) labels.Selector {
	if a == nil {
		return b
	}
	more, selectable := b.Requirements()
	if !selectable {
		return b
	}
	return a.Add(more...)
}

// selects reports whether an object is in the scope.
func (s *Scope) selects(object client.Object) bool {
	switch {
	case s == nil:
		return true
	case s.namespace != "" && object.GetNamespace() != s.namespace && object.GetNamespace() != "":
		return false
	case s.labels != nil && !s.labels.Matches(labels.Set(object.GetLabels())):
		return false
	}
	if s.fields == nil {
		return true
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	return err == nil && s.fields.Matches(kube.SelectableFields(tree))
}
