// Package scc finds the strongly connected components of directed graphs: sets of nodes each of which can be reached
// from each other one, as large as possible. What a run can do for ever, it does within one of them.
//
// The algorithm is that of Tarjan (Depth-first search and linear graph algorithms, SIAM J. Comput. 1972), with a stack
// of its own in place of recursion. Whoever searches a graph says how it is walked by a [Graph], which need not be in
// memory: edges are read one after the other, each once.
//
//	err := scc.Search(ctx, g, func(c scc.Component[core.StateID]) bool {
//		if c.Cyclic {
//			judge(c.Nodes)
//		}
//		return true
//	})
package scc

import "context"

// Graph is a directed graph that is searched. Its nodes are numbers, and need not be known before an edge leads to
// them: memory is taken for all up to the largest. C is a place among the edges from a node, of which the zero value is
// before the first.
type Graph[N ~uint32, C any] interface {
	// Root returns one node to begin with after the other, and false after the last.
	Root() (N, bool)
	// Next returns the next node that an edge from a node leads to, and false after the last. It moves the cursor on.
	Next(node N, at *C) (N, bool)
}

// Component is a strongly connected component. It is valid only during the call that it is handed to.
type Component[N ~uint32] struct {
	// Nodes are its nodes in the order in which they were found.
	Nodes []N
	// Cyclic reports whether there is an edge inside.
	Cyclic bool
	// Has reports whether a node is inside.
	Has func(N) bool
}

// frame is a node on the path of the search.
type frame[N ~uint32, C any] struct {
	node   N
	cursor C
	loops  bool
}

// mark is what is known of a node: its number in the order in which nodes are entered, from 1, and the lowest one of a
// node on the stack that it was seen to lead to.
type mark struct{ index, low uint32 }

// closed is the index of nodes whose component is known.
const closed = ^uint32(0)

// Search calls yield with each component that can be reached from the roots, until it returns false: each after all
// that it leads to. It stops early with the error of the context when that ends.
func Search[N ~uint32, C any](ctx context.Context, g Graph[N, C], yield func(Component[N]) bool) error {
	var marks []mark // by node
	var stack []N
	var path []frame[N, C]
	var entered uint32
	of := func(node N) *mark {
		if more := int(node) + 1 - len(marks); more > 0 {
			marks = append(marks, make([]mark, more)...)
		}
		return &marks[node]
	}
	enter := func(node N) {
		entered++
		marks[node] = mark{entered, entered}
		stack = append(stack, node)
		path = append(path, frame[N, C]{node: node})
	}
	for root, more := g.Root(); more; root, more = g.Root() {
		if of(root).index != 0 {
			continue
		}
		for enter(root); len(path) > 0; {
			if entered%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			top := &path[len(path)-1]
			if to, more := g.Next(top.node, &top.cursor); more {
				switch at := of(to).index; {
				case at == 0:
					enter(to)
				case to == top.node:
					top.loops = true
				case at != closed:
					marks[top.node].low = min(marks[top.node].low, at)
				}
				continue
			}
			done := *top
			path = path[:len(path)-1]
			own, low := marks[done.node].index, marks[done.node].low
			if len(path) > 0 {
				above := &marks[path[len(path)-1].node]
				above.low = min(above.low, low)
			}
			if low != own {
				continue
			}
			first := len(stack) - 1
			for stack[first] != done.node {
				first--
			}
			members := stack[first:]
			goOn := yield(Component[N]{
				Nodes:  members,
				Cyclic: done.loops || len(members) > 1,
				Has: func(node N) bool {
					at := of(node).index
					return at >= own && at != closed
				},
			})
			if !goOn {
				return nil
			}
			for _, member := range members {
				marks[member].index = closed
			}
			stack = stack[:first]
		}
	}
	return ctx.Err()
}

// Targets is a cursor for graphs that know the targets of all edges from a node at once.
type Targets[N ~uint32] struct {
	read bool
	rest []N
}

// Next returns the next of the targets, which are asked for the first time.
func (t *Targets[N]) Next(targets func() []N) (N, bool) {
	if !t.read {
		t.read, t.rest = true, targets()
	}
	if len(t.rest) == 0 {
		return 0, false
	}
	next := t.rest[0]
	t.rest = t.rest[1:]
	return next, true
}
