package properties

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// region is the part of a graph that a search for cycles is restricted to: what can
// be reached from the roots by steps that are accepted without leaving the states that inside accepts. Cut
// states are never part of it, as not all of their steps are known.
type region struct {
	graph  core.Graph
	roots  []core.StateID
	inside func(core.StateID) bool
	// accepts tells which steps are taken; nil if all are.
	accepts func(core.Edge) bool
	// states, if set, are all that the region may have, in order.
	states []core.StateID
}

func (r *region) has(id core.StateID) bool {
	return !r.graph.Cut(id) && (r.inside == nil || r.inside(id)) && r.number(id) >= 0
}

// number numbers the states that the region may have from 0; it is negative for others.
func (r *region) number(id core.StateID) int {
	if r.states == nil {
		return int(id)
	}
	if i, found := slices.BinarySearch(r.states, id); found {
		return i
	}
	return -1
}

// numbers returns how many states are numbered.
func (r *region) numbers() int {
	if r.states == nil {
		return r.graph.States()
	}
	return len(r.states)
}

// component returns the part of the graph that some strongly connected states of the region are.
func (r *region) component(states []core.StateID) *component {
	return newComponent(r.graph, states, r.accepts)
}

// targets returns where steps within the region lead from a state.
func (r *region) targets(id core.StateID) []core.StateID {
	var targets []core.StateID
	edges := r.graph.Edges(id)
	if r.accepts != nil {
		edges = slices.Clone(edges) // to see what a step writes may take others
	}
	for _, e := range edges {
		if r.accepts == nil || r.accepts(e) {
			targets = append(targets, e.To)
		}
	}
	kept := targets[:0]
	for _, to := range targets {
		if r.has(to) {
			kept = append(kept, to)
		}
	}
	return kept
}

// visit is a state on the path of the depth-first search.
type visit struct {
	id      core.StateID
	targets []core.StateID
}

// components calls yield with each strongly connected component of the region, until
// it returns false. The component is valid only during the call.
//
// This is the algorithm of Tarjan (Depth-first search and linear graph algorithms,
// SIAM J. Comput. 1972), with a stack of its own in place of recursion.
func (r *region) components(ctx context.Context, yield func([]core.StateID) bool) error {
	const unseen = 0
	n := r.numbers()
	index := make([]uint32, n) // order of discovery from 1
	low := make([]uint32, n)
	onStack := make([]bool, n)
	var stack []core.StateID
	var path []visit
	var next uint32

	enter := func(id core.StateID) {
		next++
		at := r.number(id)
		index[at], low[at] = next, next
		stack = append(stack, id)
		onStack[at] = true
		path = append(path, visit{id: id, targets: r.targets(id)})
	}
	for _, root := range r.roots {
		if !r.has(root) || index[r.number(root)] != unseen {
			continue
		}
		for enter(root); len(path) > 0; {
			if next%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			top := &path[len(path)-1]
			if len(top.targets) > 0 {
				to := top.targets[0]
				top.targets = top.targets[1:]
				from, at := r.number(top.id), r.number(to)
				switch {
				case index[at] == unseen:
					enter(to)
				case onStack[at]:
					low[from] = min(low[from], index[at])
				}
				continue
			}
			id, at := top.id, r.number(top.id)
			path = path[:len(path)-1]
			if len(path) > 0 {
				above := r.number(path[len(path)-1].id)
				low[above] = min(low[above], low[at])
			}
			if low[at] != index[at] {
				continue
			}
			first := len(stack) - 1
			for stack[first] != id {
				first--
			}
			for _, member := range stack[first:] {
				onStack[r.number(member)] = false
			}
			if !yield(stack[first:]) {
				return nil
			}
			stack = stack[:first]
		}
	}
	return ctx.Err()
}

// every returns the states that the predicate accepts.
func every(g core.Graph, accept func(core.StateID) bool) []core.StateID {
	var states []core.StateID
	for id := range core.StateID(g.States()) {
		if accept(id) {
			states = append(states, id)
		}
	}
	return states
}
