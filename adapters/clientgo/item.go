package clientgo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/core"
)

// form is how items of a type are written as requests. Instances come and go, so that an item must be readable in
// another one than it was written in.
type form[T comparable] struct {
	encode func(T) (core.Request, error)
	decode func(core.Request) (T, error)
}

// formOf returns how items of a type are written: a text as it is, a name as "namespace/name", and another struct as
// JSON, with the fields that are not exported if it has such.
func formOf[T comparable]() (form[T], error) {
	var none T
	switch any(none).(type) {
	case string:
		return formAs[T](func(s string) string { return s }, func(s string) string { return s }), nil
	case types.NamespacedName:
		return formAs[T](named, unnamed), nil
	case cache.ObjectName:
		return formAs[T](
			func(n cache.ObjectName) string { return named(n.AsNamespacedName()) },
			func(s string) cache.ObjectName { return cache.NamespacedNameAsObjectName(unnamed(s)) },
		), nil
	case reconcile.Request:
		return formAs[T](
			func(r reconcile.Request) string { return named(r.NamespacedName) },
			func(s string) reconcile.Request { return reconcile.Request{NamespacedName: unnamed(s)} },
		), nil
	}
	t := reflect.TypeFor[T]()
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return form[T]{}, fmt.Errorf("the items of a queue cannot be of type %s: name the type that they have, as in QueueIn[string], which also fits into a field for a queue with items of any type; a constructor that takes such a queue gets Queue.Untyped", t)
	}
	if where := refers(t, t.String()); where != "" {
		return form[T]{}, fmt.Errorf("the items of a queue cannot be of type %s: %s is no value that can be written down, and two items are the same only if it is: name what is meant, as by its namespace and name", t, where)
	}
	if plain(t) && hides(t) {
		return form[T]{encode: toFields[T], decode: fromFields[T]}, nil
	}
	return form[T]{encode: toJSON[T], decode: fromJSON[T]}, nil
}

// formAs makes a form of T of one of the type that T is.
func formAs[T, Same comparable](encode func(Same) string, decode func(string) Same) form[T] {
	return form[T]{
		encode: func(item T) (core.Request, error) { return core.Request(encode(any(item).(Same))), nil },
		decode: func(request core.Request) (T, error) { return any(decode(string(request))).(T), nil },
	}
}

// named writes a name as "namespace/name", or "name" without a namespace.
func named(n types.NamespacedName) string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.String()
}

// unnamed is the inverse of [named].
func unnamed(text string) types.NamespacedName {
	if namespace, name, found := strings.Cut(text, "/"); found {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	return types.NamespacedName{Name: text}
}

func toJSON[T comparable](item T) (core.Request, error) {
	text, err := json.Marshal(item)
	if err != nil {
		return "", err
	}
	if back, err := fromJSON[T](core.Request(text)); err != nil || back != item {
		return "", fmt.Errorf("an item of type %T is not the same when it is written as JSON and read again (%s): give all its fields exported names, or a MarshalJSON and an UnmarshalJSON", item, text)
	}
	return core.Request(text), nil
}

func fromJSON[T comparable](request core.Request) (item T, err error) {
	err = json.Unmarshal([]byte(request), &item)
	return item, err
}

// refers returns where a value of a type refers to what is elsewhere in the memory of a process, empty if nowhere.
// Interfaces may hold anything, and a type that says how it is written down, such as a time, may do so by its value.
func refers(t reflect.Type, path string) string {
	if t.Implements(reflect.TypeFor[json.Marshaler]()) && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return ""
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Chan, reflect.UnsafePointer:
		return path
	case reflect.Array:
		return refers(t.Elem(), path)
	case reflect.Struct:
		for i := range t.NumField() {
			if where := refers(t.Field(i).Type, path+"."+t.Field(i).Name); where != "" {
				return where
			}
		}
	}
	return ""
}

// plain reports whether all that a value of a type consists of are texts, numbers and truth values.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return plain(t.Elem())
	}
	return t.Kind() == reflect.String || t.Kind() <= reflect.Float64
}

// hides reports whether a value of a plain type has fields that JSON does not show.
func hides(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if field := t.Field(i); field.Tag.Get("json") == "-" || !field.IsExported() || hides(field.Type) {
				return true
			}
		}
	case reflect.Array:
		return hides(t.Elem())
	}
	return false
}

// toFields writes an item of a plain type as JSON with the names that its fields have in the code.
func toFields[T comparable](item T) (core.Request, error) {
	var text bytes.Buffer
	if err := appendFields(&text, reflect.ValueOf(item)); err != nil {
		return "", err
	}
	request := core.Request(text.String())
	if back, err := fromFields[T](request); err != nil || back != item {
		return "", fmt.Errorf("an item of type %T is not the same when it is written down and read again (%s): let its texts be UTF-8", item, request)
	}
	return request, nil
}

func appendFields(text *bytes.Buffer, v reflect.Value) error {
	between := func(i int) {
		if i > 0 {
			text.WriteByte(',')
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		text.WriteByte('{')
		for i := range v.NumField() {
			between(i)
			text.WriteString(strconv.Quote(v.Type().Field(i).Name) + ":")
			if err := appendFields(text, v.Field(i)); err != nil {
				return err
			}
		}
		text.WriteByte('}')
		return nil
	case reflect.Array:
		text.WriteByte('[')
		for i := range v.Len() {
			between(i)
			if err := appendFields(text, v.Index(i)); err != nil {
				return err
			}
		}
		text.WriteByte(']')
		return nil
	}
	value := reflect.New(v.Type()).Elem()
	readable(value, v)
	encoded, err := json.Marshal(value.Interface())
	text.Write(encoded)
	return err
}

// readable sets a value to a text, a number or a truth value of a field that is not exported.
func readable(to, from reflect.Value) {
	switch {
	case from.Kind() == reflect.String:
		to.SetString(from.String())
	case from.Kind() == reflect.Bool:
		to.SetBool(from.Bool())
	case from.CanInt():
		to.SetInt(from.Int())
	case from.CanUint():
		to.SetUint(from.Uint())
	default:
		to.SetFloat(from.Float())
	}
}

// fromFields is the inverse of [toFields].
func fromFields[T comparable](request core.Request) (item T, err error) {
	err = setFields(reflect.ValueOf(&item).Elem(), json.RawMessage(request))
	return item, err
}

func setFields(v reflect.Value, text json.RawMessage) error {
	switch v.Kind() {
	case reflect.Struct:
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			return err
		}
		for i := range v.NumField() {
			field := v.Field(i)
			field = reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem() //nolint:gosec // a field of the item that is made here
			if err := setFields(field, fields[v.Type().Field(i).Name]); err != nil {
				return err
			}
		}
		return nil
	case reflect.Array:
		var elements []json.RawMessage
		if err := json.Unmarshal(text, &elements); err != nil {
			return err
		}
		if len(elements) != v.Len() {
			return fmt.Errorf("%d elements in place of %d", len(elements), v.Len())
		}
		for i := range v.Len() {
			if err := setFields(v.Index(i), elements[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return json.Unmarshal(text, v.Addr().Interface())
}
