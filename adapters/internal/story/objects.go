package story

import (
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Object is an object as the leaves of its fields.
type Object struct {
	Key    core.Key
	Fields []core.Leaf
}

// After returns the objects as they are after steps from a start, in the order of their names, and their fields in the
// order of their paths.
func After(initial []core.TraceObject, steps []core.TraceStep) []Object {
	state := map[core.Key]map[string]any{}
	for _, o := range initial {
		state[o.Key()] = map[string]any{}
		setLeaves(state[o.Key()], "", o.Fields)
	}
	for _, step := range steps {
		for _, c := range step.Changes {
			apply(c, state)
		}
	}
	var all []Object
	for _, key := range slices.SortedFunc(maps.Keys(state), core.Key.Compare) {
		object := Object{Key: key}
		for _, path := range slices.Sorted(maps.Keys(state[key])) {
			object.Fields = append(object.Fields, core.Leaf{Path: path, Value: state[key][path]})
		}
		all = append(all, object)
	}
	return all
}

// setLeaves sets the fields at and below a path.
func setLeaves(fields map[string]any, path string, tree any) {
	for _, l := range core.Leaves(path, tree) {
		fields[l.Path] = l.Value
	}
}

// apply makes a change.
func apply(c core.TraceChange, state map[core.Key]map[string]any) {
	key := c.Key()
	if c.Verb == "deleted" {
		delete(state, key)
		return
	}
	fields := state[key]
	if fields == nil || c.Verb == "created" {
		fields = map[string]any{}
		state[key] = fields
	}
	for _, f := range c.Fields {
		maps.DeleteFunc(fields, func(path string, _ any) bool { return Within(path, f.Path) })
		if f.To != nil {
			setLeaves(fields, f.Path, f.To)
		}
	}
}

// Distinct returns for each outcome the objects and fields that are not the same in all of them. An object without
// fields has itself as its only one, whose value reads "present".
func Distinct(outcomes []core.OutcomeReport) [][]Object {
	type leaf struct {
		key         core.Key
		path, value string
	}
	leaves := func(o core.TraceObject) []core.Leaf {
		if fields := core.Leaves("", o.Fields); len(fields) > 0 {
			return fields
		}
		return []core.Leaf{{Value: present{}}}
	}
	counts := map[leaf]int{}
	for _, outcome := range outcomes {
		for _, o := range outcome.Objects {
			for _, f := range leaves(o) {
				counts[leaf{o.Key(), f.Path, core.FieldText(f.Value)}]++
			}
		}
	}
	all := make([][]Object, len(outcomes))
	for i, outcome := range outcomes {
		for _, o := range outcome.Objects {
			shown := Object{Key: o.Key()}
			for _, f := range leaves(o) {
				if counts[leaf{o.Key(), f.Path, core.FieldText(f.Value)}] < len(outcomes) {
					shown.Fields = append(shown.Fields, f)
				}
			}
			if len(shown.Fields) > 0 {
				all[i] = append(all[i], shown)
			}
		}
	}
	return all
}

// present is the value of an object without fields.
type present struct{}

// String implements [fmt.Stringer].
func (present) String() string { return "present" }
