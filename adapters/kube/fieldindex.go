package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// FieldIndex says by what a cache finds the objects of a kind. The field selectors of
// lists that are served from a cache are about indexes, and may ask for equal values only.
type FieldIndex struct {
	// Kind is the kind of the objects in the version in which they are listed.
	Kind schema.GroupVersionKind
	// Field is the name by which field selectors refer to the index.
	Field string
	// Values returns the values of an object, which is given as JSON. It must be a function
	// of the object.
	Values func(object json.RawMessage) ([]string, error)
}

// specialInSelectors are the characters that have a meaning in the text of a field selector, and the one that begins
// what stands for them.
const specialInSelectors = `%=!,\`

// IndexInSelectors returns the name of an index as field selectors have it. An index of a cache may have any name, and
// published controllers use names such as ".spec.runtimeRef.kind=trainingRuntime"; the text of a field selector has no
// way to write that. Most names stay as they are.
func IndexInSelectors(name string) string {
	if !strings.ContainsAny(name, specialInSelectors) {
		return name
	}
	return strings.NewReplacer("%", "%25", "=", "%3D", "!", "%21", ",", "%2C", `\`, "%5C").Replace(name)
}

// indexNamed returns the name of which [IndexInSelectors] has made this.
func indexNamed(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	return strings.NewReplacer("%25", "%", "%3D", "=", "%21", "!", "%2C", ",", "%5C", `\`).Replace(text)
}

// WithFieldIndexes returns a server that knows these indexes besides those that this one
// knows. It returns an error that says what to change if an index cannot be used.
func (s *Server) WithFieldIndexes(indexes ...FieldIndex) (*Server, error) {
	with := *s
	with.fieldIndexes = slices.Clone(s.fieldIndexes)
	for _, x := range indexes {
		if _, err := s.registry.Find(x.Kind); err != nil {
			return nil, fmt.Errorf("index %s: %w", x.Field, err)
		}
		if x.Values == nil {
			return nil, fmt.Errorf("index %s of %s has no values: set Values", x.Field, x.Kind.Kind)
		}
		if with.fieldIndex(x.Kind, x.Field) != nil {
			return nil, fmt.Errorf("there are two indexes %s of %s: give each its own name", x.Field, x.Kind.Kind)
		}
		with.fieldIndexes = append(with.fieldIndexes, x)
	}
	return &with, nil
}

// fieldIndex returns an index, nil if there is none.
func (s *Server) fieldIndex(kind schema.GroupVersionKind, field string) *FieldIndex {
	i := slices.IndexFunc(s.fieldIndexes, func(x FieldIndex) bool { return x.Kind == kind && x.Field == field })
	if i < 0 {
		return nil
	}
	return &s.fieldIndexes[i]
}

// Indexed reports whether the field selector of a list that a cache serves selects an
// object, which is given as JSON in the version of the request.
func (s *Server) Indexed(request *Request, object json.RawMessage) (bool, error) {
	selector, err := fields.ParseSelector(request.FieldSelector)
	if err != nil {
		return false, err
	}
	for _, r := range selector.Requirements() {
		if r.Operator != selection.Equals && r.Operator != selection.DoubleEquals {
			return false, errors.New("an index finds only what is equal to something")
		}
		index := s.fieldIndex(request.Kind, r.Field)
		if index == nil {
			return false, fmt.Errorf("caches have no index %s of %s", r.Field, request.Kind.Kind)
		}
		values, err := index.Values(object)
		if err != nil {
			return false, fmt.Errorf("index %s of %s: %w", r.Field, request.Kind.Kind, err)
		}
		if !slices.Contains(values, r.Value) {
			return false, nil
		}
	}
	return true, nil
}

// indexed returns those objects that the field selector of a request to a cache selects.
func (op *operation) indexed(objects []core.Object) ([]core.Object, error) {
	if op.request.FieldSelector == "" {
		return objects, nil
	}
	var found []core.Object
	for _, o := range objects {
		object := storage.Of(o.Content)
		selected, err := op.server.Indexed(op.request, op.encode(object, object.Version))
		if err != nil {
			return nil, err
		}
		if selected {
			found = append(found, o)
		}
	}
	return found, nil
}
