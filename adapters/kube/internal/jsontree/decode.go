package jsontree

import (
	kjson "sigs.k8s.io/json"
)

// Most of the JSON that a server reads is plain: objects in printable ASCII, without
// escapes and fractions. Such is read here, and the library only gets what is rare.

// plainJSON reads an object that is plain. It returns nil for any other, and if something
// is wrong with it.
func plainJSON(text []byte) map[string]any {
	r := &jsonReader{text: text}
	value, ok := r.value(0)
	object, isObject := value.(map[string]any)
	if !ok || !isObject || r.token() != 0 || r.at < len(text) {
		return nil
	}
	return object
}

// jsonReader reads a text from some place on. What its methods return last is false if
// there is nothing plain that they could read.
type jsonReader struct {
	text []byte
	at   int
}

// token is the first byte that is no space, 0 at the end.
func (r *jsonReader) token() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return c
		}
	}
	return 0
}

// take moves past a byte, if that comes next.
func (r *jsonReader) take(c byte) bool {
	if r.token() != c {
		return false
	}
	r.at++
	return true
}

func (r *jsonReader) value(depth int) (any, bool) {
	const deepest = 100
	switch c := r.token(); {
	case depth > deepest:
		return nil, false
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.list(depth)
	case c == '"':
		return r.string()
	case c == 't':
		return true, r.word("true")
	case c == 'f':
		return false, r.word("false")
	case c == 'n':
		return nil, r.word("null")
	}
	return r.number()
}

func (r *jsonReader) object(depth int) (any, bool) {
	r.at++
	fields := map[string]any{}
	if r.take('}') {
		return fields, true
	}
	for {
		if r.token() != '"' {
			return nil, false
		}
		name, ok := r.string()
		if !ok || !r.take(':') {
			return nil, false
		}
		value, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		fields[name] = value
		if !r.take(',') {
			return fields, r.take('}')
		}
	}
}

func (r *jsonReader) list(depth int) (any, bool) {
	r.at++
	items := []any{}
	if r.take(']') {
		return items, true
	}
	for {
		item, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		items = append(items, item)
		if !r.take(',') {
			return items, r.take(']')
		}
	}
}

// string reads a string whose first quote comes next.
func (r *jsonReader) string() (string, bool) {
	from := r.at + 1
	for at := from; at < len(r.text); at++ {
		switch c := r.text[at]; {
		case c == '"':
			r.at = at + 1
			return string(r.text[from:at]), true
		case c < ' ', c > '~', c == '\\':
			return "", false
		}
	}
	return "", false
}

func (r *jsonReader) word(word string) bool {
	end := r.at + len(word)
	if end > len(r.text) || string(r.text[r.at:end]) != word {
		return false
	}
	r.at = end
	return true
}

// number reads a whole number that is certain to be an int64.
func (r *jsonReader) number() (any, bool) {
	const most = 18 // digits
	negative := r.take('-')
	from, n := r.at, int64(0)
	for ; r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9'; r.at++ {
		n = 10*n + int64(r.text[r.at]-'0')
		if r.at-from == most {
			return nil, false
		}
	}
	digits := r.at - from
	if digits == 0 || r.text[from] == '0' && (digits > 1 || negative) {
		return nil, false
	}
	if r.at < len(r.text) {
		switch r.text[r.at] {
		case '.', 'e', 'E':
			return nil, false
		}
	}
	if negative {
		n = -n
	}
	return n, true
}

// Decode reads JSON as API servers do: names match in case, whole numbers are int64.
func Decode(data []byte, into any) error {
	if tree, ok := into.(*map[string]any); ok && *tree == nil {
		if *tree = plainJSON(data); *tree != nil {
			return nil
		}
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(data, into)
}
