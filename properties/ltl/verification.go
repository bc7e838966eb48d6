package ltl

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// verify checks that a lasso is what it is told to be: made of steps of the graph, fair, and with its word
// a run of which the formula is not true, by the definition of the logic. Nothing that the search worked
// with is used. An error is a fault of this package.
func (c *checker) verify(g core.Graph, l lasso, w *lassoWord) error {
	if err := walk(g, l); err != nil {
		return err
	}
	at := l.stem.End(l.start)
	switch {
	case l.doomed:
	case len(l.cycle) > 0 && !c.fairCycle(g, l.cycle):
		return fmt.Errorf("the cycle that was found against %s is not fair", c.formula)
	case len(l.cycle) == 0 && len(c.possible(g, at)) > 0:
		return fmt.Errorf("the run that was found against %s cannot stay in state %d", c.formula, at)
	}
	if w.accepts(c.formula) {
		return fmt.Errorf("the run that was found against %s does not break it", c.formula)
	}
	return nil
}

// walk checks that a lasso is a run from the start.
func walk(g core.Graph, l lasso) error {
	if !slices.Contains(g.Initial(), l.start) {
		return fmt.Errorf("the run that was found begins in state %d, which is no start", l.start)
	}
	at := l.start
	for _, e := range slices.Concat(l.stem, l.cycle) {
		if e.From != at || !slices.Contains(g.Edges(at), e) {
			return fmt.Errorf("the run that was found has a step %q that state %d does not have", e.Step, at)
		}
		at = e.To
	}
	if at != l.stem.End(l.start) {
		return fmt.Errorf("the cycle that was found does not lead back to where it begins")
	}
	return nil
}

// fairCycle tells whether a run is fair that repeats a cycle for ever.
func (c *checker) fairCycle(g core.Graph, cycle core.Run) bool {
	able := map[core.Step]int{}
	for _, e := range cycle {
		for _, s := range c.possible(g, e.From) {
			able[s]++
		}
	}
	for _, e := range cycle {
		delete(able, e.Step)
	}
	for _, n := range able {
		if c.fairness == Strong || n == len(cycle) {
			return false
		}
	}
	return true
}

// possible returns the fair steps that count as possible in a state.
func (c *checker) possible(g core.Graph, id core.StateID) []core.Step {
	var steps []core.Step
	for _, e := range g.Edges(id) {
		steps = append(steps, e.Step)
	}
	if slices.ContainsFunc(steps, inFlight) {
		steps = append(steps, waiting(g, id)...)
	}
	return slices.DeleteFunc(steps, func(s core.Step) bool { return !c.fair(g, s) })
}
