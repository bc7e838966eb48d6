package properties

import (
	"context"

	"github.com/orrery-dev/orrery/core"
)

// region is the part of a graph that a search for cycles is restricted to: what can
// be reached from the roots without leaving the states that inside accepts. Cut
// states are never part of it, as not all of their steps are known.
type region struct {
	graph  core.Graph
	roots  []core.StateID
	inside func(core.StateID) bool
}

func (r *region) has(id core.StateID) bool {
	return !r.graph.Cut(id) && (r.inside == nil || r.inside(id))
}

// targets returns where steps within the region lead from a state.
func (r *region) targets(id core.StateID) []core.StateID {
	var targets []core.StateID
	for _, e := range r.graph.Edges(id) {
		targets = append(targets, e.To)
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
	n := r.graph.States()
	index := make([]uint32, n) // order of discovery from 1
	low := make([]uint32, n)
	onStack := make([]bool, n)
	var stack []core.StateID
	var path []visit
	var next uint32

	enter := func(id core.StateID) {
		next++
		index[id], low[id] = next, next
		stack = append(stack, id)
		onStack[id] = true
		path = append(path, visit{id: id, targets: r.targets(id)})
	}
	for _, root := range r.roots {
		if index[root] != unseen || !r.has(root) {
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
				switch {
				case index[to] == unseen:
					enter(to)
				case onStack[to]:
					low[top.id] = min(low[top.id], index[to])
				}
				continue
			}
			id := top.id
			path = path[:len(path)-1]
			if len(path) > 0 {
				above := path[len(path)-1].id
				low[above] = min(low[above], low[id])
			}
			if low[id] != index[id] {
				continue
			}
			first := len(stack) - 1
			for stack[first] != id {
				first--
			}
			for _, member := range stack[first:] {
				onStack[member] = false
			}
			if !yield(stack[first:]) {
				return nil
			}
			stack = stack[:first]
		}
	}
	return ctx.Err()
}
