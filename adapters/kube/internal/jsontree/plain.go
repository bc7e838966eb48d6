package jsontree

import (
	"bytes"
	"slices"
)

// PlainYAML reads YAML that is JSON in printable ASCII, without escapes, and with nothing
// in it that YAML reads in its own way. It returns nil for any other.
func PlainYAML(body []byte) map[string]any {
	if slices.ContainsFunc(bytes.TrimSuffix(body, []byte{'\n'}), func(c byte) bool { return c < ' ' || c > '~' || c == '\\' }) {
		return nil
	}
	var tree map[string]any
	if Decode(body, &tree) != nil || !IsPlain(tree) {
		return nil
	}
	return tree
}

// IsPlain reports whether all readers take a value in the same way.
func IsPlain(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		const longest = 1000 // bytes; YAML finds the end of names that have few more
		for name, below := range value {
			if name == "<<" || len(name) > longest || !IsPlain(below) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(value, func(below any) bool { return below == nil || !IsPlain(below) })
	case float64:
		return false
	}
	return true
}
