package external

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Values are kept as JSON, which is their canonical text as well: maps come in the order of their keys.

// encoded returns a value as JSON.
func encoded(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

// decoded returns a value that was kept.
func decoded[T any](text string) (T, error) {
	var value T
	err := json.Unmarshal([]byte(text), &value)
	return value, err
}

// fieldsOf decodes a text whose type is not known. Whole numbers stay what they are, however large.
func fieldsOf(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return withNumbers(value), nil
}

// withNumbers returns a decoded value with its numbers as int64 where they are whole and as float64 where they are not.
func withNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
		if number, err := value.Float64(); err == nil && strings.ContainsAny(value.String(), ".eE") {
			return number
		}
		return value.String()
	case map[string]any:
		for name, below := range value {
			value[name] = withNumbers(below)
		}
	case []any:
		for i, below := range value {
			value[i] = withNumbers(below)
		}
	}
	return value
}

// keepable returns an error that says what of a type JSON would not keep.
func keepable(t reflect.Type) error {
	return (&keeper{seen: map[reflect.Type]bool{}}).check(t.String(), t)
}

// keeper looks through a type.
type keeper struct{ seen map[reflect.Type]bool }

func (k *keeper) check(path string, t reflect.Type) error {
	if k.seen[t] {
		return nil
	}
	k.seen[t] = true
	if writesItself(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return k.check(path, t.Elem())
	case reflect.Map:
		if err := k.check(path+"[key]", t.Key()); err != nil {
			return err
		}
		return k.check(path+"[…]", t.Elem())
	case reflect.Struct:
		return k.fields(path, t)
	case reflect.Interface:
		return fmt.Errorf("%s is an interface, and JSON does not keep what is in it: use a type that has all it can be", path)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		return fmt.Errorf("%s is a %s, which JSON cannot keep: leave it out", path, t.Kind())
	}
	return nil
}

func (k *keeper) fields(path string, t reflect.Type) error {
	for i := range t.NumField() {
		field := t.Field(i)
		at := path + "." + field.Name
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case !field.IsExported() && !field.Anonymous:
			return fmt.Errorf("%s is not exported, and JSON leaves it out: export it, or leave it out", at)
		case field.Tag.Get("json") == "-" && tag == "-":
			return fmt.Errorf("%s is left out by its tag: what is not kept is lost, so leave out the field", at)
		}
		if err := k.check(at, field.Type); err != nil {
			return err
		}
	}
	return nil
}

// writesItself reports whether a type says how it is written as JSON, and read again.
func writesItself(t reflect.Type) bool {
	both := func(writer, reader reflect.Type) bool {
		return t.Implements(writer) && reflect.PointerTo(t).Implements(reader)
	}
	return both(reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler]()) ||
		both(reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]())
}
