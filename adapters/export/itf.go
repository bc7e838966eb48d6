package export

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// ITF writes the first run of a finding in the Informal Trace Format of the model checker Apalache (its architecture
// decision record 15), which tools for TLA+ and Quint show. A state has the objects, as a map from their names to maps
// from paths to values, and the step that led there.
func ITF(w io.Writer, finding core.Finding) error {
	trace := itf{
		Meta: map[string]any{
			"format": "ITF", "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html", "source": "orrery", "status": "violation",
			"description": story.Clean(finding.Property + ": " + finding.Summary),
		},
		Vars: []string{"objects", "step"},
	}
	objects := map[string]map[string]any{}
	for _, o := range finding.Trace.Initial {
		objects[o.Key().String()] = leavesOf(core.Leaves("", o.Fields))
	}
	trace.add(objects, "")
	for _, step := range finding.Trace.Steps {
		if step.Kind == "probe" {
			continue
		}
		for _, change := range step.Changes {
			apply(objects, change)
		}
		before, who, after := story.Deed(step)
		trace.add(objects, story.Clean(before+who+after))
	}
	if finding.Trace.CycleStart >= 0 {
		start := finding.Trace.CycleStart
		trace.Loop = &start
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(trace)
}

type itf struct {
	Meta   map[string]any   `json:"#meta"`
	Vars   []string         `json:"vars"`
	States []map[string]any `json:"states"`
	Loop   *int             `json:"loop,omitempty"`
}

// add adds a state.
func (t *itf) add(objects map[string]map[string]any, step string) {
	all := [][2]any{}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		fields := [][2]any{}
		for _, path := range slices.Sorted(maps.Keys(objects[name])) {
			fields = append(fields, [2]any{path, objects[name][path]})
		}
		all = append(all, [2]any{name, map[string]any{"#map": fields}})
	}
	t.States = append(t.States, map[string]any{"#meta": map[string]any{"index": len(t.States)}, "objects": map[string]any{"#map": all}, "step": step})
}

// leavesOf returns fields with values as the format has them: whole numbers are texts in an object of their own, as
// they may be large.
func leavesOf(leaves []core.Leaf) map[string]any {
	fields := map[string]any{}
	for _, l := range leaves {
		switch value := l.Value.(type) {
		case nil:
			fields[l.Path] = "null"
		case bool, string:
			fields[l.Path] = value
		case int, int64, uint64:
			fields[l.Path] = map[string]any{"#bigint": fmt.Sprint(value)}
		default:
			if number, ok := value.(float64); ok && number == float64(int64(number)) {
				fields[l.Path] = map[string]any{"#bigint": fmt.Sprint(int64(number))}
			} else {
				fields[l.Path] = core.FieldText(value)
			}
		}
	}
	return fields
}

// apply makes the difference of a step to an object.
func apply(objects map[string]map[string]any, change core.TraceChange) {
	name := change.Key().String()
	if change.Verb == "deleted" {
		delete(objects, name)
		return
	}
	if objects[name] == nil || change.Verb == "created" {
		objects[name] = map[string]any{}
	}
	for _, f := range change.Fields {
		maps.DeleteFunc(objects[name], func(path string, _ any) bool { return story.Within(path, f.Path) })
		if f.To != nil {
			maps.Copy(objects[name], leavesOf(core.Leaves(f.Path, f.To)))
		}
	}
}
