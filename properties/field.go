package properties

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// field is a field of an object, or all of the object if the path is empty.
type field struct {
	key  core.Key
	path string
}

// String returns the field as violations name it: "kind namespace/name: path".
func (f field) String() string {
	if f.path == "" {
		return f.key.String()
	}
	return f.key.String() + ": " + f.path
}

// pattern names the field without what tells one object from another of its kind, or one item of a list from
// another. Fields of one pattern are written by the same code.
func (f field) pattern() string {
	return string(f.key.Kind) + ": " + withoutPositions(f.path)
}

// withoutPositions leaves out the numbers and the names of list items in a path, but for types of them. Names of fields
// stay, also where they stand in brackets.
func withoutPositions(path string) string {
	return brackets.ReplaceAllStringFunc(path, func(bracket string) string {
		if strings.HasPrefix(bracket, `["`) || strings.HasPrefix(bracket, "[type=") || bracket == core.OrderOf("") {
			return bracket
		}
		return "[]"
	})
}

// brackets finds names of fields, and positions and names of list items, in their brackets.
var brackets = regexp.MustCompile(`\[[a-z]*=?(?:"(?:[^"\\]|\\.)*"|[^\]"]*)\]`)

// tally reports whether the field only counts what is done to others: it says nothing by itself.
func (f field) tally() bool {
	switch f.path {
	case "metadata.generation", "metadata.resourceVersion":
		return true
	}
	return strings.HasPrefix(f.path, "metadata.managedFields") || f.path == "observedGeneration" || strings.HasSuffix(f.path, ".observedGeneration")
}

// ChangedFields names the fields that an effect changes, as violations name them.
func ChangedFields(effect core.Effect) []string {
	return namesOf(changed(effect))
}

// changed returns the fields that an effect changes. A created or deleted object counts as one field.
func changed(effect core.Effect) []field {
	var fields []field
	for _, change := range effect.Changes {
		if change.Before == nil || change.After == nil {
			fields = append(fields, field{key: change.Key})
			continue
		}
		for _, path := range core.ChangedPaths(change.Before.Fields(), change.After.Fields()) {
			fields = append(fields, field{change.Key, path})
		}
	}
	return fields
}

func namesOf(fields []field) []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.String())
	}
	return names
}

// objectOf names the object of the first of some fields, empty if there is none.
func objectOf(fields []field) string {
	if len(fields) == 0 {
		return ""
	}
	return fields[0].key.String()
}

// manyNames is how many names a sentence can hold.
const manyNames = 4

// enumerate joins words as in a sentence, all of them.
func enumerate(words []string) string {
	switch len(words) {
	case 0:
		return "nobody"
	case 1:
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// briefly joins words as in a sentence. If there are too many for one, it counts the rest.
func briefly(words []string, one, many string) string {
	if len(words) <= manyNames {
		return enumerate(words)
	}
	shown := manyNames - 1
	return strings.Join(words[:shown], ", ") + " and " + counted(len(words)-shown, one, many)
}

// keyed returns the fields of an object with lists of named items as maps, as Kubernetes merges them: conditions by
// their types, containers by their names. So a field keeps its path when others come and go:
// status.conditions.Ready.status.
func keyed(fields any) any {
	switch fields := fields.(type) {
	case map[string]any:
		tree := make(map[string]any, len(fields))
		for name, value := range fields {
			tree[name] = keyed(value)
		}
		return tree
	case []any:
		for _, key := range core.KeyFields() {
			if tree, ok := byKey(fields, key); ok {
				return tree
			}
		}
	}
	return fields
}

// byKey returns the items of a list by one of their fields, if that tells them apart.
func byKey(items []any, key string) (map[string]any, bool) {
	tree := make(map[string]any, len(items))
	for _, item := range items {
		fields, _ := item.(map[string]any)
		name, _ := fields[key].(string)
		if _, known := tree[name]; known || name == "" {
			return nil, false
		}
		tree[name] = keyed(fields)
	}
	return tree, len(tree) > 0
}

// lookup returns the value at a path of a keyed tree, and false if there is none.
func lookup(tree any, path string) (any, bool) { return descendTo(tree, "", path) }

func descendTo(tree any, at, path string) (any, bool) {
	if at == path {
		return tree, true
	}
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			if next := core.FieldOf(at, name); below(path, next) {
				return descendTo(value, next, path)
			}
		}
	case []any:
		for i, value := range tree {
			if next := core.ItemOf(at, i); below(path, next) {
				return descendTo(value, next, path)
			}
		}
	}
	return nil, false
}

// below reports whether a path leads to a place or to something below it.
func below(path, place string) bool {
	rest, ahead := strings.CutPrefix(path, place)
	return ahead && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// number returns a value as a number, and false if it is none.
func number(value any) (float64, bool) {
	switch n := value.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case uint64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// sameLife reports whether an object is the same before and after a change: it was not made, deleted, or both.
func sameLife(change core.Change) bool {
	if change.Before == nil || change.After == nil {
		return false
	}
	before, _ := lookup(change.Before.Fields(), "metadata.uid")
	after, _ := lookup(change.After.Fields(), "metadata.uid")
	return core.FieldText(before) == core.FieldText(after)
}

// changes calls visit with each change that a step of a controller makes to an object, in the order of the states. What
// users do is left out.
//
// A property that looks at nothing else lets a reduction leave out as much as one that looks at ends. Steps that write
// one object depend on each other, so that their order is never given up: a run that is left out has the same steps as
// one that is followed, with the same versions of each object in the same order. That is so for runs that end and for
// fair ones, and whatever can happen is the beginning of such a run.
func changes(ctx context.Context, g core.Graph, visit func(core.Edge, core.Change)) error {
	return everyChange(ctx, g, func(e core.Edge, change core.Change) {
		if e.Step.Kind != core.Intervene {
			visit(e, change)
		}
	})
}

// everyChange calls visit with each change that a step makes to an object.
func everyChange(ctx context.Context, g core.Graph, visit func(core.Edge, core.Change)) error {
	for id := range core.StateID(g.States()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, e := range slices.Clone(g.Edges(id)) {
			if !e.Wrote {
				continue
			}
			for _, change := range g.Effect(e).Changes {
				visit(e, change)
			}
		}
	}
	return nil
}

// quantity returns an amount in the notation of Kubernetes, "500m" or "10Gi", as a number, and false if it is none.
func quantity(text string) (float64, bool) {
	digits := strings.TrimRight(text, "numkKMGTPEi")
	if strings.Trim(digits, "+-.0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	unit, known := unitOf(text[len(digits):])
	return n * unit, err == nil && known
}

// unitOf returns what the suffix of a quantity stands for.
func unitOf(suffix string) (float64, bool) {
	const decimal, binary = 1000.0, 1024.0
	for power, name := range []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"} {
		if suffix == name {
			return math.Pow(decimal, float64(power-3)), true
		}
	}
	for power, name := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
		if suffix == name {
			return math.Pow(binary, float64(power+1)), true
		}
	}
	return 0, false
}
