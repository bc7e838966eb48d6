package properties

import (
	"context"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

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
		for _, key := range []string{"type", "name", "key", "uid"} {
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

// below tells whether a path leads to a place or to something below it.
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

// sameLife tells whether an object is the same before and after a change: it was not made, deleted, or both.
func sameLife(change core.Change) bool {
	if change.Before == nil || change.After == nil {
		return false
	}
	before, _ := lookup(change.Before.Fields(), "metadata.uid")
	after, _ := lookup(change.After.Fields(), "metadata.uid")
	return core.FieldText(before) == core.FieldText(after)
}

// changes calls visit with each change that a step of a controller makes to an object, in the order of the states. What users do is left out.
//
// A property that looks at nothing else lets a reduction leave out as much as one that looks at ends. Steps that write one object
// depend on each other, so that their order is never given up: a run that is left out has the same steps as one that is followed, with the
// same versions of each object in the same order. That is so for runs that end and for fair ones, and whatever can happen is the beginning
// of such a run.
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
