package text

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

const (
	// longest is the number of steps of a run that are all told, those that change nothing in a row counted as one. Of
	// a longer run, the first and the last told are.
	longest = 24
	told    = 10
	// objectLimit, fieldLimit and callLimit are how many objects at the start,
	// fields of an object and calls of a step are told. Of a created object with more
	// fields none is: they would bury the story.
	objectLimit = 10
	fieldLimit  = story.ManyFields
	callLimit   = 8
)

// story tells the runs of a finding.
func (p *page) story(finding core.Finding) {
	p.acting = finding.Controllers
	if finding.Other == nil {
		p.begin(finding, finding.Trace)
		p.steps(finding.Trace, 0)
		return
	}
	p.heading(1, "First trace")
	p.begin(finding, finding.Trace)
	p.steps(finding.Trace, 0)
	p.gap()
	common := story.Common(finding.Trace, *finding.Other)
	switch {
	case common > 0:
		p.line(1, p.strong("Second trace"), fmt.Sprintf(", the same up to step %d", common))
	case story.SameStart(finding.Trace, *finding.Other):
		p.line(1, p.strong("Second trace"), ", from the same initial state")
	default:
		p.line(1, p.strong("Second trace"), ", from another initial state")
		p.begin(finding, *finding.Other)
	}
	p.steps(*finding.Other, common)
}

// begin tells how things are at the start of a run: the objects that the finding is about. The fields that the runs
// change are told first, and alone if there are many others.
func (p *page) begin(finding core.Finding, trace core.Trace) {
	p.gap()
	if len(trace.Initial) == 0 {
		p.line(1, "Initial state: no objects")
		p.memory(trace.Memory, "")
		return
	}
	p.line(1, "Initial state:")
	objects, changed := trace.Initial, story.Changed(finding)
	if p.elide {
		if objects = story.About(finding, trace); len(objects) > objectLimit {
			objects = objects[:objectLimit-1]
		}
	}
	for _, object := range objects {
		fields, others := core.Leaves("", object.Fields), 0
		if p.elide {
			fields, others = story.Telling(fields, changed[object.Key()])
		}
		fields, first := story.ChangedFirst(fields, changed[object.Key()])
		p.object(2, clean(object.Key().String()), fields, first, others)
	}
	if rest := len(trace.Initial) - len(objects); rest > 0 {
		p.line(2, p.faint(fmt.Sprintf("… and %s", story.Counted(rest, "other object", "other objects"))))
	}
	p.memory(trace.Memory, "")
}

// steps tells the steps of a run from a position on.
func (p *page) steps(trace core.Trace, position int) {
	if len(trace.Steps) == position {
		p.line(1, "No steps.")
	}
	legs := p.legs(trace, position)
	for i := 0; i < len(legs); i++ {
		if resume := len(legs) - told; p.elide && len(legs) > longest && i == told {
			from, to := legs[i].First, legs[resume].First
			p.gap()
			p.line(1, p.faint(fmt.Sprintf("… %s left out", story.Counted(to-from, "step is", "steps are"))))
			if cycle := trace.CycleStart; cycle >= from && cycle < to {
				p.line(1, p.strong(trace.Repetition()+":"))
			}
			i = resume
		}
		leg, step := legs[i], trace.Steps[legs[i].First]
		p.gap()
		if leg.First == trace.CycleStart {
			p.line(1, p.strong(trace.Repetition()+":"))
			p.gap()
		}
		switch {
		case p.elide && story.Idle(step):
			p.idleSteps(trace, leg)
		case step.Kind == "probe":
			p.probe(step)
		default:
			p.step(leg.First+1, step)
		}
	}
}

// legs groups the steps of a run from a position on that are told at once.
func (p *page) legs(trace core.Trace, position int) []story.Leg {
	if p.elide {
		return story.Legs(trace, position, len(trace.Steps))
	}
	var legs []story.Leg
	for i := position; i < len(trace.Steps); i++ {
		legs = append(legs, story.Leg{First: i, Last: i})
	}
	return legs
}
