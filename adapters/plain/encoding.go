package plain

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// inspect reports whether values of a type can be stored, and whether they hold
// slices or maps: those must be copied, or a holder could change a stored value.
func inspect(t reflect.Type) (shares bool, err error) {
	type place struct {
		t        reflect.Type
		settable bool
	}
	seen := map[place]bool{}
	var visit func(reflect.Type, string, bool) error
	visit = func(t reflect.Type, path string, settable bool) error {
		if seen[place{t, settable}] {
			return nil
		}
		seen[place{t, settable}] = true
		switch t.Kind() {
		case reflect.Bool, reflect.String,
			reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
			reflect.Float32, reflect.Float64:
			return nil
		case reflect.Array:
			return visit(t.Elem(), path+"[]", settable)
		case reflect.Slice, reflect.Map:
			shares = true
			if !settable {
				return fmt.Errorf("%s is a %s in a field that is not exported, so it cannot be copied: export the field", path, t.Kind())
			}
			if t.Kind() == reflect.Map {
				return errors.Join(visit(t.Key(), path+"[key]", settable), visit(t.Elem(), path+"[]", settable))
			}
			return visit(t.Elem(), path+"[]", settable)
		case reflect.Struct:
			var errs []error
			for i := range t.NumField() {
				field := t.Field(i)
				errs = append(errs, visit(field.Type, path+"."+field.Name, settable && field.IsExported()))
			}
			return errors.Join(errs...)
		}
		return fmt.Errorf("%s is a %s: use numbers, strings, booleans, and structs, arrays, slices and maps of these", path, t.Kind())
	}
	err = visit(t, t.String(), true)
	return shares, err
}

// duplicate returns a deep copy. Empty slices become nil and nil maps become
// empty ones: they have the same text, so nobody may tell them apart.
func duplicate(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Slice:
		out.SetZero()
		for i := range v.Len() {
			out.Set(reflect.Append(out, duplicate(v.Index(i))))
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for entries := v.MapRange(); entries.Next(); {
			out.SetMapIndex(entries.Key(), duplicate(entries.Value()))
		}
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(duplicate(v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// What is not exported holds nothing that is shared.
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(duplicate(v.Field(i)))
			}
		}
	}
	return out
}

// encode appends the text of a value: equal texts exactly for equal values of
// one type, empty and nil slices and maps counting as equal.
func encode(text []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(text, v.Bool())
	case reflect.String:
		return strconv.AppendQuote(text, v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(text, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(text, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return strconv.AppendFloat(text, v.Float(), 'g', -1, 64)
	case reflect.Array, reflect.Slice:
		text = append(text, '[')
		for i := range v.Len() {
			if i > 0 {
				text = append(text, ' ')
			}
			text = encode(text, v.Index(i))
		}
		return append(text, ']')
	case reflect.Map:
		text = append(text, '{')
		for i, entry := range entriesOf(v) {
			if i > 0 {
				text = append(text, ' ')
			}
			text = append(append(text, entry.key...), ':')
			text = encode(text, entry.value)
		}
		return append(text, '}')
	case reflect.Struct:
		text = append(text, '{')
		for i := range v.NumField() {
			if i > 0 {
				text = append(text, ' ')
			}
			text = append(append(text, v.Type().Field(i).Name...), ':')
			text = encode(text, v.Field(i))
		}
		return append(text, '}')
	}
	panic(fmt.Sprintf("plain: a %s passed inspection", v.Kind()))
}

// fields returns a value as a tree of maps, lists and scalars.
func fields(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.Uint()
	case reflect.Float32, reflect.Float64:
		return v.Float()
	case reflect.Array, reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = fields(v.Index(i))
		}
		return list
	case reflect.Map:
		tree := make(map[string]any, v.Len())
		for _, entry := range entriesOf(v) {
			tree[entry.name()] = fields(entry.value)
		}
		return tree
	case reflect.Struct:
		tree := make(map[string]any, v.NumField())
		for i := range v.NumField() {
			tree[v.Type().Field(i).Name] = fields(v.Field(i))
		}
		return tree
	}
	panic(fmt.Sprintf("plain: a %s passed inspection", v.Kind()))
}

// entry is one entry of a map, with the text of its key.
type entry struct {
	key   string
	value reflect.Value
}

// name is the key as the name of a field: strings without their quotes.
func (e entry) name() string {
	if unquoted, err := strconv.Unquote(e.key); err == nil {
		return unquoted
	}
	return e.key
}

// entriesOf returns the entries of a map in the order of their keys' texts.
func entriesOf(v reflect.Value) []entry {
	entries := make([]entry, 0, v.Len())
	for each := v.MapRange(); each.Next(); {
		entries = append(entries, entry{string(encode(nil, each.Key())), each.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return entries
}
