package dot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// leaf is a field that has no fields below it, of an object.
type leaf struct {
	object core.Key
	path   string
}

// word is a value that is shown as it is, without quotes.
type word string

// present is the value of an object as a whole that has no other.
const present = word("present")

// compare orders leaves by object and path.
func (l leaf) compare(other leaf) int {
	if order := l.object.Compare(other.object); order != 0 {
		return order
	}
	return strings.Compare(l.path, other.path)
}

// addLeaves adds the leaves of a tree of fields with their values.
func addLeaves(to map[leaf]any, object core.Key, path string, fields any) {
	for _, below := range core.Leaves(path, fields) {
		to[leaf{object, below.Path}] = below.Value
	}
}

// leavesOf returns the leaves of objects with their values. An object without
// any field has itself as its leaf.
func leavesOf(objects []core.TraceObject) map[leaf]any {
	leaves := map[leaf]any{}
	for _, object := range objects {
		before := len(leaves)
		addLeaves(leaves, object.Key(), "", object.Fields)
		if len(leaves) == before {
			leaves[leaf{object: object.Key()}] = present
		}
	}
	return leaves
}

// leavesAfter returns the leaves of the objects at the end of a run.
func leavesAfter(trace core.Trace) map[leaf]any {
	leaves := leavesOf(trace.Initial)
	for _, step := range trace.Steps {
		for _, change := range step.Changes {
			applyChange(leaves, change)
		}
	}
	return leaves
}

// applyChange brings the leaves of an object from before a change to after it.
func applyChange(leaves map[leaf]any, change core.TraceChange) {
	object := change.Key()
	if change.Verb != "changed" {
		removeLeaves(leaves, object, "")
	}
	if change.Verb == "deleted" {
		return
	}
	delete(leaves, leaf{object: object})
	for _, field := range change.Fields {
		removeLeaves(leaves, object, field.Path)
		if field.To != nil {
			addLeaves(leaves, object, field.Path, field.To)
		}
	}
	if change.Verb == "created" && len(change.Fields) == 0 {
		leaves[leaf{object: object}] = present
	}
}

// removeLeaves removes the field at a path and all below it.
func removeLeaves(leaves map[leaf]any, object core.Key, path string) {
	maps.DeleteFunc(leaves, func(l leaf, _ any) bool {
		return l.object == object && story.Within(l.path, path)
	})
}

// facts returns the leaves as lines, each object's under its name.
func facts(leaves map[leaf]any) []string {
	var lines []string
	var object core.Key
	for i, l := range slices.SortedFunc(maps.Keys(leaves), leaf.compare) {
		if l.path == "" {
			lines = append(lines, fact(l, leaves[l]))
			continue
		}
		if i == 0 || l.object != object {
			object = l.object
			lines = append(lines, cut(object.String(), lineWidth))
		}
		lines = append(lines, fact(l, leaves[l]))
	}
	return lines
}

// fact says the value of a leaf on one line.
func fact(l leaf, v any) string {
	if l.path == "" {
		return cut(l.object.String(), lineWidth) + " = " + value(v)
	}
	return fmt.Sprintf("    %s = %s", cut(l.path, lineWidth), value(v))
}

// differing returns, of each of several sets of leaves, what is not the same in all
// of them. Of an object that not all sets have it returns the leaves that are not
// the same wherever it is present, and the object itself where it is not. A leaf that
// a set lacks is nil in it.
func differing(sets []map[leaf]any) []map[leaf]any {
	texts := map[leaf]map[string]int{}
	having := map[core.Key]int{}
	for _, set := range sets {
		for l, v := range set {
			if texts[l] == nil {
				texts[l] = map[string]int{}
			}
			texts[l][full(v)]++
		}
		for object := range objectsOf(set) {
			having[object]++
		}
	}
	parts := make([]map[leaf]any, len(sets))
	for i, set := range sets {
		parts[i] = map[leaf]any{}
		here := objectsOf(set)
		for l, counts := range texts {
			if here[l.object] && counts[full(set[l])] < having[l.object] {
				parts[i][l] = set[l]
			}
		}
		told := objectsOf(parts[i])
		for object, count := range having {
			if count < len(sets) && !told[object] {
				parts[i][leaf{object: object}] = presence(set, object, here[object])
			}
		}
	}
	return parts
}

// presence returns what stands for an object as a whole: nothing if it is not here,
// its value if it has no fields, and else that it is here.
func presence(set map[leaf]any, object core.Key, here bool) any {
	if value := set[leaf{object: object}]; value != nil || !here {
		return value
	}
	return present
}

// objectsOf returns the objects that leaves belong to.
func objectsOf(leaves map[leaf]any) map[core.Key]bool {
	objects := map[core.Key]bool{}
	for l := range leaves {
		objects[l.object] = true
	}
	return objects
}
