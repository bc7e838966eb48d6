package dot

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"

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
	origin := c.node(start, append([]string{"Start", ""}, few(facts(beginning(finding)), lineLimit, "lines")...)...)
	if finding.Other == nil {
		s := &story{canvas: c, trace: finding.Trace, look: plain, ending: bad, last: "This is what is wrong:", facts: wrapped(finding.Summary, lineWidth)}
		s.draw(origin, 0)
		return c.write(w)
	}
	common := commonSteps(finding.Trace, *finding.Other)
	prefix := &story{canvas: c, trace: finding.Trace, look: plain}
	parting := prefix.drawSteps(origin, 0, common)
	ends := endsOf(finding.Trace, *finding.Other)
	one := &story{canvas: c, trace: finding.Trace, look: first, ending: first, last: "The first run ends with", facts: ends[0]}
	two := &story{canvas: c, trace: *finding.Other, look: second, ending: second, last: "The second run ends with", facts: ends[1]}
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

// commonSteps returns how many steps two runs have in common at their beginning.
func commonSteps(a, b core.Trace) int {
	n := 0
	for n < min(len(a.Steps), len(b.Steps)) && reflect.DeepEqual(a.Steps[n], b.Steps[n]) {
		n++
	}
	return n
}

// endsOf returns what differs at the ends of two runs, as lines for each of them.
func endsOf(a, b core.Trace) [2][]string {
	parts := differing([]map[leaf]any{leavesAfter(a), leavesAfter(b)})
	return [2][]string{facts(parts[0]), facts(parts[1])}
}

// story draws one run.
type story struct {
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
func (s *story) draw(from, position int) {
	if s.trace.CycleStart >= 0 {
		s.drawCycle(from, position)
		return
	}
	end := s.drawSteps(from, position, len(s.trace.Steps))
	s.canvas.edge(end, s.canvas.node(s.ending, few(append([]string{s.last}, s.facts...), lineLimit+4, "lines")...), s.ending)
}

// drawCycle draws the steps from a position on up to those that repeat, and
// these as a circle.
func (s *story) drawCycle(from, position int) {
	steps := s.trace.Steps
	if len(steps) == 0 {
		return
	}
	cycleStart := max(position, s.trace.CycleStart)
	entry := s.drawSteps(from, position, cycleStart)
	s.canvas.nodes[entry].look = again
	s.canvas.nodes[entry].lines = append(s.canvas.nodes[entry].lines, "", repetition(cycleStart+1, len(steps)))

	circle := *s
	circle.look = again
	end := circle.drawSteps(entry, cycleStart, len(steps)-1)
	last := steps[len(steps)-1]
	s.canvas.edge(end, entry, again, append(stepLines(len(steps), last), changeLines(last)...)...)
}

// repetition says which steps repeat.
func repetition(from, to int) string {
	if from == to {
		return fmt.Sprintf("From here step %d repeats for ever", to)
	}
	if from+1 == to {
		return fmt.Sprintf("From here steps %d and %d repeat for ever", from, to)
	}
	return fmt.Sprintf("From here steps %d to %d repeat for ever", from, to)
}

// drawSteps draws the steps between two positions, and returns the node where
// they end.
func (s *story) drawSteps(from, position, end int) int {
	for i := position; i < end; i++ {
		if end-position > longest && i == position+shown {
			skipped := end - position - 2*shown
			gap := s.canvas.node(vague, fmt.Sprintf("%d more steps", skipped))
			s.canvas.edge(from, gap, vague)
			from = gap
			i += skipped
		}
		step := s.trace.Steps[i]
		to := s.canvas.node(s.look, append([]string{fmt.Sprintf("After step %d", i+1), ""}, changeLines(step)...)...)
		s.canvas.edge(from, to, s.look, stepLines(i+1, step)...)
		from = to
	}
	return from
}

// stepLines says who took a step, what it wrote, and how it ended.
func stepLines(number int, step core.TraceStep) []string {
	if step.Kind == "fire" {
		return []string{
			fmt.Sprintf("%d. the timer of %s", number, cut(step.Controller, lineWidth)),
			fmt.Sprintf("    for %s fires", cut(string(step.Request), lineWidth)),
		}
	}
	lines := []string{
		fmt.Sprintf("%d. %s", number, cut(step.Controller, lineWidth)),
		"    works on " + cut(string(step.Request), lineWidth),
	}
	var writes []string
	for _, call := range step.Calls {
		if call.Wrote {
			writes = append(writes, "    "+cut(call.Call, lineWidth))
		}
	}
	lines = append(lines, few(writes, 4, "writes")...)
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
			for _, l := range slices.SortedFunc(maps.Keys(created), leaf.compare) {
				lines = append(lines, fact(l, created[l]))
			}
			continue
		}
		for _, field := range change.Fields {
			path := cut(field.Path, lineWidth)
			if path != "" {
				path += ": "
			}
			lines = append(lines, fmt.Sprintf("    %s%s → %s", path, value(field.From), value(field.To)))
		}
	}
	if len(lines) == 0 {
		lines = []string{"nothing changed"}
	}
	return few(slices.Clip(lines), lineLimit, "lines")
}
