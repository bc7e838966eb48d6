package informer

import (
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Decoder reads objects. It keeps what it has read: controllers are run again and again on the same few objects, and a
// copy is much cheaper than reading them once more. It may be used by several goroutines.
type Decoder struct {
	scheme *runtime.Scheme
	mu     sync.Mutex
	known  map[decoded]client.Object
	// lists are the items of lists.
	lists map[string][]json.RawMessage
}

// decoded is a text in the form that it was read into.
type decoded struct {
	form Form
	text string
}

// mostDecoded bounds what is kept of objects, and mostLists what is kept of lists, which are larger and the same again
// only while a run is repeated.
const (
	mostDecoded = 1 << 12
	mostLists   = 1 << 8
)

// NewDecoder returns a decoder of the Go types of a scheme.
func NewDecoder(scheme *runtime.Scheme) *Decoder {
	return &Decoder{scheme: scheme, known: map[decoded]client.Object{}, lists: map[string][]json.RawMessage{}}
}

// Decode reads an object into memory of its own. Its kind is set.
func (d *Decoder) Decode(of Form, raw []byte) (client.Object, error) {
	name := decoded{of, string(raw)}
	d.mu.Lock()
	kept, known := d.known[name]
	d.mu.Unlock()
	if kept != nil {
		return copied(kept), nil
	}
	object, err := of.decode(raw, d.scheme)
	if err != nil || known {
		return object, err
	}
	if c := copied(object); c != nil && !shares(reflect.ValueOf(object), reflect.ValueOf(c), 0) {
		kept, object = object, c
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.known) >= mostDecoded {
		clear(d.known)
	}
	d.known[name] = kept // nil: it cannot be copied
	return object, nil
}

// Items returns the texts of the items of a list, which nobody may change.
func (d *Decoder) Items(list []byte) ([]json.RawMessage, error) {
	d.mu.Lock()
	items, known := d.lists[string(list)]
	d.mu.Unlock()
	if known {
		return items, nil
	}
	var read struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(list, &read); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.lists) >= mostLists {
		clear(d.lists)
	}
	d.lists[string(list)] = read.Items
	return read.Items, nil
}

// copied returns the copy that an object makes of itself, nil if it is of another type.
func copied(object client.Object) client.Object {
	c, ok := object.DeepCopyObject().(client.Object)
	if !ok || reflect.TypeOf(c) != reflect.TypeOf(object) {
		return nil
	}
	return c
}

// shares reports whether a value and its copy have memory in common that can be changed, as with a DeepCopy of one's
// own that forgets a field: what a controller changes in the copy would be changed for all others.
func shares(value, c reflect.Value, depth int) bool {
	const deepest = 64
	if depth > deepest || value.Type() != c.Type() {
		return true
	}
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() || value.Type() == reflect.TypeFor[*time.Location]() { // which nobody changes
			return false
		}
		return value.Pointer() == c.Pointer() || c.IsNil() || shares(value.Elem(), c.Elem(), depth+1)
	case reflect.Interface:
		return !value.IsNil() && (c.IsNil() || shares(value.Elem(), c.Elem(), depth+1))
	case reflect.Struct:
		for i := range value.NumField() {
			if shares(value.Field(i), c.Field(i), depth+1) {
				return true
			}
		}
	case reflect.Slice:
		if value.Len() != c.Len() || value.Len() > 0 && value.Pointer() == c.Pointer() {
			return true
		}
		return sharesElements(value, c, depth)
	case reflect.Array:
		return sharesElements(value, c, depth)
	case reflect.Map:
		return value.Len() != c.Len() || !value.IsNil() && value.Pointer() == c.Pointer() || sharesEntries(value, c, depth)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return !value.IsZero()
	}
	return false
}

func sharesElements(value, c reflect.Value, depth int) bool {
	for i := range value.Len() {
		if shares(value.Index(i), c.Index(i), depth+1) {
			return true
		}
	}
	return false
}

func sharesEntries(value, c reflect.Value, depth int) bool {
	for entries := value.MapRange(); entries.Next(); {
		if other := c.MapIndex(entries.Key()); !other.IsValid() || shares(entries.Value(), other, depth+1) {
			return true
		}
	}
	return false
}
