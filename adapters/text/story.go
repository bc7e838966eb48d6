package text

import (
	"fmt"
	"reflect"

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
	p.heading(1, "First trace")
	p.begin(finding.Trace, changedPaths(finding))
	p.steps(finding.Trace, 0)
	p.gap()
	common := commonSteps(finding.Trace, *finding.Other)
	switch {
	case common > 0:
		p.line(1, p.strong("Second trace"), fmt.Sprintf(", the same up to step %d", common))
	case sameStart(finding.Trace, *finding.Other):
		p.line(1, p.strong("Second trace"), ", from the same initial state")
	default:
		p.line(1, p.strong("Second trace"), ", from another initial state")
		p.begin(*finding.Other, changedPaths(finding))
	}
	p.steps(*finding.Other, common)
}

func sameStart(a, b core.Trace) bool {
	return reflect.DeepEqual(a.Initial, b.Initial) && reflect.DeepEqual(a.Memory, b.Memory)
}

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
// changes are told first, and alone if there are many others.
func (p *page) begin(trace core.Trace, changed map[core.Key][]string) {
	p.gap()
	if len(trace.Initial) == 0 {
		p.line(1, "Initial state: no objects")
		p.memory(trace.Memory, "")
		return
	}
	p.line(1, "Initial state:")
	objects := trace.Initial
	if p.elide && len(objects) > objectLimit {
		objects = objects[:objectLimit-1]
	}
	for _, object := range objects {
		fields, first := sortedFirst(leaves("", object.Fields), changed[object.Key()])
		p.object(2, clean(object.Key().String()), fields, first)
	}
	if rest := len(trace.Initial) - len(objects); rest > 0 {
		p.line(2, p.faint(fmt.Sprintf("… and %s", counted(rest, "more object", "more objects"))))
	}
	p.memory(trace.Memory, "")
}

// steps tells the steps of a run from a position on.
func (p *page) steps(trace core.Trace, position int) {
	if len(trace.Steps) == position {
		p.line(1, "No steps.")
	}
	skipping := p.elide && len(trace.Steps)-position > longest
	for i := position; i < len(trace.Steps); i++ {
		if i == trace.CycleStart {
			p.gap()
			p.line(1, p.strong(trace.Repetition()+":"))
		}
		if skipped := len(trace.Steps) - position - 2*told; skipping && i == position+told {
			p.gap()
			p.line(1, p.faint(fmt.Sprintf("… %s left out", counted(skipped, "step is", "steps are"))))
			if cycle := trace.CycleStart; cycle > i && cycle < i+skipped {
				p.line(1, p.strong(trace.Repetition()+":"))
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
