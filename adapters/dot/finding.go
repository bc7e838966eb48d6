package dot

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

const (
	// longest is the number of steps of a run that are drawn one by one. Of a longer
	// run, the first and the last shown are.
	longest = 30
	shown   = 12
)

// Finding draws the story of a finding from top to bottom: a node for every
// state, with what has just changed, and an edge for every step, with who took
// it. What repeats for ever is drawn as a circle. If the finding compares two runs,
// they part where they really do.
func Finding(w io.Writer, finding core.Finding) error {
	c := newCanvas(wrapped(fmt.Sprintf("Finding %d: %s", finding.ID, finding.Summary), 90))
	origin := c.node(start, slices.Concat([]string{"Initial state", ""}, few(facts(beginning(finding)), lineLimit, "lines"), memoryLines(finding.Trace.Memory))...)
	if finding.Other == nil {
		s := &run{canvas: c, trace: finding.Trace, look: plain, ending: bad, last: "What is wrong:", facts: wrapped(finding.Summary, lineWidth)}
		s.draw(origin, 0)
		return c.write(w)
	}
	common := story.Common(finding.Trace, *finding.Other)
	prefix := &run{canvas: c, trace: finding.Trace, look: plain}
	parting := prefix.drawSteps(origin, 0, common)
	ends := endsOf(finding.Trace, *finding.Other)
	one := &run{canvas: c, trace: finding.Trace, look: first, ending: first, last: "Final state of the first trace", facts: ends[0]}
	two := &run{canvas: c, trace: *finding.Other, look: second, ending: second, last: "Final state of the second trace", facts: ends[1]}
	one.draw(parting, common)
	two.draw(parting, common)
	return c.write(w)
}

// beginning returns the leaves at the start that the story changes, and all if it
// changes none.
func beginning(finding core.Finding) map[leaf]any {
	all := leavesOf(finding.Trace.Initial)
	kept := maps.Clone(all)
	steps := finding.Trace.Steps
	if finding.Other != nil {
		steps = slices.Concat(steps, finding.Other.Steps)
	}
	for _, step := range steps {
		for _, change := range step.Changes {
			for _, field := range change.Fields {
				removeLeaves(kept, change.Key(), field.Path)
			}
		}
	}
	if len(kept) == len(all) {
		return all
	}
	maps.DeleteFunc(all, func(l leaf, _ any) bool { _, unchanged := kept[l]; return unchanged })
	return all
}

// endsOf returns what differs at the ends of two runs, as lines for each of them.
func endsOf(a, b core.Trace) [2][]string {
	parts := differing([]map[leaf]any{leavesAfter(a), leavesAfter(b)})
	return [2][]string{facts(parts[0]), facts(parts[1])}
}

// run draws one run.
type run struct {
	canvas *canvas
	trace  core.Trace
	// look is the look of the steps, ending that of the last node.
	look, ending look
	// last is the heading of the last node, and facts are the lines that it shows
	// besides what has just changed.
	last  string
	facts []string
}

// draw draws the steps from a position on, which start at a node.
func (s *run) draw(from, position int) {
	if s.trace.CycleStart >= 0 {
		s.drawCycle(from, position)
		return
	}
	steps := s.trace.Steps
	if last := len(steps) - 1; last >= position && isProbe(steps[last]) {
		end := s.drawSteps(from, position, last)
		wrong := s.canvas.node(s.ending, append([]string{s.last}, s.facts...)...)
		s.canvas.edge(end, wrong, s.ending, "Quiescent")
		probed := s.canvas.node(vague, append([]string{"After that", ""}, changeLines(steps[last])...)...)
		s.canvas.edge(wrong, probed, vague, append([]string{"If it reconciled now:"}, probeLines(steps[last])...)...)
		return
	}
	end := s.drawSteps(from, position, len(steps))
	s.canvas.edge(end, s.canvas.node(s.ending, few(append([]string{s.last}, s.facts...), lineLimit+4, "lines")...), s.ending)
}

// isProbe reports whether a step was tried at the end of a run to show what is wrong
// there.
func isProbe(step core.TraceStep) bool { return step.Kind == "probe" }

// drawCycle draws the steps from a position on up to those that repeat, and
// these as a circle.
func (s *run) drawCycle(from, position int) {
	steps := s.trace.Steps
	if len(steps) == 0 {
		return
	}
	cycleStart := max(position, s.trace.CycleStart)
	entry := s.drawSteps(from, position, cycleStart)
	s.canvas.nodes[entry].look = again
	s.canvas.nodes[entry].lines = append(s.canvas.nodes[entry].lines, "", s.trace.Repetition())

	circle := *s
	circle.look = again
	end := circle.drawSteps(entry, cycleStart, len(steps)-1)
	last := steps[len(steps)-1]
	s.canvas.edge(end, entry, again, append(stepLines(len(steps), last), changeLines(last)...)...)
}

// drawSteps draws the steps between two positions, and returns the node where
// they end.
func (s *run) drawSteps(from, position, end int) int {
	legs := story.Legs(s.trace, position, end)
	for i := 0; i < len(legs); i++ {
		if resume := len(legs) - shown; len(legs) > longest && i == shown {
			skipped := legs[resume].First - legs[i].First
			gap := s.canvas.node(vague, fmt.Sprintf("%d more steps", skipped))
			s.canvas.edge(from, gap, vague)
			from = gap
			i = resume
		}
		to := s.canvas.node(s.look, append([]string{fmt.Sprintf("After step %d", legs[i].Last+1), ""}, changeLines(s.trace.Steps[legs[i].Last])...)...)
		s.canvas.edge(from, to, s.look, s.legLines(legs[i])...)
		from = to
	}
	return from
}

// legLines says what happens in a leg.
func (s *run) legLines(l story.Leg) []string {
	if l.First == l.Last {
		return stepLines(l.First+1, s.trace.Steps[l.First])
	}
	var lines []string
	for i := l.First; i <= l.Last; i++ {
		step := s.trace.Steps[i]
		lines = append(lines, cut(fmt.Sprintf("%d. %s %s", i+1, step.Controller, deed(step)), lineWidth))
	}
	return few(lines, lineLimit, "steps")
}
