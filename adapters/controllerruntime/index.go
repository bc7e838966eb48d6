package controllerruntime

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// indexes are the field indexes that a set-up has registered.
type indexes map[indexed]client.IndexerFunc

// indexed names an indexed field of a form.
type indexed struct {
	form  form
	field string
}

func (x indexes) add(of form, field string, extract client.IndexerFunc) error {
	name := indexed{of, field}
	if _, known := x[name]; known {
		return fmt.Errorf("indexer conflict: map[field:%s:{}]", field)
	}
	x[name] = extract
	return nil
}

// choose returns the objects that match a field selector. Where a real cache looks
// an index up, it is evaluated on each object; the errors are those of the real
// cache.
func (x indexes) choose(of form, selector fields.Selector, objects []client.Object) ([]client.Object, error) {
	requirements := inOrder(selector)
	inexact := func(r fields.Requirement) bool {
		return r.Operator != selection.Equals && r.Operator != selection.DoubleEquals
	}
	if len(requirements) == 0 || slices.ContainsFunc(requirements, inexact) {
		return nil, errors.New("non-exact field matches are not supported by the cache")
	}
	for i, r := range requirements {
		extract, known := x[indexed{of, r.Field}]
		switch {
		case !known && i == 0:
			return nil, fmt.Errorf("Index with name field:%s does not exist", r.Field) //nolint:staticcheck // the words of the real cache
		case !known:
			return nil, fmt.Errorf("index with name field:%s does not exist", r.Field)
		}
		objects = slices.DeleteFunc(objects, func(object client.Object) bool {
			return !slices.Contains(extract(object), r.Value)
		})
		if len(objects) == 0 {
			return nil, nil
		}
	}
	return objects, nil
}

// inOrder returns the requirements of a selector by field. A selector that is made
// of a map has them in any order.
func inOrder(selector fields.Selector) fields.Requirements {
	return slices.SortedFunc(slices.Values(selector.Requirements()), func(a, b fields.Requirement) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Operator, b.Operator), cmp.Compare(a.Value, b.Value))
	})
}
