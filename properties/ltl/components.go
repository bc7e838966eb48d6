package ltl

import "context"

// digraph is a directed graph that is searched. Its nodes are numbered, and need not be
// known before a step leads to them.
type digraph interface {
	// root returns one node to begin with after the other, and false after the last.
	root() (uint32, bool)
	// next returns the next node that a step from a node leads to, and false after the last.
	// It moves the cursor on, which begins as its zero value.
	next(node uint32, c *cursor) (uint32, bool)
}

// cursor is a place among the steps from a node.
type cursor struct {
	row uint32 // how far the steps of a state were read
	arc uint32 // the next arc of the automaton for the step that comes then
}

// component is a strongly connected component.
type component struct {
	// nodes are its nodes in the order in which they were found. They are valid only during the call.
	nodes []uint32
	// moves tells whether there is a step inside.
	moves bool
	// has tells whether a node that was found is inside.
	has func(uint32) bool
}

// visit is a node on the path of the search.
type visit struct {
	node   uint32
	cursor cursor
	loops  bool
}

// closed marks nodes whose component is known.
const closed = ^uint32(0)

// components calls yield with each strongly connected component that can be reached from
// the roots, until it returns false (Tarjan, SIAM J. Comput. 1972, with a stack of its own in
// place of recursion).
func components(ctx context.Context, g digraph, yield func(component) bool) error {
	var index, low []uint32 // by node; index is 0 for nodes that are not entered yet
	var stack []uint32
	var path []visit
	var entered uint32
	indexOf := func(node uint32) uint32 {
		for int(node) >= len(index) {
			index, low = append(index, 0), append(low, 0)
		}
		return index[node]
	}
	enter := func(node uint32) {
		entered++
		index[node], low[node] = entered, entered
		stack = append(stack, node)
		path = append(path, visit{node: node})
	}
	for root, more := g.root(); more; root, more = g.root() {
		if indexOf(root) != 0 {
			continue
		}
		for enter(root); len(path) > 0; {
			if entered%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			top := &path[len(path)-1]
			if to, more := g.next(top.node, &top.cursor); more {
				switch at := indexOf(to); {
				case at == 0:
					enter(to)
				case to == top.node:
					top.loops = true
				case at != closed:
					low[top.node] = min(low[top.node], at)
				}
				continue
			}
			done := *top
			path = path[:len(path)-1]
			own := index[done.node]
			if len(path) > 0 {
				above := path[len(path)-1].node
				low[above] = min(low[above], low[done.node])
			}
			if low[done.node] != own {
				continue
			}
			first := len(stack) - 1
			for stack[first] != done.node {
				first--
			}
			members := stack[first:]
			goOn := yield(component{
				nodes: members,
				moves: done.loops || len(members) > 1,
				has:   func(node uint32) bool { return index[node] >= own && index[node] != closed },
			})
			if !goOn {
				return nil
			}
			for _, member := range members {
				index[member] = closed
			}
			stack = stack[:first]
		}
	}
	return ctx.Err()
}
