package explore

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Shortest implements [core.Graph].
func (s *Space) Shortest(accept func(core.StateID) bool) (core.Run, bool) {
	if s.Minimal() {
		for id := range core.StateID(s.States()) {
			if accept(id) {
				return s.ancestry(id), true
			}
		}
		return nil, false
	}
	if s.order.Walks() && s.States() > manyStates {
		return s.nearby(accept)
	}
	return s.nearest(accept)
}

// manyStates is how many states are searched for a shortest run at most, where walks would do that for no other reason.
const manyStates = 20_000

// nearby returns a short run: walks remember the shortest way on which they came to each state.
func (s *Space) nearby(accept func(core.StateID) bool) (core.Run, bool) {
	best := noParent
	for id := range core.StateID(s.States()) {
		if (best == noParent || s.depths.of.at(int(id)) < s.depths.of.at(int(best))) && accept(id) {
			best = id
		}
	}
	if best == noParent {
		return nil, false
	}
	return s.ancestry(best), true
}

// ancestry returns the run by which a state was first reached.
func (s *Space) ancestry(id core.StateID) core.Run {
	var run core.Run
	for {
		parent := s.arena.parent(s.arena.at(id))
		if parent == noParent {
			slices.Reverse(run)
			return run
		}
		// Before a search is over, it may still learn what can be left out.
		edges := s.list(parent, true)
		at := slices.IndexFunc(edges, func(e core.Edge) bool { return e.To == id })
		if at < 0 {
			panic("explore: a stored state has no step to it from its parent")
		}
		run = append(run, edges[at])
		id = parent
	}
}

// disturbs tells whether anything may go wrong or be late in the machine.
func (m *machine) disturbs() bool {
	return m.lags || m.conditions.Crashes > 0 || m.conditions.Failures > 0
}

// effort is what a run takes: of two runs, the one with fewer faults is less, then the one with fewer steps
// on old views, then the shorter one.
type effort struct{ faults, late, steps uint32 }

func (e effort) with(edge core.Edge) effort {
	e.steps++
	if edge.Late {
		e.late++
	}
	if edge.Step.Kind == core.Restart || edge.Step.Detail != "" {
		e.faults++
	}
	return e
}

func (e effort) compare(other effort) int {
	return cmp.Or(cmp.Compare(e.faults, other.faults), cmp.Compare(e.late, other.late), cmp.Compare(e.steps, other.steps))
}

// reached is a state with what the run to it takes.
type reached struct {
	effort
	id core.StateID
}

// agenda are states that were reached, the one that takes the least effort first. It implements [heap.Interface].
type agenda []reached

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	return cmp.Or(a[i].compare(a[j].effort), cmp.Compare(a[i].id, a[j].id)) < 0
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push implements [heap.Interface].
func (a *agenda) Push(next any) { *a = append(*a, next.(reached)) }

// Pop implements [heap.Interface].
func (a *agenda) Pop() any {
	last := len(*a) - 1
	next := (*a)[last]
	*a = (*a)[:last]
	return next
}

// nearest searches what is stored for the run that takes the least effort, as Dijkstra's algorithm does.
func (s *Space) nearest(accept func(core.StateID) bool) (core.Run, bool) {
	into := make(map[core.StateID]core.Edge)
	best := make(map[core.StateID]effort)
	queue := &agenda{}
	for _, id := range s.initial {
		best[id] = effort{}
		heap.Push(queue, reached{id: id})
	}
	for queue.Len() > 0 {
		at := heap.Pop(queue).(reached)
		if at.effort != best[at.id] {
			continue
		}
		if accept(at.id) {
			return s.trail(into, at.id), true
		}
		for _, e := range s.Edges(at.id) {
			takes := at.with(e)
			if known, seen := best[e.To]; !seen || takes.compare(known) < 0 {
				best[e.To], into[e.To] = takes, e
				heap.Push(queue, reached{effort: takes, id: e.To})
			}
		}
	}
	return nil, false
}

// trail returns the run that leads to a state over the edges by which the states were reached.
func (s *Space) trail(into map[core.StateID]core.Edge, id core.StateID) core.Run {
	var run core.Run
	for {
		edge, known := into[id]
		if !known {
			slices.Reverse(run)
			return run
		}
		run = append(run, edge)
		id = edge.From
	}
}
