package dot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// stepLines says who took a step, what it wrote, and how it ended.
func stepLines(number int, step core.TraceStep) []string {
	switch step.Kind {
	case "fire":
		return []string{
			fmt.Sprintf("%d. the timer of %s", number, cut(step.Controller, lineWidth)),
			fmt.Sprintf("    for %s fires", cut(string(step.Request), lineWidth)),
		}
	case "user":
		return append([]string{fmt.Sprintf("%d. the %s", number, cut(step.Controller, lineWidth))}, deedLines(step)...)
	}
	return append([]string{fmt.Sprintf("%d. %s", number, cut(step.Controller, lineWidth))}, deedLines(step)...)
}

// probeLines says what a step would do.
func probeLines(step core.TraceStep) []string {
	return append([]string{cut(step.Controller, lineWidth)}, deedLines(step)...)
}

// deed says what was done in a step, in a few words.
func deed(step core.TraceStep) string {
	what := cut(string(step.Request), lineWidth)
	switch step.Kind {
	case "deliver":
		return "its cache receives changes to " + what
	case "begin":
		return "starts to reconcile " + what
	case "call":
		return "continues with " + what
	case "return":
		return "finishes with " + what
	case "restart":
		return "crashes and restarts"
	case "user":
		return "action: " + what
	case "work":
		return "runs"
	case "elapse":
		return "lets time pass"
	case "pass":
		return cmp.Or(what, "a long time") + " passes"
	case "expire":
		return "deadline passes: " + what
	}
	return "reconciles " + what
}

// deedLines says what was done in a step, what was written, what went wrong, and how it ended.
func deedLines(step core.TraceStep) []string {
	lines := []string{"    " + deed(step)}
	if step.Late {
		lines = append(lines, "    on a stale cache")
	}
	var writes []string
	for _, call := range step.Calls {
		if call.Wrote || step.Kind == "call" {
			writes = append(writes, "    "+cut(call.Call, lineWidth))
		}
	}
	lines = append(lines, few(writes, 4, "writes")...)
	if step.Order != "" {
		for _, line := range wrapped("where "+step.Order, lineWidth) {
			lines = append(lines, "    "+line)
		}
	}
	if step.Detail != "" {
		for _, line := range wrapped("fault: "+step.Detail, lineWidth) {
			lines = append(lines, "    "+line)
		}
	}
	if step.Result != "" {
		for _, line := range wrapped(step.Result, lineWidth) {
			lines = append(lines, "    "+line)
		}
	}
	return lines
}

// changeLines says what a step changed.
func changeLines(step core.TraceStep) []string {
	var lines []string
	for _, change := range step.Changes {
		lines = append(lines, cut(change.Key().String(), lineWidth)+" "+change.Verb)
		if change.Verb == "deleted" {
			continue
		}
		if change.Verb == "created" {
			created := map[leaf]any{}
			applyChange(created, change)
			if len(created) > lineLimit { // they would bury the story
				continue
			}
			for _, l := range slices.SortedFunc(maps.Keys(created), leaf.compare) {
				lines = append(lines, fact(l, created[l]))
			}
			continue
		}
		for _, field := range change.Fields {
			lines = append(lines, fieldLines(change.Key(), field)...)
		}
	}
	if len(lines) == 0 && len(step.Memory) == 0 {
		lines = []string{"nothing changed"}
	}
	return append(few(slices.Clip(lines), lineLimit, "lines"), memoryLines(step.Memory)...)
}

// memoryLines says what is different in what controllers keep in memory.
func memoryLines(changes []core.MemoryChange) []string {
	var lines []string
	for _, change := range changes {
		lines = append(lines, cut("memory of "+change.Controller+":", lineWidth), "    "+cut(change.String(), lineWidth))
		if change.Event != "" {
			lines = append(lines, "    by its event handler for "+cut(change.Event, lineWidth))
		}
	}
	return few(lines, lineLimit, "lines")
}

// fieldLines says how a field was changed. Of one that is new, what is below it counts.
func fieldLines(object core.Key, change core.FieldChange) []string {
	to := map[leaf]any{}
	if change.From == nil && change.To != nil {
		addLeaves(to, object, change.Path, change.To)
	}
	if len(to) == 0 {
		to[leaf{object, change.Path}] = change.To
	}
	var lines []string
	for _, l := range slices.SortedFunc(maps.Keys(to), leaf.compare) {
		path := cut(l.path, lineWidth)
		if path != "" {
			path += ": "
		}
		lines = append(lines, fmt.Sprintf("    %s%s → %s", path, value(change.From), value(to[l])))
	}
	return lines
}
