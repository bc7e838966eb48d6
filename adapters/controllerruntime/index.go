package controllerruntime

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
)

// indexes are the field indexes that a set-up has registered.
type indexes map[indexed]client.IndexerFunc

// indexed names an indexed field of a form.
type indexed struct {
	form  form
	field string
}

// String is what requests call the index. Indexes of different forms of a kind may have the
// same name.
func (x indexed) String() string {
	switch x.form.as {
	case untyped:
		return x.field + " (untyped)"
	case metadataOnly:
		return x.field + " (metadata)"
	}
	return x.field
}

func (x indexes) add(of form, field string, extract client.IndexerFunc) error {
	name := indexed{of, field}
	if _, known := x[name]; known {
		return fmt.Errorf("indexer conflict: map[field:%s:{}]", field)
	}
	if strings.ContainsAny(field, `=!,\`) {
		return fmt.Errorf(`an index called %q is not modelled: leave = ! , and \ out of its name`, field)
	}
	x[name] = extract
	return nil
}

// choice is what a field selector asks of the indexes.
type choice struct {
	// selector is as much of it as there are indexes for.
	selector string
	// missing is the error if what that selects is looked for in an index that is not
	// there, nil if all are.
	missing error
}

// choose reads the field selector of a list. The errors are those of the real cache,
// which looks into one index after the other as long as anything is found.
func (x indexes) choose(of form, selector fields.Selector) (choice, error) {
	requirements := transport.Requirements(selector)
	inexact := func(r fields.Requirement) bool {
		return r.Operator != selection.Equals && r.Operator != selection.DoubleEquals
	}
	if len(requirements) == 0 || slices.ContainsFunc(requirements, inexact) {
		return choice{}, errors.New("non-exact field matches are not supported by the cache")
	}
	var terms []string
	for i, r := range requirements {
		name := indexed{of, r.Field}
		if _, known := x[name]; !known {
			if i == 0 {
				return choice{}, fmt.Errorf("Index with name field:%s does not exist", r.Field) //nolint:staticcheck // the words of the real cache
			}
			return choice{strings.Join(terms, ","), fmt.Errorf("index with name field:%s does not exist", r.Field)}, nil
		}
		terms = append(terms, name.String()+"="+fields.EscapeValue(r.Value))
	}
	return choice{selector: strings.Join(terms, ",")}, nil
}

// fieldIndexes returns the indexes that a survey has found, for the API server, which
// answers what is asked of the caches.
func (b *blueprint) fieldIndexes(found *assembly) []kube.FieldIndex {
	names := slices.SortedFunc(maps.Keys(found.cache.indexes), func(x, y indexed) int {
		return cmp.Or(cmp.Compare(x.form.kind.String(), y.form.kind.String()), cmp.Compare(x.String(), y.String()))
	})
	var all []kube.FieldIndex
	for _, name := range names {
		extract := found.cache.indexes[name]
		all = append(all, kube.FieldIndex{
			Kind:  name.form.kind,
			Field: name.String(),
			Values: func(raw json.RawMessage) (values []string, err error) {
				defer func() {
					if value := recover(); value != nil {
						err = fmt.Errorf("it panicked: %v", value)
					}
				}()
				object, err := name.form.decode(raw, b.scheme)
				if err != nil {
					return nil, err
				}
				if name.form.as == typed {
					object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
				}
				return extract(object), nil
			},
		})
	}
	return all
}
