package plain

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/orrery-dev/orrery/core"
)

// Var is a variable that holds a T: numbers, strings, booleans, and structs,
// arrays, slices and maps of these. Values are handed out and stored as copies,
// so a slice or a map may be changed and set again. Empty and nil slices are one
// value, and so are empty and nil maps.
//
// The zero Var is not a variable; make one with [NewVar] or [Family.At].
type Var[T any] struct {
	key core.Key
}

// NewVar names a variable. Variables of equal names are the same, and must hold
// the same type.
func NewVar[T any](name string) Var[T] {
	return Var[T]{core.Key{Name: name}}
}

// Key returns the key of the variable in the store.
func (v Var[T]) Key() core.Key { return v.key }

// Is returns the variable with a value, for the state at start.
func (v Var[T]) Is(value T) core.Object {
	return core.Object{Key: v.key, Content: newContent(value)}
}

// Get returns the value of the variable in a [World] or a [core.State]. It
// panics if the variable does not exist there.
func (v Var[T]) Get(s core.Snapshot) T {
	value, ok := v.Lookup(s)
	if !ok {
		panic(fmt.Sprintf("%s does not exist: give it a value at start with Var.Is, or read it with Var.Lookup", v.key))
	}
	return value
}

// Lookup returns the value of the variable, and false if it does not exist.
func (v Var[T]) Lookup(s core.Snapshot) (T, bool) {
	found := s.Get(v.key)
	if found == nil {
		var none T
		return none, false
	}
	return v.open(found), true
}

// Set stores a value in the variable, which is created if it does not exist.
func (v Var[T]) Set(w *World, value T) {
	stored := newContent(value)
	if stored.err != nil {
		panic(fmt.Sprintf("%s cannot be stored: %v", v.key, stored.err))
	}
	w.do(&write{key: v.key, content: stored})
}

// Delete removes the variable. Removing one that does not exist changes nothing.
func (v Var[T]) Delete(w *World) {
	w.do(&write{key: v.key})
}

func (v Var[T]) open(found core.Content) T {
	c, ok := found.(*content[T])
	if !ok {
		panic(fmt.Sprintf("%s holds %s, not a %s: use one type per variable", v.key, found.Canonical(), reflect.TypeFor[T]()))
	}
	return c.get()
}

// Family is an array of variables: the objects of one kind, all of them holding
// a T.
type Family[T any] struct {
	kind core.Kind
}

// NewFamily names a family. Its kind must not be empty.
func NewFamily[T any](kind core.Kind) Family[T] {
	return Family[T]{kind}
}

// Kind returns the kind of the family's objects.
func (f Family[T]) Kind() core.Kind { return f.kind }

// At returns the member with a number.
func (f Family[T]) At(index int) Var[T] { return f.Named(strconv.Itoa(index)) }

// Named returns the member with a name.
func (f Family[T]) Named(name string) Var[T] {
	return Var[T]{core.Key{Kind: f.kind, Name: name}}
}

// Member is one existing variable of a family, with its value.
type Member[T any] struct {
	Name  string
	Value T
}

// All returns the members that exist in a [World] or a [core.State], in the
// order of their names (as texts: "10" comes before "2").
func (f Family[T]) All(s core.Snapshot) []Member[T] {
	objects := s.List(f.kind, "")
	members := make([]Member[T], len(objects))
	for i, o := range objects {
		members[i] = Member[T]{o.Key.Name, f.Named(o.Key.Name).open(o.Content)}
	}
	return members
}
