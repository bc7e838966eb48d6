// Package effort finds the runs of a graph that take the least: of two runs, the one with fewer faults, then the
// one with fewer steps on stale caches, then the shorter one.
package effort

import (
	"cmp"
	"context"
	"slices"

	"github.com/emirpasic/gods/v2/maps/treemap"

	"github.com/orrery-dev/orrery/core"
)

// Effort is what a run takes.
type Effort struct {
	// Faults are crashes and failed calls, Late the steps that were taken on a stale cache, and Steps all steps.
	Faults, Late, Steps uint32
}

// With returns what a run takes that goes on with a step.
func (e Effort) With(edge core.Edge) Effort {
	e.Steps++
	if edge.Late {
		e.Late++
	}
	if edge.Step.Faulty() {
		e.Faults++
	}
	return e
}

// Compare returns a negative number if the run takes less than the other one, and a positive one if it takes more.
func (e Effort) Compare(other Effort) int {
	return cmp.Or(e.CompareDisturbance(other), cmp.Compare(e.Steps, other.Steps))
}

// CompareDisturbance compares what goes wrong or is late, and not how long the runs are.
func (e Effort) CompareDisturbance(other Effort) int {
	return cmp.Or(cmp.Compare(e.Faults, other.Faults), cmp.Compare(e.Late, other.Late))
}

// Graph is what runs are searched in.
type Graph interface {
	States() int
	Initial() []core.StateID
	Edges(core.StateID) []core.Edge
}

// Reach is what was reached by a search, and what that takes at least.
type Reach struct {
	graph   Graph
	allow   func(core.Edge) bool
	reached []bool
	least   []Effort
	// parent is the state before each on a run that takes the least. It is the state itself at the start.
	parent []core.StateID
}

// Search searches a graph by Dijkstra's algorithm, by the steps that are allowed, or by all if allow is nil. It returns
// the states that are accepted and take the least, in the order of their numbers: it goes no further than these. If
// accept is nil, it goes everywhere. When the context ends, it returns what it has.
func Search(ctx context.Context, g Graph, allow func(core.Edge) bool, accept func(core.StateID) bool) (*Reach, []core.StateID) {
	n := g.States()
	r := &Reach{graph: g, allow: allow, reached: make([]bool, n), least: make([]Effort, n), parent: make([]core.StateID, n)}
	queue := newFrontier()
	for _, id := range g.Initial() {
		r.reached[id], r.parent[id] = true, id
		queue.add(Effort{}, id)
	}
	for !queue.Empty() {
		at, states := queue.next()
		if ctx.Err() != nil {
			return r, nil
		}
		var found []core.StateID
		for _, id := range states {
			if accept != nil && accept(id) {
				found = append(found, id)
			}
		}
		if len(found) > 0 {
			return r, found
		}
		for _, id := range states {
			if r.least[id] != at {
				continue // a run was found that takes less
			}
			for _, e := range g.Edges(id) {
				if allow != nil && !allow(e) {
					continue
				}
				if takes := at.With(e); !r.reached[e.To] || takes.Compare(r.least[e.To]) < 0 {
					r.reached[e.To], r.least[e.To], r.parent[e.To] = true, takes, id
					queue.add(takes, e.To)
				}
			}
		}
	}
	return r, nil
}

// Least returns what it takes at least to come to a state that was reached.
func (r *Reach) Least(id core.StateID) Effort { return r.least[id] }

// Run returns a run to a state that takes the least.
func (r *Reach) Run(to core.StateID) core.Run {
	var run core.Run
	for r.parent[to] != to {
		from := r.parent[to]
		edges := r.graph.Edges(from)
		at := slices.IndexFunc(edges, func(e core.Edge) bool {
			return e.To == to && (r.allow == nil || r.allow(e)) && r.least[from].With(e) == r.least[to]
		})
		run = append(run, edges[at])
		to = from
	}
	slices.Reverse(run)
	return run
}

// frontier are states to visit, by what the runs to them take. There are few different efforts.
type frontier struct {
	*treemap.Map[Effort, []core.StateID]
}

func newFrontier() frontier {
	return frontier{treemap.NewWith[Effort, []core.StateID](Effort.Compare)}
}

// add adds a state.
func (f frontier) add(takes Effort, id core.StateID) {
	states, _ := f.Get(takes)
	f.Put(takes, append(states, id))
}

// next removes the states that take the least, in the order of their numbers.
func (f frontier) next() (Effort, []core.StateID) {
	least, states, _ := f.Min()
	f.Remove(least)
	slices.Sort(states)
	return least, states
}
