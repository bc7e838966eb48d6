package informer

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Scope is what of a kind an informer lists and watches, if that is not all of it. A nil scope is all.
type Scope struct {
	// namespace is empty for all.
	namespace string
	// labels and fields are nil if they select everything.
	labels labels.Selector
	fields fields.Selector
}

// NewScope returns the scope of an informer that lists a namespace, empty for all, with these options. The error says what of them is not
// modelled.
func NewScope(namespace string, options metav1.ListOptions) (*Scope, error) {
	s := &Scope{namespace: namespace}
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
	if *s == (Scope{}) {
		return nil, nil
	}
	return s, nil
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
	which.Labels = s.labels
	return which, true
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
	return s.fields == nil || s.fields.Matches(fieldsOf(object))
}

// objectFields are the fields of an object by the ways to them, such as "status.phase": that is what Kubernetes calls those that can be selected.
type objectFields struct{ tree map[string]any }

func fieldsOf(object client.Object) objectFields {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		tree = map[string]any{}
	}
	return objectFields{tree}
}

// value returns what is at the end of a way, nil if it is not there.
func (f objectFields) value(way string) any {
	var at any = f.tree
	for step := range strings.SplitSeq(way, ".") {
		inside, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = inside[step]
	}
	return at
}

// Has implements [fields.Fields].
func (f objectFields) Has(way string) bool { return f.value(way) != nil }

// Get implements [fields.Fields].
func (f objectFields) Get(way string) string {
	if v := f.value(way); v != nil {
		return fmt.Sprint(v)
	}
	return ""
}
