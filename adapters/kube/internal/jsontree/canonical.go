package jsontree

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Every write makes texts of whole objects: what is stored, what is sent, what identifies
// both. Trees have few types, so they are written here, and encoding/json only gets what
// is rare.

// Canonical writes a tree as [json.Marshal] does, with sorted keys.
func Canonical(tree any) []byte {
	const usual = 2048 // bytes of an object, so that most need no more room
	return Append(make([]byte, 0, usual), tree)
}

// Append appends a value as [Canonical] writes it.
func Append(text []byte, value any) []byte {
	switch value := value.(type) {
	case nil:
		return append(text, "null"...)
	case bool:
		return strconv.AppendBool(text, value)
	case int64:
		return strconv.AppendInt(text, value, 10)
	case string:
		return appendString(text, value)
	case map[string]any:
		return AppendObject(text, value)
	case []any:
		return appendList(text, value)
	}
	return appendAny(text, value)
}

// AppendObject appends an object as [Canonical] writes it.
func AppendObject(text []byte, fields map[string]any) []byte {
	if fields == nil {
		return append(text, "null"...)
	}
	const few = 16 // fields of an object, so that the names of most need no memory
	names := make([]string, 0, few)
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	text = append(text, '{')
	for i, name := range names {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendString(text, name)
		text = append(text, ':')
		text = Append(text, fields[name])
	}
	return append(text, '}')
}

func appendList(text []byte, items []any) []byte {
	if items == nil {
		return append(text, "null"...)
	}
	text = append(text, '[')
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
		}
		text = Append(text, item)
	}
	return append(text, ']')
}

// appendString quotes a string. One in which something must be escaped is rare.
func appendString(text []byte, s string) []byte {
	for i := range len(s) {
		if !plain(s[i]) {
			return appendAny(text, s)
		}
	}
	text = append(text, '"')
	text = append(text, s...)
	return append(text, '"')
}

// plain reports whether a byte stands for itself in a string.
func plain(c byte) bool {
	const tilde = '~' // the last of ASCII's printable characters
	return c >= ' ' && c <= tilde && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}

func appendAny(text []byte, value any) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic("kube: a tree of JSON values cannot be written as JSON: " + err.Error())
	}
	return append(text, encoded...)
}

// Copy copies a tree: it is as if read from its text.
func Copy(value any) any {
	switch value := value.(type) {
	case nil, bool, int64:
		return value
	case string:
		if utf8.ValidString(value) {
			return value
		}
	case map[string]any:
		if value == nil {
			return nil
		}
		fields := make(map[string]any, len(value))
		for name, below := range value {
			if !utf8.ValidString(name) {
				return reread(value)
			}
			fields[name] = Copy(below)
		}
		return fields
	case []any:
		if value == nil {
			return nil
		}
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = Copy(item)
		}
		return items
	}
	return reread(value)
}

// Texts returns a tree with another text for each one in it, be it the name of a field or a value.
func Texts(value any, other func(text string, name bool) string) any {
	switch value := value.(type) {
	case string:
		return other(value, false)
	case map[string]any:
		fields := make(map[string]any, len(value))
		for name, field := range value {
			fields[other(name, true)] = Texts(field, other)
		}
		return fields
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = Texts(item, other)
		}
		return items
	}
	return value
}

// reread reads a tree from its text.
func reread(value any) any {
	var read any
	if err := Decode(Canonical(value), &read); err != nil {
		panic("kube: JSON that was written cannot be read: " + err.Error())
	}
	return read
}

// Same reports whether two trees say the same: whether their texts are equal.
func Same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok && a != nil && b != nil {
			return sameFields(a, b)
		}
	case []any:
		if b, ok := b.([]any); ok && a != nil && b != nil {
			return slices.EqualFunc(a, b, Same)
		}
	case string:
		// What is not UTF-8 looks alike in texts.
		if b, ok := b.(string); ok && (a == b || utf8.ValidString(a) && utf8.ValidString(b)) {
			return a == b
		}
	case int64:
		if b, ok := b.(int64); ok {
			return a == b
		}
	case bool:
		if b, ok := b.(bool); ok {
			return a == b
		}
	}
	return string(Canonical(a)) == string(Canonical(b))
}

func sameFields(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for name, value := range a {
		other, known := b[name]
		if !known || !Same(value, other) {
			return false
		}
	}
	return true
}
