package informer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// Indexes are the field indexes that a controller has registered: what objects are found by.
type Indexes map[Index]Values

// Values returns the values of an object in an index. It must be a function of the object.
type Values func(client.Object) ([]string, error)

// Index names an indexed field of a form.
type Index struct {
	Form  Form
	Field string
}

// String is what requests call the index. Indexes of different forms of a kind may have the
// same name.
func (x Index) String() string {
	name := kube.IndexInSelectors(x.Field)
	switch x.Form.As {
	case Untyped:
		return name + " (untyped)"
	case MetadataOnly:
		return name + " (metadata)"
	}
	return name
}

// Term asks the index for the objects that have a value.
func (x Index) Term(value string) string { return x.String() + "=" + fields.EscapeValue(value) }

// Add registers an index. The errors are those of a real cache.
func (x Indexes) Add(of Form, field string, extract Values) error {
	name := Index{of, field}
	if _, known := x[name]; known {
		return fmt.Errorf("indexer conflict: map[field:%s:{}]", field)
	}
	x[name] = extract
	return nil
}

// ForServer returns the indexes for the API server, which answers what is asked of the caches.
func (x Indexes) ForServer(scheme *runtime.Scheme) []kube.FieldIndex {
	names := slices.SortedFunc(maps.Keys(x), func(x, y Index) int {
		return cmp.Or(cmp.Compare(x.Form.Kind.String(), y.Form.Kind.String()), cmp.Compare(x.String(), y.String()))
	})
	var all []kube.FieldIndex
	for _, name := range names {
		extract := x[name]
		var hangs atomic.Bool // it is not waited for again
		all = append(all, kube.FieldIndex{
			Kind:  name.Form.Kind,
			Field: name.String(),
			Values: func(raw json.RawMessage) ([]string, error) {
				object, err := name.Form.decode(raw, scheme)
				if err != nil {
					return nil, err
				}
				if name.Form.As == Typed {
					object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
				}
				if hangs.Load() {
					return nil, &overdue{patience}
				}
				values, err := contained(patience, func() ([]string, error) { return extract(object) })
				hangs.Store(errors.As(err, new(*overdue)))
				return values, err
			},
		})
	}
	return all
}

// patience is how long an index may take for an object, in real time.
const patience = 10 * time.Second

// extracted is what an index has found, or why it has not.
type extracted struct {
	values []string
	err    error
}

// contained returns what an index finds for an object. One that panics, ends its goroutine or does not return in time
// is an error, and left behind if it has to be.
func contained(within time.Duration, extract func() ([]string, error)) ([]string, error) {
	ended := make(chan extracted, 1)
	go func() {
		found := extracted{err: errors.New("it ended its goroutine instead of returning")}
		defer func() {
			if value := recover(); value != nil {
				found = extracted{err: fmt.Errorf("it panicked: %v", value)}
			}
			ended <- found
		}()
		found.values, found.err = extract()
	}()
	watch := time.NewTimer(within)
	defer watch.Stop()
	select {
	case found := <-ended:
		return found.values, found.err
	case <-watch.C:
		return nil, &overdue{within}
	}
}

// overdue is the error for an index that does not return in time.
type overdue struct{ within time.Duration }

// Error implements error.
func (o *overdue) Error() string {
	return fmt.Sprintf("it has not returned within %s of real time: it may look at the object, and wait for nothing", o.within)
}
