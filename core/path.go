package core

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FieldOf returns the path of a named field below a path: "spec.replicas", or
// metadata.labels["example.com/team"] for a name that would not read well with a dot.
func FieldOf(path, name string) string {
	switch {
	case name == "" || strings.ContainsAny(name, ".[]\" "):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// ItemOf returns the path of an item of a list below a path: "spec.containers[0]".
func ItemOf(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

// KeyedOf returns the path of the item of a list below a path that has a value in a field:
// "status.conditions[type=Ready]".
func KeyedOf(path, field, value string) string {
	if value == "" || strings.ContainsAny(value, "[]\"= ") {
		value = strconv.Quote(value)
	}
	return path + "[" + field + "=" + value + "]"
}

// OrderOf returns the path of the order in which the items of a list below a path come: "status.conditions[order]".
func OrderOf(path string) string { return path + "[order]" }

// KeyFields are the fields by which the items of lists are told apart, those that are preferred first.
func KeyFields() []string { return []string{"type", "name", "key", "uid"} }

// KeyOf returns the field by which the items of each of some lists are told apart: all are trees, and have different
// texts there. It is empty if there is none, or if there are no items.
func KeyOf(lists ...[]any) string {
	for _, field := range KeyFields() {
		items := 0
		if !slices.ContainsFunc(lists, func(list []any) bool {
			items += len(list)
			return keyed(list, field) == nil
		}) && items > 0 {
			return field
		}
	}
	return ""
}

// keyed returns the items of a list by their texts in a field, nil if these do not tell them apart.
func keyed(list []any, field string) map[string]any {
	items := make(map[string]any, len(list))
	for _, item := range list {
		fields, _ := item.(map[string]any)
		text, _ := fields[field].(string)
		if _, known := items[text]; known || text == "" {
			return nil
		}
		items[text] = item
	}
	return items
}

// Leaf is a value below which there are no fields, with the path to it.
type Leaf struct {
	Path  string
	Value any
}

// Leaves returns the leaves of a tree as returned by [Content.Fields], which is itself at a path: by the names of
// fields, and in the order of lists. Items of lists are named as [DiffFields] does; what their names say is not said
// again, unless there is nothing else.
func Leaves(path string, tree any) []Leaf {
	var leaves []Leaf
	switch tree := tree.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			if text, ok := tree[name].(string); ok && len(tree) > 1 && strings.HasSuffix(path, KeyedOf("", name, text)) {
				continue
			}
			leaves = append(leaves, Leaves(FieldOf(path, name), tree[name])...)
		}
	case []any:
		key := KeyOf(tree)
		for i, item := range tree {
			at := ItemOf(path, i)
			if key != "" {
				at = KeyedOf(path, key, item.(map[string]any)[key].(string))
			}
			leaves = append(leaves, Leaves(at, item)...)
		}
	default:
		return []Leaf{{path, tree}}
	}
	return leaves
}
