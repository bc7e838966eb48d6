package observe

import (
	"bytes"
	"maps"
	"math"
	"reflect"
	"sync"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// sameLimit is how many values are compared at most: objects are types of users, and can refer to themselves.
const sameLimit = 1 << 15

// comparisons compare values in memory, without making anything of them: package reflect takes as long for that as
// package json takes to write them down, and this takes a tenth. Values that are the same have the same JSON. Those
// that are not can have the same as well, such as an empty list and none where both are left out.
type comparisons struct {
	of   sync.Map // a comparison by its reflect.Type
	tops sync.Map // []top by the reflect.Type of an object
}

// comparison reports whether two values of its type are the same, by where they are.
type comparison func(c *comparing, a, b unsafe.Pointer) bool

// comparing is a comparison that is going on.
type comparing struct {
	*comparisons
	left int
}

// takes reports whether so many values more may be compared.
func (c *comparing) takes(n int) bool {
	c.left -= n
	return c.left >= 0
}

// top is a field of an object.
type top struct {
	offset uintptr
	same   comparison
}

// objects reports whether two objects are the same but for the kind, which one of them may leave out.
func (c *comparisons) objects(a, b runtime.Object) bool {
	first, second := reflect.ValueOf(a), reflect.ValueOf(b)
	if first.Type() != second.Type() || first.Kind() != reflect.Pointer || first.Elem().Kind() != reflect.Struct {
		return false
	}
	one, other := a.GetObjectKind().GroupVersionKind(), b.GetObjectKind().GroupVersionKind()
	if one != other && !one.Empty() && !other.Empty() {
		return false
	}
	going := &comparing{c, sameLimit}
	for _, field := range c.top(first.Type().Elem()) {
		if !field.same(going, unsafe.Add(first.UnsafePointer(), field.offset), unsafe.Add(second.UnsafePointer(), field.offset)) {
			return false
		}
	}
	return true
}

// top returns the fields of a type of objects but that with the kind.
func (c *comparisons) top(t reflect.Type) []top {
	if known, ok := c.tops.Load(t); ok {
		fields, _ := known.([]top)
		return fields
	}
	var fields []top
	for i := range t.NumField() {
		if field := t.Field(i); field.Type != reflect.TypeFor[metav1.TypeMeta]() {
			fields = append(fields, top{field.Offset, c.comparison(field.Type)})
		}
	}
	c.tops.Store(t, fields)
	return fields
}

// alike reports whether two values are the same by the comparison of their type. They must be addressable.
func (c *comparisons) alike(same comparison, a, b reflect.Value) bool {
	return same(&comparing{c, sameLimit}, a.Addr().UnsafePointer(), b.Addr().UnsafePointer())
}

// comparison returns the one of a type, which is made the first time.
func (c *comparisons) comparison(t reflect.Type) comparison {
	if known, ok := c.of.Load(t); ok {
		same, _ := known.(comparison)
		return same
	}
	same := c.make(t)
	c.of.Store(t, same)
	return same
}

// later returns the comparison of a type that may not be made yet: what leads to it may be a part of it.
func (c *comparisons) later(t reflect.Type) func() comparison {
	return sync.OnceValue(func() comparison { return c.comparison(t) })
}

// isPlain reports whether values of a type are the same where their bytes are.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32, reflect.Float64:
		return true
	}
	return false
}

// samePlain compares so many bytes.
func samePlain(a, b unsafe.Pointer, size uintptr) bool {
	return bytes.Equal(unsafe.Slice((*byte)(a), size), unsafe.Slice((*byte)(b), size))
}

// make makes the comparison of a type.
func (c *comparisons) make(t reflect.Type) comparison {
	switch t.Kind() {
	case reflect.String:
		return func(_ *comparing, a, b unsafe.Pointer) bool { return *(*string)(a) == *(*string)(b) }
	case reflect.Pointer:
		return samePointers(c.later(t.Elem()))
	case reflect.Slice:
		return sameSlices(t.Elem(), c.later(t.Elem()))
	case reflect.Array:
		item, size, length := c.later(t.Elem()), t.Elem().Size(), t.Len()
		return func(c *comparing, a, b unsafe.Pointer) bool { return c.items(item(), a, b, length, size) }
	case reflect.Map:
		return c.makeMap(t)
	case reflect.Struct:
		return c.makeStruct(t)
	case reflect.Interface:
		return func(c *comparing, a, b unsafe.Pointer) bool {
			return c.dynamic(reflect.NewAt(t, a).Elem().Elem(), reflect.NewAt(t, b).Elem().Elem())
		}
	}
	if size := t.Size(); isPlain(t) {
		return func(_ *comparing, a, b unsafe.Pointer) bool { return samePlain(a, b, size) }
	}
	return func(*comparing, unsafe.Pointer, unsafe.Pointer) bool { return false } // what has no JSON
}

// makeStruct makes the comparison of a type of structs. Plain fields without a gap between them are compared at once.
func (c *comparisons) makeStruct(t reflect.Type) comparison {
	type part struct {
		offset, plain uintptr // of so many bytes, none for one that has a comparison
		same          comparison
	}
	var parts []part
	for i := range t.NumField() {
		field := t.Field(i)
		switch last := len(parts) - 1; {
		case !isPlain(field.Type):
			parts = append(parts, part{offset: field.Offset, same: c.comparison(field.Type)})
		case last >= 0 && parts[last].plain > 0 && parts[last].offset+parts[last].plain == field.Offset:
			parts[last].plain += field.Type.Size()
		default:
			parts = append(parts, part{offset: field.Offset, plain: field.Type.Size()})
		}
	}
	return func(c *comparing, a, b unsafe.Pointer) bool {
		for i := range parts {
			p := &parts[i]
			a, b := unsafe.Add(a, p.offset), unsafe.Add(b, p.offset)
			if p.plain > 0 && !samePlain(a, b, p.plain) || p.plain == 0 && !p.same(c, a, b) {
				return false
			}
		}
		return true
	}
}

func samePointers(of func() comparison) comparison {
	return func(c *comparing, a, b unsafe.Pointer) bool {
		one, other := *(*unsafe.Pointer)(a), *(*unsafe.Pointer)(b)
		switch {
		case one == other:
			return true
		case one == nil || other == nil || !c.takes(1):
			return false
		}
		return of()(c, one, other)
	}
}

// slice is how a slice of anything is held in memory.
type slice struct {
	items    unsafe.Pointer
	len, cap int
}

func sameSlices(item reflect.Type, of func() comparison) comparison {
	size, plain := item.Size(), isPlain(item)
	return func(c *comparing, a, b unsafe.Pointer) bool {
		one, other := (*slice)(a), (*slice)(b)
		switch {
		case one.len != other.len || (one.items == nil) != (other.items == nil):
			return false
		case one.items == other.items || one.len == 0:
			return true
		case plain:
			return samePlain(one.items, other.items, uintptr(one.len)*size)
		}
		return c.items(of(), one.items, other.items, one.len, size)
	}
}

// items compares so many items that stand one behind the other.
func (c *comparing) items(same comparison, a, b unsafe.Pointer, n int, size uintptr) bool {
	if !c.takes(n) {
		return false
	}
	for i := range uintptr(n) {
		if !same(c, unsafe.Add(a, i*size), unsafe.Add(b, i*size)) {
			return false
		}
	}
	return true
}

func (c *comparisons) makeMap(t reflect.Type) comparison {
	if t == reflect.TypeFor[map[string]string]() {
		return func(c *comparing, a, b unsafe.Pointer) bool {
			one, other := *(*map[string]string)(a), *(*map[string]string)(b)
			return (one == nil) == (other == nil) && c.takes(len(one)) && maps.Equal(one, other)
		}
	}
	if t == reflect.TypeFor[map[string]any]() {
		return func(c *comparing, a, b unsafe.Pointer) bool {
			return c.trees(*(*map[string]any)(a), *(*map[string]any)(b))
		}
	}
	of := c.later(t.Elem())
	return func(c *comparing, a, b unsafe.Pointer) bool {
		one, other := reflect.NewAt(t, a).Elem(), reflect.NewAt(t, b).Elem()
		if one.IsNil() != other.IsNil() || one.Len() != other.Len() || !c.takes(one.Len()) {
			return false
		}
		if one.Len() == 0 {
			return true
		}
		same, first, second := of(), reflect.New(t.Elem()), reflect.New(t.Elem())
		for each := one.MapRange(); each.Next(); {
			value := other.MapIndex(each.Key())
			if !value.IsValid() {
				return false
			}
			first.Elem().SetIterValue(each)
			second.Elem().Set(value)
			if !same(c, first.UnsafePointer(), second.UnsafePointer()) {
				return false
			}
		}
		return true
	}
}

// dynamic compares what is in two interfaces.
func (c *comparing) dynamic(a, b reflect.Value) bool {
	switch {
	case !a.IsValid() || !b.IsValid():
		return a.IsValid() == b.IsValid()
	case a.Type() != b.Type() || !c.takes(1):
		return false
	}
	first, second := reflect.New(a.Type()), reflect.New(a.Type())
	first.Elem().Set(a)
	second.Elem().Set(b)
	return c.comparison(a.Type())(c, first.UnsafePointer(), second.UnsafePointer())
}

// trees compares objects that have no type of their own.
func (c *comparing) trees(a, b map[string]any) bool {
	if (a == nil) != (b == nil) || len(a) != len(b) || !c.takes(len(a)) {
		return false
	}
	for key, value := range a {
		if other, there := b[key]; !there || !c.tree(value, other) {
			return false
		}
	}
	return true
}

func (c *comparing) tree(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		b, is := b.(string)
		return is && a == b
	case bool:
		b, is := b.(bool)
		return is && a == b
	case int64:
		b, is := b.(int64)
		return is && a == b
	case float64:
		b, is := b.(float64)
		return is && math.Float64bits(a) == math.Float64bits(b)
	case map[string]any:
		b, is := b.(map[string]any)
		return is && c.trees(a, b)
	case []any:
		b, is := b.([]any)
		if !is || (a == nil) != (b == nil) || len(a) != len(b) || !c.takes(len(a)) {
			return false
		}
		for i := range a {
			if !c.tree(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return c.dynamic(reflect.ValueOf(a), reflect.ValueOf(b))
}
