package core

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
)

// FieldChange is a difference between two trees of fields. Path is as [FieldOf] and
// [ItemOf] write it ("spec.template.containers[0].image"), and empty for the whole value. From or To is nil where the field is absent.
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
		if text, err := json.Marshal(v); err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(v)
}

// DiffFields returns the differences between two trees as returned by
// [Content.Fields], in the order of their paths. Lists are compared position by
// position.
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
			diffFields(FieldOf(path, name), fromMap[name], toMap[name], changes)
		}
		return
	}
	fromList, ok1 := from.([]any)
	toList, ok2 := to.([]any)
	if ok1 && ok2 {
		for i := range max(len(fromList), len(toList)) {
			var a, b any
			if i < len(fromList) {
				a = fromList[i]
			}
			if i < len(toList) {
				b = toList[i]
			}
			diffFields(ItemOf(path, i), a, b, changes)
		}
		return
	}
	if !reflect.DeepEqual(from, to) {
		*changes = append(*changes, FieldChange{Path: path, From: from, To: to})
	}
}

// ChangedPaths returns the paths of the differences between two trees, each once.
func ChangedPaths(from, to any) []string {
	var paths []string
	for _, c := range DiffFields(from, to) {
		paths = append(paths, c.Path)
	}
	return slices.Compact(paths)
}
