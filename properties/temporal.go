package properties

import (
	"fmt"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// Predicate says something of a single state. It must be a function of what it
// sees, and is called often.
type Predicate func(core.State) bool

// Always holds if the predicate is true in every state that can be reached (G p).
func Always(name string, p Predicate) core.Property {
	return core.Property{
		Name: name,
		Doc:  "Always true.",
		Invariant: func(s core.State) error {
			if !p(s) {
				return fmt.Errorf("%q is not true", name)
			}
			return nil
		},
	}
}

// Eventually holds if on every fair run from the start the predicate becomes true at
// some point (F p).
func Eventually(name string, p Predicate) core.Property {
	return ltl.Eventually.Property(name, ltl.Weak, ltl.Atom{Name: name, State: p})
}

// InfinitelyOften holds if on every fair run the predicate becomes true again and
// again (G F p).
func InfinitelyOften(name string, p Predicate) core.Property {
	return ltl.InfinitelyOften.Property(name, ltl.Weak, ltl.Atom{Name: name, State: p})
}

// EventuallyAlways holds if on every fair run the predicate is true from some point
// on (F G p).
func EventuallyAlways(name string, p Predicate) core.Property {
	return ltl.EventuallyAlways.Property(name, ltl.Weak, ltl.Atom{Name: name, State: p})
}

// LeadsTo holds if on every fair run, whenever the first predicate is true, the
// second is true then or becomes true later (G(p → F q)).
func LeadsTo(name string, p, q Predicate) core.Property {
	return ltl.LeadsTo.Property(name, ltl.Weak,
		ltl.Atom{Name: "the first predicate", State: p}, ltl.Atom{Name: "the second predicate", State: q})
}
