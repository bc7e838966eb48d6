package properties

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// parting returns two runs that end in different ways and part where that is decided: up to there
// they are one run from which both ends can be reached, and behind it neither can
// reach the end of the other. Of all such pairs it is a shortest. It returns false if
// nothing is ever decided in one step.
func parting(g core.Graph, one, other Outcome) (first, second core.Run, ok bool) {
	from := distancesFrom(g)
	back := reversed(g)
	toOne, toOther := back.distancesTo(one.States), back.distancesTo(other.States)

	best := -1
	var at core.StateID
	var left, right core.Edge
	for id := range core.StateID(g.States()) {
		if from.steps[id] < 0 || toOne[id] < 0 || toOther[id] < 0 {
			continue
		}
		a, foundOne := towards(g, id, toOne, toOther)
		b, foundOther := towards(g, id, toOther, toOne)
		if !foundOne || !foundOther {
			continue
		}
		length := int(from.steps[id] + toOne[a.To] + toOther[b.To])
		if best < 0 || length < best {
			best, at, left, right = length, id, a, b
		}
	}
	if best < 0 {
		return nil, nil, false
	}
	stem := from.run(g, at)
	return descend(g, append(slices.Clone(stem), left), toOne), descend(g, append(stem, right), toOther), true
}

// towards returns the step from a state that leads nearest to one end and to where the
// other end can no longer be reached.
func towards(g core.Graph, id core.StateID, end, away []int32) (step core.Edge, found bool) {
	for _, e := range g.Edges(id) {
		if end[e.To] >= 0 && away[e.To] < 0 && (!found || end[e.To] < end[step.To]) {
			step, found = e, true
		}
	}
	return step, found
}

// descend continues a run by shortest steps to an end.
func descend(g core.Graph, run core.Run, end []int32) core.Run {
	for at := run.End(0); end[at] > 0; at = run.End(at) {
		edges := g.Edges(at)
		next := slices.IndexFunc(edges, func(e core.Edge) bool { return end[e.To] == end[at]-1 })
		run = append(run, edges[next])
	}
	return run
}

// forward is how far states are from the start: -1 if they cannot be reached.
type forward struct {
	steps  []int32
	parent []core.StateID
}

func distancesFrom(g core.Graph) forward {
	f := forward{steps: unreached(g.States()), parent: make([]core.StateID, g.States())}
	var queue []core.StateID
	for _, id := range g.Initial() {
		f.steps[id] = 0
		queue = append(queue, id)
	}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, e := range g.Edges(id) {
			if f.steps[e.To] < 0 {
				f.steps[e.To], f.parent[e.To] = f.steps[id]+1, id
				queue = append(queue, e.To)
			}
		}
	}
	return f
}

// run returns a shortest run to a state.
func (f forward) run(g core.Graph, to core.StateID) core.Run {
	var run core.Run
	for f.steps[to] > 0 {
		edges := g.Edges(f.parent[to])
		run = append(run, edges[slices.IndexFunc(edges, func(e core.Edge) bool { return e.To == to })])
		to = f.parent[to]
	}
	slices.Reverse(run)
	return run
}

// reversal is a graph with its steps turned round: those that lead to a state are the
// sources from its first on, up to the first of the next state.
type reversal struct {
	first   []uint32
	sources []core.StateID
}

func reversed(g core.Graph) reversal {
	n := g.States()
	r := reversal{first: make([]uint32, n+1)}
	for id := range core.StateID(n) {
		for _, e := range g.Edges(id) {
			r.first[e.To+1]++
		}
	}
	for i := range n {
		r.first[i+1] += r.first[i]
	}
	r.sources = make([]core.StateID, r.first[n])
	next := slices.Clone(r.first)
	for id := range core.StateID(n) {
		for _, e := range g.Edges(id) {
			r.sources[next[e.To]] = id
			next[e.To]++
		}
	}
	return r
}

// distancesTo returns how many steps each state is from the nearest of some, -1 if it
// cannot reach any.
func (r reversal) distancesTo(ends []core.StateID) []int32 {
	steps := unreached(len(r.first) - 1)
	queue := slices.Clone(ends)
	for _, id := range queue {
		steps[id] = 0
	}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, source := range r.sources[r.first[id]:r.first[id+1]] {
			if steps[source] < 0 {
				steps[source] = steps[id] + 1
				queue = append(queue, source)
			}
		}
	}
	return steps
}

func unreached(n int) []int32 { return slices.Repeat([]int32{-1}, n) }
