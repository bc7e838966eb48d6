package explore

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core/behavior"
)

// plan says what is chosen in a run where there is a choice: which of several concurrent calls is answered next, and what goes wrong.
// Without a choice the one with the lowest identity is, and nothing does. Both are in the order of the calls.
type plan struct {
	turns   []pick
	mishaps []mishap
}

// pick is the choice of another one than the first of several concurrent calls.
type pick struct {
	// call is the number of the call, from 0.
	call int
	node *behavior.Node
}

// String says the turn in the user's words.
func (t pick) String() string {
	return fmt.Sprintf("call %d is %q, the %s of %d that wait at the same time", t.call+1, t.node.Call.String(), ordinal(t.node.Turn()+1), len(t.node.Turns))
}

// ordinal returns a number as the place in an order.
func ordinal(n int) string {
	switch n {
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}

// mishap is a fault within a run.
type mishap struct {
	// call is the number of the call that it happens at, from 0.
	call int
	// fault is which of the faults of the call it is; crash if the controller crashes before it.
	fault int
	// node is where the call is made, and after where the last call before it that had an effect was.
	node, after *behavior.Node
}

// crash is the mishap of a controller that crashes before a call, and harmless that nothing goes wrong.
const (
	crash    = -1
	harmless = -2
)

// String says the mishap in the user's words.
func (m mishap) String() string {
	if m.fault == crash {
		return fmt.Sprintf("it crashes after %q and before call %d, %q, and starts again", m.after.Call.String(), m.call+1, m.node.Call.String())
	}
	return fmt.Sprintf("call %d, %q, fails: %s", m.call+1, m.node.Call.String(), m.node.Faults[m.fault].Name)
}

// turn returns the turn of a call that comes at a node.
func (p plan) turn(call int, node *behavior.Node) *behavior.Node {
	for _, t := range p.turns {
		if t.call == call {
			return t.node
		}
	}
	return node
}

// fault returns how a call fails, or crash, or harmless.
func (p plan) fault(call int) int {
	for _, m := range p.mishaps {
		if m.call == call {
			return m.fault
		}
	}
	return harmless
}

// free returns the number of the first call at which something may go wrong besides what is planned: what goes wrong before is
// planned elsewhere.
func (p plan) free() int {
	first := 0
	if n := len(p.mishaps); n > 0 {
		first = p.mishaps[n-1].call + 1
	}
	if n := len(p.turns); n > 0 {
		first = max(first, p.turns[n-1].call)
	}
	return first
}

// failing returns the plan with one more mishap.
func (p plan) failing(m mishap) plan {
	p.mishaps = append(slices.Clip(p.mishaps), m)
	return p
}

// turning returns what is planned up to a turn, with the turn. The first of the turns is chosen without one.
func (p plan) turning(t pick) plan {
	q := plan{}
	for _, earlier := range p.turns {
		if earlier.call < t.call {
			q.turns = append(q.turns, earlier)
		}
	}
	for _, earlier := range p.mishaps {
		if earlier.call < t.call {
			q.mishaps = append(q.mishaps, earlier)
		}
	}
	if t.node != t.node.Point() {
		q.turns = append(q.turns, t)
	}
	return q
}

// equal reports whether two plans are the same. A call that is answered in another order is another node.
func (p plan) equal(other plan) bool {
	return slices.Equal(p.turns, other.turns) && slices.Equal(p.mishaps, other.mishaps)
}

// alike reports whether two plans let the same calls fail in the same ways.
func (p plan) alike(other plan) bool {
	return slices.EqualFunc(p.mishaps, other.mishaps, func(a, b mishap) bool {
		return a.fault == b.fault && a.node.Call.Identity() == b.node.Call.Identity()
	})
}
