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

// mark is what is known of a node: its number in the order in which nodes are entered, from 1, and the lowest one of a node on the
// stack that it was seen to lead to.
type mark struct{ index, low uint32 }

// closed is the index of nodes whose component is known.
const closed = ^uint32(0)

// components calls yield with each strongly connected component that can be reached from
// the roots, until it returns false (Tarjan, SIAM J. Comput. 1972, with a stack of its own in
// place of recursion).
func components(ctx context.Context, g digraph, yield func(component) bool) error {
	var marks []mark // by node
	var stack []uint32
	var path []visit
	var entered uint32
	of := func(node uint32) *mark {
		if more := int(node) + 1 - len(marks); more > 0 {
			marks = append(marks, make([]mark, more)...)
		}
		return &marks[node]
	}
	enter := func(node uint32) {
		entered++
		marks[node] = mark{entered, entered}
		stack = append(stack, node)
		path = append(path, visit{node: node})
	}
	for root, more := g.root(); more; root, more = g.root() {
		if of(root).index != 0 {
			continue
		}
		for enter(root); len(path) > 0; {
			if entered%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			top := &path[len(path)-1]
			if to, more := g.next(top.node, &top.cursor); more {
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
			goOn := yield(component{
				nodes: members,
				moves: done.loops || len(members) > 1,
				has: func(node uint32) bool {
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

// nodeSet is a set of nodes, one bit each.
type nodeSet struct{ words []uint64 }

// add adds a node, and tells whether it was not there.
func (s *nodeSet) add(node uint32) bool {
	if more := int(node/64) + 1 - len(s.words); more > 0 {
		s.words = append(s.words, make([]uint64, more)...)
	}
	word, bit := &s.words[node/64], uint64(1)<<(node%64)
	added := *word&bit == 0
	*word |= bit
	return added
}
