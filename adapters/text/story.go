package text

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

const (
	// longest is the number of steps of a run that are all told. Of a longer run,
	// the first and the last told are.
	longest = 24
	told    = 10
	// objectLimit, fieldLimit and callLimit are how many objects at the start,
	// fields of an object and calls of a step are told. Of a created object with more
	// fields none is: they would bury the story.
	objectLimit = 10
	fieldLimit  = 12
	callLimit   = 8
)

// story tells the runs of a finding.
func (p *page) story(finding core.Finding) {
	if finding.Other == nil {
		p.begin(finding.Trace, changedPaths(finding))
		p.steps(finding.Trace, 0)
		return
	}
	p.heading(1, "The first run")
	p.begin(finding.Trace, changedPaths(finding))
	p.steps(finding.Trace, 0)
	p.gap()
	common := commonSteps(finding.Trace, *finding.Other)
	switch {
	case common > 0:
		p.line(1, p.strong("The second run"), fmt.Sprintf(", which is the same up to step %d", common))
	case sameStart(finding.Trace, *finding.Other):
		p.line(1, p.strong("The second run"), ", which has the same start")
	default:
		p.line(1, p.strong("The second run"), ", which has another start")
		p.begin(*finding.Other, changedPaths(finding))
	}
	p.steps(*finding.Other, common)
}

func sameStart(a, b core.Trace) bool { return reflect.DeepEqual(a.Initial, b.Initial) }

// commonSteps returns how many steps two runs have in common at their beginning.
func commonSteps(a, b core.Trace) int {
	if !sameStart(a, b) {
		return 0
	}
	n := 0
	for n < min(len(a.Steps), len(b.Steps)) && reflect.DeepEqual(a.Steps[n], b.Steps[n]) {
		n++
	}
	return n
}

// changedPaths returns the paths that a story changes, by object.
func changedPaths(finding core.Finding) map[core.Key][]string {
	paths := map[core.Key][]string{}
	traces := []core.Trace{finding.Trace}
	if finding.Other != nil {
		traces = append(traces, *finding.Other)
	}
	for _, trace := range traces {
		for _, step := range trace.Steps {
			for _, change := range step.Changes {
				for _, field := range change.Fields {
					paths[change.Key()] = append(paths[change.Key()], field.Path)
				}
			}
		}
	}
	return paths
}

// begin tells how things are at the start of a run. The fields that the story
// changes are told first.
func (p *page) begin(trace core.Trace, changed map[core.Key][]string) {
	p.gap()
	if len(trace.Initial) == 0 {
		p.line(1, "At the start there are no objects.")
		return
	}
	p.line(1, "At the start there is")
	objects := trace.Initial
	if p.elide && len(objects) > objectLimit {
		objects = objects[:objectLimit-1]
	}
	for _, object := range objects {
		p.object(2, clean(object.Key().String()), sortedFirst(leaves("", object.Fields), changed[object.Key()]))
	}
	if rest := len(trace.Initial) - len(objects); rest > 0 {
		p.line(2, p.faint(fmt.Sprintf("… and %s", counted(rest, "more object", "more objects"))))
	}
}

// steps tells the steps of a run from a position on.
func (p *page) steps(trace core.Trace, position int) {
	if len(trace.Steps) == position {
		p.line(1, "Nothing happens.")
	}
	skipping := p.elide && len(trace.Steps)-position > longest
	for i := position; i < len(trace.Steps); i++ {
		if i == trace.CycleStart {
			p.gap()
			p.line(1, p.strong(repetition(i+1, len(trace.Steps))))
		}
		if skipped := len(trace.Steps) - position - 2*told; skipping && i == position+told {
			p.gap()
			p.line(1, p.faint(fmt.Sprintf("… %s left out", counted(skipped, "step is", "steps are"))))
			if cycle := trace.CycleStart; cycle > i && cycle < i+skipped {
				p.line(1, p.strong(repetition(cycle+1, len(trace.Steps))))
			}
			i += skipped
		}
		brief := p.elide && idle(trace.Steps[i])
		if !brief || i == position || i == trace.CycleStart || !idle(trace.Steps[i-1]) {
			p.gap()
		}
		switch {
		case brief:
			p.idleStep(i+1, trace.Steps[i])
		case trace.Steps[i].Kind == "probe":
			p.probe(trace.Steps[i])
		default:
			p.step(i+1, trace.Steps[i])
		}
	}
}

// idle tells whether a step is over with nothing but its work item gone.
func idle(step core.TraceStep) bool {
	wrote := func(call core.TraceCall) bool { return call.Wrote }
	return step.Kind != "fire" && step.Result == "" && len(step.Changes) == 0 && len(step.Enqueued) == 0 &&
		!slices.ContainsFunc(step.Calls, wrote)
}

// repetition says which steps repeat.
func repetition(from, to int) string {
	if from == to {
		return fmt.Sprintf("From here on step %d repeats for ever:", to)
	}
	if from+1 == to {
		return fmt.Sprintf("From here on steps %d and %d repeat for ever:", from, to)
	}
	return fmt.Sprintf("From here on steps %d to %d repeat for ever:", from, to)
}

// step tells one step: who acts on what, what it asks, what it changes.
func (p *page) step(number int, step core.TraceStep) {
	who, what := clean(step.Controller), clean(string(step.Request))
	switch step.Kind {
	case "fire":
		p.line(1, fmt.Sprintf("Step %d: the timer of ", number), p.strong(who), " for ", what, " fires")
	case "act":
		p.line(1, fmt.Sprintf("Step %d: ", number), p.strong(who), ": ", what)
	default:
		p.line(1, fmt.Sprintf("Step %d: ", number), p.strong(who), " works on ", what)
	}
	p.deeds(step)
	if step.Kind != "fire" && len(step.Changes) == 0 {
		p.line(2, p.faint("changes nothing"))
	}
}

// idleStep tells a step that changes nothing.
func (p *page) idleStep(number int, step core.TraceStep) {
	p.line(1, fmt.Sprintf("Step %d: ", number), p.strong(clean(step.Controller)), " works on ", clean(string(step.Request)),
		p.faint(", and changes nothing"))
}

// probe tells what a request would do that nothing in the run asks for.
func (p *page) probe(step core.TraceStep) {
	p.line(1, "Now nothing is left to do. If ", p.strong(clean(step.Controller)), " worked on ", clean(string(step.Request)), " all the same, it would go so:")
	p.deeds(step)
}

// deeds tells what a step asks, what it changes, and how it ends.
func (p *page) deeds(step core.TraceStep) {
	p.calls(step.Calls)
	for _, change := range step.Changes {
		p.change(change)
	}
	for _, item := range step.Enqueued {
		p.line(2, "queued:  ", clean(item))
	}
	if step.Result != "" {
		p.line(2, "ends:    ", clean(step.Result))
	}
}

// calls tells the calls of a step. When there are many, those that write matter
// most.
func (p *page) calls(calls []core.TraceCall) {
	shown := calls
	if p.elide && len(calls) > callLimit {
		shown = nil
		for _, call := range calls {
			if call.Wrote && len(shown) < callLimit {
				shown = append(shown, call)
			}
		}
	}
	if rest := len(calls) - len(shown); rest > 0 {
		p.line(2, p.faint(fmt.Sprintf("… %s not shown", counted(rest, "call is", "calls are"))))
	}
	for _, call := range shown {
		verb := "calls:   "
		if call.Wrote {
			verb = "writes:  "
		}
		by := ""
		if call.Handler != "" {
			by = " (by the event handler of " + clean(call.Handler) + ")"
		}
		p.line(2, verb, clean(call.Call), p.faint(" → "), clean(call.Response), p.faint(by))
	}
}

// change tells how an object is changed.
func (p *page) change(change core.TraceChange) {
	switch change.Verb {
	case "created":
		var fields []field
		for _, f := range change.Fields {
			fields = append(fields, leaves(f.Path, f.To)...)
		}
		if p.elide && len(fields) > fieldLimit {
			p.line(2, p.after("created: "), clean(change.Key().String()), p.faint(" ("+counted(len(fields), "field", "fields")+")"))
			return
		}
		p.object(2, p.after("created: ")+clean(change.Key().String()), fields)
	case "deleted":
		p.line(2, p.before("deleted: "), clean(change.Key().String()))
	default:
		p.line(2, "changed: ", clean(change.Key().String()))
		shown := change.Fields
		if p.elide && len(shown) > fieldLimit {
			shown = shown[:fieldLimit-1]
		}
		for _, f := range shown {
			path := clean(f.Path)
			if path != "" {
				path += ": "
			}
			p.line(3, path, p.before(p.value(f.From)), " → ", p.after(p.value(f.To)))
		}
		if rest := len(change.Fields) - len(shown); rest > 0 {
			p.line(3, p.faint(fmt.Sprintf("… and %s", counted(rest, "more field", "more fields"))))
		}
	}
}
