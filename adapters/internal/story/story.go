// Package story says what a check has found, for everything that tells of one: which objects a finding is about, which
// calls decided what was done, which steps and fields say nothing, and the words for it. What is left out is for the
// teller to count.
package story

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Idle reports whether a step is over with nothing but its work item gone, and nothing went wrong in it. A call that is
// a step of its own is not idle, nor is who decides by a stale cache to do nothing.
func Idle(step core.TraceStep) bool {
	switch step.Kind {
	case "fire", "elapse", "pass", "expire", "call", "restart", "probe":
		return false
	}
	wrote := func(call core.TraceCall) bool { return call.Wrote }
	return !step.Late && step.Detail == "" && step.Result == "" && len(step.Changes) == 0 && len(step.Enqueued) == 0 && len(step.Memory) == 0 &&
		!slices.ContainsFunc(step.Calls, wrote)
}

// SameStart reports whether two runs begin in the same state.
func SameStart(a, b core.Trace) bool {
	return reflect.DeepEqual(a.Initial, b.Initial) && reflect.DeepEqual(a.Memory, b.Memory)
}

// Common returns how many steps two runs have in common at their beginning.
func Common(a, b core.Trace) int {
	if !SameStart(a, b) {
		return 0
	}
	return core.CommonSteps(a.Steps, b.Steps)
}

// Leg is what is told at once: a step, or several that follow each other, are idle and log nothing. First and Last are
// positions in the trace.
type Leg struct{ First, Last int }

// String says which steps these are, such as "Steps 2 to 4".
func (l Leg) String() string {
	switch first, last := l.First+1, l.Last+1; last - first {
	case 0:
		return fmt.Sprintf("Step %d", first)
	case 1:
		return fmt.Sprintf("Steps %d and %d", first, last)
	default:
		return fmt.Sprintf("Steps %d to %d", first, last)
	}
}

// Legs groups the steps of a trace between two positions. What repeats begins a leg.
func Legs(trace core.Trace, position, end int) []Leg {
	var legs []Leg
	for i := position; i < end; i++ {
		if i > position && i != trace.CycleStart && silent(trace.Steps[i-1]) && silent(trace.Steps[i]) {
			legs[len(legs)-1].Last = i
		} else {
			legs = append(legs, Leg{i, i})
		}
	}
	return legs
}

// silent reports whether a step changes nothing, and nothing is logged in it.
func silent(step core.TraceStep) bool {
	return Idle(step) && len(step.Logs) == 0 && step.MissingLogs == ""
}

// traces are the runs of a finding.
func traces(finding core.Finding) []core.Trace {
	if finding.Other == nil {
		return []core.Trace{finding.Trace}
	}
	return []core.Trace{finding.Trace, *finding.Other}
}

// Controllers returns the names of all that take steps in the runs of a finding, in the order of their first ones. That
// of a step in which nobody acts is empty.
func Controllers(finding core.Finding) []string {
	var names []string
	for _, trace := range traces(finding) {
		for _, step := range trace.Steps {
			if !slices.Contains(names, step.Controller) {
				names = append(names, step.Controller)
			}
		}
	}
	return names
}

// Changed returns the paths that the runs of a finding change, by object.
func Changed(finding core.Finding) map[core.Key][]string {
	paths := map[core.Key][]string{}
	for _, trace := range traces(finding) {
		for _, step := range trace.Steps {
			for _, change := range step.Changes {
				for _, field := range change.Fields {
					paths[change.Key()] = append(paths[change.Key()], field.Path)
				}
				if len(change.Fields) == 0 {
					paths[change.Key()] = append(paths[change.Key()], "")
				}
			}
		}
	}
	return paths
}

// About returns those of the initial objects of a run that any run of the finding reads or changes, in order: the story
// is about them. If there are none, it is about all.
func About(finding core.Finding, trace core.Trace) []core.TraceObject {
	changed, words, listed := Changed(finding), map[string]bool{}, map[string]bool{}
	for _, trace := range traces(finding) {
		for _, step := range trace.Steps {
			words[string(step.Request)] = true
			for _, call := range step.Calls {
				said := strings.Fields(call.Call)
				for _, word := range said {
					words[word] = true
				}
				if len(said) > 1 && (said[0] == "list" || said[0] == "watch" || said[0] == "deletecollection") {
					listed[said[1]] = true
				}
			}
		}
	}
	var about []core.TraceObject
	for _, object := range trace.Initial {
		key := object.Key()
		_, written := changed[key]
		name := strings.TrimPrefix(key.String(), string(key.Kind)+" ")
		// Who lists a kind may look at any object of it, and a request names the object that it is about.
		if written || listed[string(key.Kind)] || words[name] {
			about = append(about, object)
		}
	}
	if len(about) == 0 {
		return trace.Initial
	}
	return about
}

// Within reports whether a path is another one, or below it.
func Within(path, other string) bool {
	below, found := strings.CutPrefix(path, other)
	return found && (other == "" || below == "" || below[0] == '.' || below[0] == '[')
}

// kept tells that a field of a Kubernetes object is kept by the server or says when something was: that it is there, or
// changes with others, tells nobody anything.
func kept(path string) bool {
	switch path {
	case "apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.generation", "metadata.creationTimestamp", "metadata.selfLink":
		return true
	}
	if strings.HasPrefix(path, "metadata.managedFields") {
		return true
	}
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "observedGeneration", "lastTransitionTime", "lastUpdateTime", "lastHeartbeatTime", "lastProbeTime":
		return true
	}
	return false
}

// Telling returns the fields of an object that tell something, and how many others there are, such as those that are
// empty. Those at or below some paths do. If none does, all are returned.
func Telling(fields []core.Leaf, paths []string) (telling []core.Leaf, others int) {
	for _, f := range fields {
		if !kept(f.Path) && f.Value != "" || slices.Contains(paths, f.Path) && !bookkeeping(f.Path) {
			telling = append(telling, f)
		}
	}
	if len(telling) == 0 {
		return fields, 0
	}
	return telling, len(fields) - len(telling)
}

// ManyFields is how many fields of an object are told at once.
const ManyFields = 12

// ChangedFirst moves fields at or below some paths to the front, and else keeps the
// order. It returns how many these are.
func ChangedFirst(fields []core.Leaf, paths []string) (sorted []core.Leaf, first int) {
	var others []core.Leaf
	for _, f := range fields {
		if isBelow(f.Path, paths) {
			sorted = append(sorted, f)
		} else {
			others = append(others, f)
		}
	}
	return append(sorted, others...), len(sorted)
}

// isBelow reports whether a path is one of some, or below one.
func isBelow(path string, paths []string) bool {
	return slices.ContainsFunc(paths, func(above string) bool { return Within(path, above) })
}

// bookkeeping reports whether a field changes with each write.
func bookkeeping(path string) bool {
	return path == "metadata.resourceVersion" || path == "metadata.generation" || strings.HasPrefix(path, "metadata.managedFields")
}

// TellingChanges returns the changes of fields that tell something, and how many others there are. If none does, all
// are returned.
func TellingChanges(changes []core.FieldChange) (telling []core.FieldChange, others int) {
	for _, c := range changes {
		if !kept(c.Path) && (c.From != nil || c.To != "") {
			telling = append(telling, c)
		}
	}
	if len(telling) == 0 {
		return changes, 0
	}
	return telling, len(changes) - len(telling)
}

// Deciding returns which calls of a step decided what it did, by their positions: writes, what failed, what was read
// from a cache that was behind, and the reads of what is written. No more than so many are returned, those that come
// first here. All calls are if there are no more.
func Deciding(step core.TraceStep, most int) []int {
	rank := func(call core.TraceCall) int {
		switch {
		case call.Wrote:
			return 0
		case call.Fault != "" || len(call.Behind) > 0:
			return 1
		case slices.ContainsFunc(step.Changes, func(c core.TraceChange) bool { return strings.Contains(call.Call, c.Key().String()) }):
			return 2
		}
		return beside
	}
	var positions []int
	for i, call := range step.Calls {
		if len(step.Calls) <= most || rank(call) < beside {
			positions = append(positions, i)
		}
	}
	slices.SortStableFunc(positions, func(a, b int) int { return rank(step.Calls[a]) - rank(step.Calls[b]) })
	positions = positions[:min(most, len(positions))]
	slices.Sort(positions)
	return positions
}

// beside is the rank of a call that decided nothing, as far as can be told.
const beside = 3
