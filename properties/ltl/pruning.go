package ltl

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core/scc"
)

// The reductions of an automaton keep its language.

// reduce makes the automaton smaller until nothing helps any more.
func (a *automaton) reduce() {
	for {
		before := a.size()
		a.mergeArcs()
		a.prune()
		a.dropMarks()
		a.quotient()
		if a.size() == before {
			return
		}
	}
}

// size is what reductions are measured by.
func (a *automaton) size() [3]int {
	arcs := 0
	for _, s := range a.states {
		arcs += len(s)
	}
	return [3]int{len(a.states), arcs, int(a.marks)}
}

// arcGraph is the states and arcs of an automaton, those arcs left out that keep refuses.
type arcGraph struct {
	*automaton
	roots []int
	keep  func(arc) bool
}

func (g *arcGraph) Root() (uint32, bool) {
	if len(g.roots) == 0 {
		return 0, false
	}
	root := g.roots[0]
	g.roots = g.roots[1:]
	return uint32(root), true
}

func (g *arcGraph) Next(node uint32, c *cursor) (uint32, bool) {
	arcs := g.states[node]
	for int(c.arc) < len(arcs) {
		arc := arcs[c.arc]
		c.arc++
		if g.keep == nil || g.keep(arc) {
			return uint32(arc.to), true
		}
	}
	return 0, false
}

// alive returns from which states of the graph a run is possible that comes by all marks
// again and again, and calls inside for the arcs that such runs may take for ever.
func (g *arcGraph) alive(inside func(*arc)) []bool {
	alive := make([]bool, len(g.states))
	// Components come after all that they lead to. Nothing ends the context.
	_ = scc.Search(context.Background(), g, func(c scc.Component[uint32]) bool {
		var marks uint64
		lives := false
		for _, s := range c.Nodes {
			for _, arc := range g.states[s] {
				switch {
				case g.keep != nil && !g.keep(arc):
				case c.Has(uint32(arc.to)):
					marks |= arc.marks
				default:
					lives = lives || alive[arc.to]
				}
			}
		}
		accepts := c.Cyclic && marks == g.marks
		for _, s := range c.Nodes {
			alive[s] = lives || accepts
			for i := range g.states[s] {
				if accepts && inside != nil && c.Has(uint32(g.states[s][i].to)) {
					inside(&g.states[s][i])
				}
			}
		}
		return true
	})
	return alive
}

// lasting returns in which states a run can be again and again that is accepted.
func (a *automaton) lasting() []bool {
	inside := map[*arc]bool{}
	g := &arcGraph{automaton: a, roots: []int{a.initial}}
	g.alive(func(arc *arc) { inside[arc] = true })
	lasting := make([]bool, len(a.states))
	for s := range a.states {
		for i := range a.states[s] {
			lasting[s] = lasting[s] || inside[&a.states[s][i]]
		}
	}
	return lasting
}

// prune leaves out states that cannot be reached or from which nothing is accepted, and takes marks
// from arcs on which they cannot matter. States are numbered anew, as they are reached.
func (a *automaton) prune() {
	matters := map[*arc]bool{}
	g := &arcGraph{automaton: a, roots: []int{a.initial}}
	alive := g.alive(func(arc *arc) { matters[arc] = true })
	numbers := map[int]int{a.initial: 0}
	order := []int{a.initial}
	var states [][]arc
	for i := 0; i < len(order); i++ {
		var arcs []arc
		for j := range a.states[order[i]] {
			old := &a.states[order[i]][j]
			if !alive[old.to] {
				continue
			}
			kept := *old
			if !matters[old] {
				kept.marks = 0
			}
			to, known := numbers[old.to]
			if !known {
				to = len(order)
				numbers[old.to] = to
				order = append(order, old.to)
			}
			kept.to = to
			arcs = append(arcs, kept)
		}
		states = append(states, arcs)
	}
	a.initial, a.states = 0, states
}

// dropMarks leaves out marks that come again and again whenever some other one does.
func (a *automaton) dropMarks() {
	for drop := uint64(1); drop != 0 && drop <= a.marks; drop <<= 1 {
		if a.marks&drop == 0 {
			continue
		}
		for other := uint64(1); other <= a.marks && other != 0; other <<= 1 {
			if other != drop && a.marks&other != 0 && a.together(other, drop) {
				a.unmark(drop)
				break
			}
		}
	}
	if a.marks != 0 && a.marks&(a.marks-1) == 0 && a.everywhere() {
		a.unmark(a.marks)
	}
}

// together reports whether every arc with one mark has the other one, too.
func (a *automaton) together(one, other uint64) bool {
	return !a.some(func(arc arc) bool { return arc.marks&one != 0 && arc.marks&other == 0 })
}

// everywhere reports whether every arc has all marks.
func (a *automaton) everywhere() bool {
	return !a.some(func(arc arc) bool { return arc.marks != a.marks })
}

func (a *automaton) some(accept func(arc) bool) bool {
	return slices.ContainsFunc(a.states, func(arcs []arc) bool { return slices.ContainsFunc(arcs, accept) })
}

// unmark removes a mark. Bits of others stay where they are.
func (a *automaton) unmark(mark uint64) {
	a.marks &^= mark
	for _, arcs := range a.states {
		for i := range arcs {
			arcs[i].marks &^= mark
		}
	}
}

// mergeArcs makes one arc of two that differ in one atom only, or of which one is not needed.
func (a *automaton) mergeArcs() {
	for s := range a.states {
		a.states[s] = mergedArcs(a.states[s])
	}
}

func mergedArcs(arcs []arc) []arc {
	for i, x := range arcs {
		for j, y := range arcs {
			if i == j || x.to != y.to {
				continue
			}
			if x.on.covers(y.on) && x.marks&y.marks == y.marks {
				return mergedArcs(slices.Delete(slices.Clone(arcs), j, j+1))
			}
			atom := x.on.with ^ y.on.with
			apart := atom == x.on.without^y.on.without && atom != 0 && atom&(atom-1) == 0
			if apart && x.marks == y.marks {
				rest := slices.Clone(arcs)
				rest[i].on = cube{x.on.with &^ atom, x.on.without &^ atom}
				return mergedArcs(slices.Delete(rest, j, j+1))
			}
		}
	}
	return arcs
}
