package clientgo

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

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
// JSON.
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
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return form[T]{}, fmt.Errorf("the items of a queue cannot be of type %s: name the type that they have, as in QueueIn[string], which also fits into a field for a queue with items of any type; a constructor that takes such a queue gets Queue.Untyped", t)
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
