package behavior

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Made is a call that a run made, with what it touched.
type Made struct {
	Node     *Node
	Answered *Answered
	// Opaque tells that more was touched than the answer says: event handlers made calls of their own, say.
	Opaque bool
}

// Race returns two calls of a run that were made at the same time and do not commute, so that it matters which of
// them is answered first, and false if there are none. The calls are in the order in which they were answered.
//
// A call that came up right after the answer to another one follows it, as may all that came up before. Calls of which neither
// follows the other were made at the same time. They commute if neither writes what the other reads or writes.
func Race(made []Made) (first, second core.Call, found bool) {
	parents := make([]int, len(made))
	for i, m := range made {
		parents[i] = i - 1
		for parents[i] >= 0 && made[parents[i]].Node.parks(m.Node.Call) {
			parents[i]--
		}
	}
	for j := range made {
		follows := map[int]bool{}
		for i := parents[j]; i >= 0; i = parents[i] {
			follows[i] = true
		}
		for i := range j {
			if !follows[i] && !commute(made[i], made[j]) {
				return made[i].Node.Call, made[j].Node.Call, true
			}
		}
	}
	return nil, nil, false
}

// Alone tells whether a call was made when everything that the run did before had come to its end: nothing else waited for
// an answer, and it came up after the call before was answered.
func (n *Node) Alone(before *Node) bool {
	return len(n.Parked) == 0 && (before == nil || !before.parks(n.Call))
}

// parks tells whether a call waits for its answer while the one of the node is answered.
func (n *Node) parks(call core.Call) bool {
	return slices.ContainsFunc(n.Parked, func(other core.Call) bool { return other.Identity() == call.Identity() })
}

// commute tells whether it does not matter which of two calls is answered first.
func commute(a, b Made) bool {
	if a.Opaque || b.Opaque {
		return len(a.Answered.Writes)+len(b.Answered.Writes) == 0
	}
	return !a.Answered.disturbs(b.Answered) && !b.Answered.disturbs(a.Answered)
}

// disturbs tells whether a call writes what another one reads or writes.
func (a *Answered) disturbs(other *Answered) bool {
	for _, w := range a.Writes {
		for _, also := range other.Writes {
			if also.Cell == w.Cell {
				return true
			}
		}
		if slices.ContainsFunc(other.Reads, func(r Read) bool { return r.sees(w) }) {
			return true
		}
	}
	return false
}

// sees tells whether a read may look at what is written. Which objects of a kind are selected is not looked at.
func (r Read) sees(w Write) bool {
	if r.Listed {
		return r.Kind == w.Key.Kind && (r.Namespace == "" || r.Namespace == w.Key.Namespace)
	}
	return r.Cell == w.Cell
}
