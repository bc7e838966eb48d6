package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// FieldChange is a difference between two trees of fields. Path is as [FieldOf], [KeyedOf] and [ItemOf] write it
// ("spec.template.containers[name=web].image"), and empty for the whole value. From or To is nil where the field is
// absent.
type FieldChange struct {
	Path string `json:"path"`
	From any    `json:"from"`
	To   any    `json:"to"`
}

// String says the change as "path: from → to".
func (c FieldChange) String() string {
	path := c.Path
	if path != "" {
		path += ": "
	}
	return fmt.Sprintf("%s%s → %s", path, FieldText(c.From), FieldText(c.To))
}

// FieldText says the value of a field in one word; an absent one is "(absent)".
func FieldText(v any) string {
	switch v := v.(type) {
	case nil:
		return "(absent)"
	case string:
		return strconv.Quote(v)
	case map[string]any, []any:
		var text strings.Builder
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false) // it is read by people
		if encoder.Encode(v) == nil {
			return strings.TrimSuffix(text.String(), "\n")
		}
	}
	return fmt.Sprint(v)
}

// DiffFields returns the differences between two trees as returned by [Content.Fields], in the order of their paths.
// Lists are compared item by item where a field tells the items of both apart, see [KeyOf], and if these come in
// another order, that is a difference of its own. Other lists are compared position by position.
func DiffFields(from, to any) []FieldChange {
	var changes []FieldChange
	diffFields("", from, to, &changes)
	return changes
}

func diffFields(path string, from, to any, changes *[]FieldChange) {
	fromMap, ok1 := from.(map[string]any)
	toMap, ok2 := to.(map[string]any)
	if ok1 && ok2 {
		names := make([]string, 0, len(fromMap)+len(toMap))
		for name := range fromMap {
			names = append(names, name)
		}
		for name := range toMap {
			if _, known := fromMap[name]; !known {
				names = append(names, name)
			}
		}
		sort.Strings(names)
		for _, name := range names {
			was, is := fromMap[name], toMap[name]
			if was == nil && is == nil { // one of them is there, and has no value
				was, is = valueless(fromMap, name), valueless(toMap, name)
			}
			diffFields(FieldOf(path, name), was, is, changes)
		}
		return
	}
	fromList, ok1 := from.([]any)
	toList, ok2 := to.([]any)
	if ok1 && ok2 {
		diffLists(path, fromList, toList, changes)
		return
	}
	if !reflect.DeepEqual(from, to) {
		*changes = append(*changes, FieldChange{Path: path, From: from, To: to})
	}
}

// null is the value of a field that is there, and has none, where that is all that tells it apart from one that is
// absent. It is nil in a tree.
type null struct{}

// MarshalJSON implements [json.Marshaler].
func (null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// String implements [fmt.Stringer].
func (null) String() string { return "null" }

// valueless returns what stands for a field that has no value, nil if it is absent.
func valueless(of map[string]any, name string) any {
	if _, there := of[name]; there {
		return null{}
	}
	return nil
}

func diffLists(path string, from, to []any, changes *[]FieldChange) {
	key := KeyOf(from, to)
	switch {
	case key != "":
		diffKeyed(path, key, from, to, changes)
		return
	case KeyOf(from) != "" || KeyOf(to) != "":
		// The items of the one have names, and those of the other do not.
		*changes = append(*changes, FieldChange{Path: path, From: from, To: to})
		return
	}
	for i := range max(len(from), len(to)) {
		var a, b any
		if i < len(from) {
			a = from[i]
		}
		if i < len(to) {
			b = to[i]
		}
		diffFields(ItemOf(path, i), a, b, changes)
	}
}

// diffKeyed compares two lists whose items a field tells apart.
func diffKeyed(path, key string, from, to []any, changes *[]FieldChange) {
	before, after := keyed(from, key), keyed(to, key)
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, both := before[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		diffFields(KeyedOf(path, key, name), before[name], after[name], changes)
	}
	was, is := orderOf(from, key, after), orderOf(to, key, before)
	if !slices.Equal(was, is) {
		*changes = append(*changes, FieldChange{Path: OrderOf(path), From: strings.Join(was, ", "), To: strings.Join(is, ", ")})
	}
}

// orderOf returns the names of the items of a list that another one has, too, in order.
func orderOf(list []any, key string, other map[string]any) []string {
	var names []string
	for _, item := range list {
		if name := item.(map[string]any)[key].(string); other[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// ChangedPaths returns the paths of the differences between two trees, each once.
func ChangedPaths(from, to any) []string {
	var paths []string
	for _, c := range DiffFields(from, to) {
		paths = append(paths, c.Path)
	}
	return slices.Compact(paths)
}
