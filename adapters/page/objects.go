package page

import (
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// stateBefore returns the objects as they are after steps from a start, in the order of their names. The script of the page goes on from there.
func stateBefore(initial []core.TraceObject, steps []core.TraceStep) []object {
	state := map[string]map[string]string{}
	for _, o := range initial {
		state[story.Clean(o.Key().String())] = table(values(core.Leaves("", o.Fields)))
	}
	for _, s := range steps {
		for _, c := range s.Changes {
			effectOf(c).apply(state)
		}
	}
	all := []object{}
	for _, name := range slices.Sorted(maps.Keys(state)) {
		fields := []field{}
		for _, path := range slices.Sorted(maps.Keys(state[name])) {
			fields = append(fields, field{Path: path, Value: state[name][path]})
		}
		all = append(all, object{Name: name, Fields: fields})
	}
	return all
}

// apply makes the difference to a state.
func (e effect) apply(state map[string]map[string]string) {
	if e.Deleted {
		delete(state, e.Object)
		return
	}
	fields := state[e.Object]
	if fields == nil {
		fields = map[string]string{}
		state[e.Object] = fields
	}
	maps.DeleteFunc(fields, func(path, _ string) bool {
		return slices.ContainsFunc(e.Gone, func(gone string) bool { return story.Within(path, gone) })
	})
	maps.Copy(fields, table(e.Fields))
}

func table(fields []field) map[string]string {
	all := map[string]string{}
	for _, f := range fields {
		all[f.Path] = f.Value
	}
	return all
}

// outcome is one of the ends in which a system can settle.
type outcome struct {
	Number, States int
	// Fields are those that are not the same in all outcomes, by object.
	Objects []object
	// Steps is how many steps lead there.
	Steps int
}

// outcomes returns the ends, with what is not the same in all of them. There are none if there is only one end.
func outcomes(report *core.Report) []outcome {
	if len(report.OutcomeList) < 2 {
		return nil
	}
	counts := map[string]int{}
	name := func(object string, f field) string { return object + "\x00" + f.Path + "\x00" + f.Value }
	for _, o := range report.OutcomeList {
		for _, object := range o.Objects {
			for _, f := range leavesOf(object) {
				counts[name(object.Key().String(), f)]++
			}
		}
	}
	var all []outcome
	for i, o := range report.OutcomeList {
		v := outcome{Number: i + 1, States: o.States, Steps: len(o.Trace.Steps)}
		for _, from := range o.Objects {
			shown := object{Name: story.Clean(from.Key().String())}
			for _, f := range leavesOf(from) {
				if counts[name(from.Key().String(), f)] < len(report.OutcomeList) {
					shown.Fields = append(shown.Fields, f)
				}
			}
			if len(shown.Fields) > 0 {
				v.Objects = append(v.Objects, shown)
			}
		}
		all = append(all, v)
	}
	return all
}

// leavesOf returns the fields of an object. One without any has itself as its only field.
func leavesOf(o core.TraceObject) []field {
	if fields := values(core.Leaves("", o.Fields)); len(fields) > 0 {
		return fields
	}
	return []field{{Value: "present"}}
}
