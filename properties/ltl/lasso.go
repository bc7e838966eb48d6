package ltl

import (
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/internal/fair"
)

// lasso is a run that is accepted.
type lasso struct {
	// start is where the run begins.
	start core.StateID
	stem  core.Run
	// cycle repeats for ever after the stem. If it is empty, the run stays where the stem ends, or, if it is
	// doomed, goes on in any way.
	cycle  core.Run
	doomed bool
	// inParts tells that calls are steps of their own.
	inParts bool
}

// lasso returns an accepted run whose stem takes the least effort.
func (p *product) lasso(e *ends, strong bool) lasso {
	crossings, first, last := p.shortest(func(node uint32) bool { return e.at(node) != noEnd })
	l := lasso{start: p.at(first).id, stem: p.run(p.at(first).id, crossings), doomed: e.at(last) == doomedEnd, inParts: p.inParts}
	if e.at(last) != fairEnd {
		return l
	}
	i := slices.IndexFunc(e.components, func(nodes []uint32) bool { return slices.Contains(nodes, last) })
	var way []crossing
	for _, arc := range fair.Cycle(&fairness{p, strong}, e.components[i], last, p.automaton.marks) {
		way = append(way, crossing{move: move{arc.Label, p.at(arc.To).id}, marks: arc.Marks, node: arc.To})
	}
	l.cycle = p.run(p.at(last).id, way)
	return l
}

// effort is what a run takes: of two runs, the one with fewer faults is less, then the one with
// fewer steps on stale views, then the shorter one. Each has some bits of the number.
type effort uint64

func (e effort) with(l label) effort {
	e++
	if l.late {
		e += 1 << 32
	}
	if l.fault {
		e += 1 << 48
	}
	return e
}

// shortest returns a way from the start to a goal that takes the least effort, with its first and its last place.
// Places wait in a bucket for each effort, of which there are few at a time (Dial, CACM 1969).
func (p *product) shortest(goal func(uint32) bool) (way []crossing, first, last uint32) {
	const unseen = ^effort(0)
	best := slices.Repeat([]effort{unseen}, p.len())
	before := make([]uint32, p.len())
	buckets := map[effort][]uint32{}
	reach := func(node, from uint32, takes effort) {
		if takes < best[node] {
			best[node], before[node] = takes, from
			buckets[takes] = append(buckets[takes], node)
		}
	}
	for _, id := range p.graph.Initial() {
		node := p.find(place{id, uint32(p.automaton.initial)})
		reach(node, node, 0)
	}
	for {
		least := slices.Min(slices.Collect(maps.Keys(buckets)))
		for _, node := range buckets[least] {
			if best[node] != least {
				continue // another way took less
			}
			if goal(node) {
				for first = node; before[first] != first; first = before[first] {
					way = append(way, p.crossing(before[first], first))
				}
				slices.Reverse(way)
				return way, first, node
			}
			var c cursor
			for to, more := p.cross(node, &c); more; to, more = p.cross(node, &c) {
				reach(to.node, node, least.with(p.labels[to.label]))
			}
		}
		delete(buckets, least)
	}
}

// crossing returns the step of the least effort between two places.
func (p *product) crossing(from, to uint32) crossing {
	var best *crossing
	var c cursor
	for step, more := p.cross(from, &c); more; step, more = p.cross(from, &c) {
		if step.node == to && (best == nil || effort(0).with(p.labels[step.label]) < effort(0).with(p.labels[best.label])) {
			best = &step
		}
	}
	return *best
}

// run returns the steps of the graph that crossings from a state stand for.
func (p *product) run(from core.StateID, way []crossing) core.Run {
	var run core.Run
	for _, c := range way {
		edges := p.graph.Edges(from)
		i := slices.IndexFunc(edges, func(e core.Edge) bool {
			return fair.In(from, e.Step) == p.steps[p.labels[c.label].step].Step && e.To == c.to
		})
		run = append(run, edges[i])
		from = c.to
	}
	return run
}

// shorten leaves out the end of the stem where the cycle can be entered before and what is left is still
// accepted: an automaton may be slow to see that a cycle has begun.
func (l *lasso) shorten(accepted func(lasso) bool) {
	for i, e := range l.stem {
		entry := slices.IndexFunc(l.cycle, func(c core.Edge) bool { return c.From == e.From })
		if entry < 0 {
			continue
		}
		shorter := lasso{start: l.start, stem: l.stem[:i], cycle: slices.Concat(l.cycle[entry:], l.cycle[:entry]), inParts: l.inParts}
		if accepted(shorter) {
			*l = shorter
			return
		}
	}
}
