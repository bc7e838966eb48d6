package observe

import (
	"reflect"
	"sync"
	"time"
	"unsafe"
)

// bytesOf returns about how much memory an object takes, and no more than a limit: then it stops to look.
func (t *typesOf) bytesOf(o any, limit int) int {
	w := weighing{types: t, left: limit}
	v := reflect.ValueOf(o)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return min(limit, int(v.Type().Size()))
	}
	w.add(int(v.Type().Size() + v.Type().Elem().Size()))
	if behind := t.behind(v.Type().Elem()); behind != nil {
		behind(&w, v.UnsafePointer())
	}
	return limit - max(0, w.left)
}

// weighing adds up memory. It ends when nothing is left: objects are types of users, and can refer to themselves.
type weighing struct {
	types *typesOf
	left  int
}

func (w *weighing) add(bytes int) { w.left -= bytes }

// weigher adds what a value of its type refers to, by where the value is. What is in the value itself is counted
// already.
type weigher func(w *weighing, at unsafe.Pointer)

// typesOf knows how to weigh values of types, in memory: to do it by package reflect takes as long as to copy an
// object.
type typesOf struct{ weighers sync.Map }

// behind returns the weigher of a type, nil if its values refer to nothing.
func (t *typesOf) behind(of reflect.Type) weigher {
	if known, ok := t.weighers.Load(of); ok {
		weigh, _ := known.(weigher)
		return weigh
	}
	weigh := t.make(of)
	t.weighers.Store(of, weigh)
	return weigh
}

// later returns the weigher of a type that may not be made yet.
func (t *typesOf) later(of reflect.Type) func() weigher {
	return sync.OnceValue(func() weigher { return t.behind(of) })
}

func (t *typesOf) make(of reflect.Type) weigher {
	switch of.Kind() {
	case reflect.String:
		return func(w *weighing, at unsafe.Pointer) { w.add(len(*(*string)(at))) }
	case reflect.Pointer:
		size, inner := max(1, int(of.Elem().Size())), t.later(of.Elem())
		return func(w *weighing, at unsafe.Pointer) {
			if to := *(*unsafe.Pointer)(at); to != nil && w.left > 0 {
				w.add(size)
				if behind := inner(); behind != nil {
					behind(w, to)
				}
			}
		}
	case reflect.Slice:
		size, inner := of.Elem().Size(), t.later(of.Elem())
		return func(w *weighing, at unsafe.Pointer) {
			s := (*slice)(at)
			w.add(max(1, s.len*int(size)))
			w.items(inner, s.items, s.len, size)
		}
	case reflect.Array:
		inner := t.behind(of.Elem())
		if inner == nil {
			return nil
		}
		return func(w *weighing, at unsafe.Pointer) {
			w.items(func() weigher { return inner }, at, of.Len(), of.Elem().Size())
		}
	case reflect.Map:
		if of == reflect.TypeFor[map[string]string]() {
			return weighTexts
		}
		return func(w *weighing, at unsafe.Pointer) { w.reflected(reflect.NewAt(of, at).Elem()) }
	case reflect.Interface:
		return func(w *weighing, at unsafe.Pointer) { w.reflected(reflect.NewAt(of, at).Elem()) }
	case reflect.Struct:
		return t.makeStruct(of)
	}
	return nil // numbers and truth values; and what has no weight that we know
}

func (t *typesOf) makeStruct(of reflect.Type) weigher {
	if of == reflect.TypeFor[time.Time]() { // all have the same location
		return nil
	}
	type part struct {
		offset uintptr
		behind weigher
	}
	var parts []part
	for i := range of.NumField() {
		if behind := t.behind(of.Field(i).Type); behind != nil {
			parts = append(parts, part{of.Field(i).Offset, behind})
		}
	}
	if parts == nil {
		return nil
	}
	return func(w *weighing, at unsafe.Pointer) {
		for i := range parts {
			parts[i].behind(w, unsafe.Add(at, parts[i].offset))
		}
	}
}

// items adds what items refer to that stand one behind the other.
func (w *weighing) items(inner func() weigher, at unsafe.Pointer, n int, size uintptr) {
	if n == 0 {
		return
	}
	behind := inner()
	if behind == nil {
		return
	}
	for i := 0; i < n && w.left > 0; i++ {
		behind(w, unsafe.Add(at, uintptr(i)*size))
	}
}

// room is the memory of a table, which has room for more.
func room(n, size int) int { return max(1, 2*n*size) }

func weighTexts(w *weighing, at unsafe.Pointer) {
	texts := *(*map[string]string)(at)
	const size = 2 * int(unsafe.Sizeof(""))
	w.add(room(len(texts), size))
	for key, value := range texts {
		if w.left <= 0 {
			return
		}
		w.add(len(key) + len(value))
	}
}

// reflected adds what a value refers to that is in no place of its own.
func (w *weighing) reflected(v reflect.Value) {
	if w.left <= 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.add(v.Len())
	case reflect.Interface:
		if !v.IsNil() {
			inner := v.Elem()
			w.add(max(1, int(inner.Type().Size())))
			w.reflected(inner)
		}
	case reflect.Map:
		w.add(room(v.Len(), int(v.Type().Key().Size()+v.Type().Elem().Size())))
		for each := v.MapRange(); w.left > 0 && each.Next(); {
			w.reflected(each.Key())
			w.reflected(each.Value())
		}
	default:
		behind := w.types.behind(v.Type())
		if behind == nil {
			return
		}
		placed := reflect.New(v.Type())
		placed.Elem().Set(v)
		behind(w, placed.UnsafePointer())
	}
}
