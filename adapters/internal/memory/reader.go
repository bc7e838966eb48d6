package memory

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// Reader reads the memory of one instance again and again, as whoever waits for the time does. From the second time on
// it keeps what it has read, byte for byte, and where none of that has changed it returns what it found then: that
// takes a fraction of the time.
type Reader struct {
	roots []any
	found map[string]string
	kept  *sights
}

// Of returns what [Of] does. The roots and what they lead to must not be at work meanwhile.
func (r *Reader) Of(roots ...any) map[string]string {
	if r.kept != nil && slices.EqualFunc(r.roots, roots, sameRoot) && r.kept.same() {
		return maps.Clone(r.found)
	}
	m := newMemory()
	if r.found != nil {
		m.sights = &sights{}
	}
	whole := m.from(roots)
	if r.kept = m.sights; r.kept != nil && (!whole || r.kept.unsure) {
		r.kept = nil
	}
	r.roots, r.found = roots, m.values
	return maps.Clone(r.found)
}

// sameRoot reports whether two roots are one: what they lead to may have changed.
func sameRoot(a, b any) bool {
	one, named := a.(Named)
	other, named2 := b.(Named)
	if named != named2 || one.Controller != other.Controller {
		return false
	}
	if named {
		a, b = one.Root, other.Root
	}
	return wordsOf(&a) == wordsOf(&b)
}

// wordsOf returns the type and the address of what an interface holds. What an interface holds that is no pointer never
// changes.
func wordsOf(v *any) [2]uintptr { return *(*[2]uintptr)(unsafe.Pointer(v)) }

// sights are what was read of a memory: as long as all of it is the same, so is what was found. Copies are of the types
// that they were made of, so that what they refer to stays where it is, and nothing else comes to be there.
type sights struct {
	regions  []region
	size     uintptr
	maps     []entries
	synced   []synced
	channels []reflect.Value
	// zeros are values of which it matters whether they are zero.
	zeros []zero
	// unsure tells that something was read of which it cannot be seen whether it has changed.
	unsure bool
}

// region is a part of the memory of the program, and a copy of what was there.
type region struct {
	at, held unsafe.Pointer
	size     uintptr
}

// entries are a map, and a copy of it.
type entries struct{ of, held reflect.Value }

// zero is a value, and whether it was zero.
type zero struct {
	of  reflect.Value
	was bool
}

// synced is a map for several goroutines, and what was in it.
type synced struct {
	of   *sync.Map
	held map[any]any
}

// mostHeld is how many bytes are copied of a memory. One that is larger is read each time.
const mostHeld = 1 << 20

// allows reports whether so much more can be copied.
func (s *sights) allows(size uintptr) bool {
	if s == nil || s.unsure {
		return false
	}
	s.size += size
	s.unsure = s.size > mostHeld
	return !s.unsure && size > 0
}

// look keeps what a pointer leads to.
func (s *sights) look(at unsafe.Pointer, t reflect.Type) {
	if !s.allows(t.Size()) {
		return
	}
	held := reflect.New(t)
	held.Elem().Set(reflect.NewAt(t, at).Elem())
	s.regions = append(s.regions, region{at, held.UnsafePointer(), t.Size()})
}

// lookAlong keeps what a slice holds.
func (s *sights) lookAlong(v reflect.Value) {
	size := uintptr(v.Len()) * v.Type().Elem().Size()
	if !s.reads(v) || !s.allows(size) {
		return
	}
	held := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(held, v)
	s.regions = append(s.regions, region{v.UnsafePointer(), held.UnsafePointer(), size})
}

// lookInto keeps what is in a map.
func (s *sights) lookInto(m reflect.Value) {
	if !s.reads(m) || !s.allows(uintptr(1+m.Len())*(m.Type().Key().Size()+m.Type().Elem().Size())) {
		return
	}
	held := reflect.MakeMapWithSize(m.Type(), m.Len())
	for each := m.MapRange(); each.Next(); {
		if !solid(each.Key()) {
			s.unsure = true
			return
		}
		held.SetMapIndex(each.Key(), each.Value())
	}
	s.maps = append(s.maps, entries{m, held})
}

// lookIntoSynced keeps what is in a map for several goroutines.
func (s *sights) lookIntoSynced(m *sync.Map) {
	if !s.allows(1) {
		return
	}
	e := synced{of: m, held: map[any]any{}}
	m.Range(func(key, value any) bool {
		s.unsure = s.unsure || !solid(reflect.ValueOf(key))
		if !s.unsure {
			e.held[key] = value
		}
		return !s.unsure
	})
	s.synced = append(s.synced, e)
}

// wait keeps that nothing waits in a channel. If something does, it is read each time.
func (s *sights) wait(c reflect.Value) {
	if s != nil {
		s.channels = append(s.channels, c)
	}
}

// isZero reports whether a value is zero, and keeps that.
func (s *sights) isZero(v reflect.Value) bool {
	is := v.IsZero()
	if s != nil {
		s.zeros = append(s.zeros, zero{v, is})
	}
	return is
}

// reads reports whether a value can be copied.
func (s *sights) reads(v reflect.Value) bool {
	if s == nil {
		return false
	}
	s.unsure = s.unsure || !v.CanInterface()
	return !s.unsure
}

// solid reports whether a key of a map is all that is to be read of it: there is nothing behind it that may change.
func solid(key reflect.Value) bool {
	switch key.Kind() {
	case reflect.Interface:
		return solid(key.Elem())
	case reflect.Pointer, reflect.Invalid:
		return false
	case reflect.Struct:
		for i := range key.NumField() {
			if !solid(key.Field(i)) {
				return false
			}
		}
	case reflect.Array:
		for i := range key.Len() {
			if !solid(key.Index(i)) {
				return false
			}
		}
	}
	return true
}

// same reports whether all that was read is as it was.
func (s *sights) same() bool {
	return !slices.ContainsFunc(s.regions, region.changed) && !slices.ContainsFunc(s.maps, entries.changed) &&
		!slices.ContainsFunc(s.synced, synced.changed) && !slices.ContainsFunc(s.zeros, zero.changed) &&
		!slices.ContainsFunc(s.channels, func(c reflect.Value) bool { return c.Len() > 0 })
}

// changed reports whether something else is there than was.
func (r region) changed() bool { return !bytes.Equal(bytesAt(r.at, r.size), bytesAt(r.held, r.size)) }

// changed reports whether a map is not as it was.
func (e entries) changed() bool {
	if e.of.Len() != e.held.Len() {
		return true
	}
	t := e.of.Type().Elem()
	was, now := reflect.New(t), reflect.New(t)
	for each := e.held.MapRange(); each.Next(); {
		value := e.of.MapIndex(each.Key())
		if !value.IsValid() {
			return true
		}
		was.Elem().Set(each.Value())
		now.Elem().Set(value)
		if (region{was.UnsafePointer(), now.UnsafePointer(), t.Size()}).changed() {
			return true
		}
	}
	return false
}

// changed reports whether a map is not as it was.
func (e synced) changed() bool {
	same, met := true, 0
	e.of.Range(func(key, value any) bool {
		was, there := e.held[key]
		same = there && wordsOf(&was) == wordsOf(&value)
		met++
		return same
	})
	return !same || met != len(e.held)
}

// changed reports whether a value has become zero, or is so no longer.
func (z zero) changed() bool { return z.of.IsZero() != z.was }

// bytesAt returns what is in a region.
func bytesAt(at unsafe.Pointer, size uintptr) []byte { return unsafe.Slice((*byte)(at), size) }
