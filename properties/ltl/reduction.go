package ltl

import (
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// unreducible returns why all orders of steps are needed to check the claim, in the words of
// [core.Property.Unreducible]; empty if some can be left out.
//
// What a reduction keeps of a run is its fair reordering, in which states follow each other that look alike to the
// atoms, each perhaps more or less often. So the formula must be stutter-invariant, and its atoms must see single
// states. Whether a state is quiescent depends on all that can be done there: two steps may pass through
// a quiescent state in one order and not in the other. A step that is left out may be enabled again and again in
// one of the orders only, so that strong fairness tells them apart; and without fairness a run may neglect for
// ever the very step that the reduction takes first.
func (c *checker) unreducible() string {
	for _, a := range c.atoms {
		switch {
		case a.Step != nil:
			return fmt.Sprintf("the atom %q is about steps", a.Name)
		case a.Graph != nil:
			return fmt.Sprintf("the atom %q is about what can be done in a state", a.Name)
		}
	}
	switch c.fairness {
	case Strong:
		return "strong fairness depends on how often a step is possible"
	case Unfair:
		return "without fairness a run may leave out a step for ever"
	}
	_, reason := c.formula.stutterInvariance()
	return reason
}

// see looks at all that the formula looks at in a state.
func (c *checker) see(s core.State) {
	for _, a := range c.atoms {
		// An atom that has no answer has looked all the same; the judgement says so.
		_, _ = a.in(s)
	}
}
