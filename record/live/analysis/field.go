package analysis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// decodeTree returns a JSON value with the digits of its numbers, nil if it is none.
func decodeTree(text []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var tree any
	if decoder.Decode(&tree) != nil {
		return nil
	}
	return tree
}

// splitField returns the keys of a field: names and numbers between dots, and in brackets what has dots itself, as in
// "metadata.annotations[example.com/x]".
func splitField(field string) ([]string, error) {
	var keys []string
	for rest := field; rest != ""; {
		switch rest[0] {
		case '[':
			key, after, closed := strings.Cut(rest[1:], "]")
			if !closed {
				return nil, fmt.Errorf("field %q: a bracket is not closed", field)
			}
			keys, rest = append(keys, key), after
		case '.':
			rest = rest[1:]
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			keys, rest = append(keys, rest[:end]), rest[end:]
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("field %q: name a field, such as spec.replicas", field)
	}
	return keys, nil
}

// fieldOf returns the value of a field as JSON, empty if it is not there.
func fieldOf(tree any, keys []string) string {
	for _, key := range keys {
		switch t := tree.(type) {
		case map[string]any:
			below, ok := t[key]
			if !ok {
				return ""
			}
			tree = below
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(t) {
				return ""
			}
			tree = t[i]
		default:
			return ""
		}
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return ""
	}
	return string(text)
}

// leaves calls a function with each value of a tree that has no parts, by its path, without what the server counts for
// itself.
func leaves(path string, tree any, leaf func(path, value string)) {
	switch t := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(t)) {
			below := path + "." + key
			if strings.ContainsAny(key, ".[") {
				below = path + "[" + key + "]"
			}
			switch strings.TrimPrefix(below, ".") {
			case "metadata.resourceVersion", "metadata.generation", "metadata.managedFields", "metadata.uid", "metadata.creationTimestamp":
				continue
			}
			leaves(below, t[key], leaf)
		}
	case []any:
		for i, item := range t {
			leaves(path+"."+strconv.Itoa(i), item, leaf)
		}
	default:
		text, err := json.Marshal(t)
		if err == nil {
			leaf(strings.TrimPrefix(path, "."), string(text))
		}
	}
}
