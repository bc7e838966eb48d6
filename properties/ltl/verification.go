package ltl

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/internal/fair"
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
	case len(l.cycle) > 0 && !c.fairCycle(g, l):
		return fmt.Errorf("the cycle that was found against %s is not fair", c.formula)
	case len(l.cycle) == 0 && len(c.possible(g, at, l.inParts)) > 0:
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

// fairCycle reports whether a run is fair that repeats the cycle of a lasso for ever.
func (c *checker) fairCycle(g core.Graph, l lasso) bool {
	able := map[fair.Step]int{}
	for _, e := range l.cycle {
		for _, s := range c.possible(g, e.From, l.inParts) {
			able[fair.In(e.From, s)]++
		}
	}
	for _, e := range l.cycle {
		delete(able, fair.In(e.From, e.Step))
	}
	for step, n := range able {
		if c.fairness == Strong || fair.Recurs(step) || n == len(l.cycle) {
			return false
		}
	}
	return true
}

// possible returns the fair steps that count as possible in a state.
func (c *checker) possible(g core.Graph, id core.StateID, inParts bool) []core.Step {
	assumed := func(s core.Step) bool { return c.fair(g, s) }
	var steps []core.Step
	for _, e := range g.Edges(id) {
		steps = append(steps, e.Step)
	}
	return append(slices.DeleteFunc(steps, func(s core.Step) bool { return !assumed(s) }), fair.Waiting(g, id, inParts, assumed)...)
}

// lassoWord is an infinite word: positions 0 to length-1, of which the last is followed
// by loop.
type lassoWord struct {
	length, loop int
	// holds reports whether an atom is true at a position.
	holds func(name string, position int) bool
}

// accepts reports whether the formula is true of the word, by the definition of the
// logic: each operator is the least or the greatest solution of its unfolding.
func (w *lassoWord) accepts(f *Formula) bool { return w.evaluate(f.root)[0] }

// evaluate returns where a part of a formula is true.
func (w *lassoWord) evaluate(n *node) []bool {
	if n == nil {
		return nil
	}
	left, right := w.evaluate(n.left), w.evaluate(n.right)
	switch n.operator {
	case next:
		return w.at(func(i int) bool { return left[w.after(i)] })
	case eventually:
		return w.solve(false, func(i int, later bool) bool { return left[i] || later })
	case always:
		return w.solve(true, func(i int, later bool) bool { return left[i] && later })
	case until:
		return w.solve(false, func(i int, later bool) bool { return right[i] || left[i] && later })
	case unless:
		return w.solve(true, func(i int, later bool) bool { return right[i] || left[i] && later })
	case release:
		return w.solve(true, func(i int, later bool) bool { return right[i] && (left[i] || later) })
	case strongRelease:
		return w.solve(false, func(i int, later bool) bool { return right[i] && (left[i] || later) })
	}
	return w.at(func(i int) bool {
		switch n.operator {
		case constTrue:
			return true
		case atom:
			return w.holds(n.name, i)
		case not:
			return !left[i]
		case and:
			return left[i] && right[i]
		case or:
			return left[i] || right[i]
		case implies:
			return !left[i] || right[i]
		case iff:
			return left[i] == right[i]
		}
		return false
	})
}

func (w *lassoWord) after(i int) int {
	if i == w.length-1 {
		return w.loop
	}
	return i + 1
}

func (w *lassoWord) at(value func(i int) bool) []bool {
	values := make([]bool, w.length)
	for i := range values {
		values[i] = value(i)
	}
	return values
}

// solve starts with one value everywhere and unfolds until nothing changes.
func (w *lassoWord) solve(start bool, unfold func(i int, later bool) bool) []bool {
	values := w.at(func(int) bool { return start })
	for changed := true; changed; {
		changed = false
		for i := w.length - 1; i >= 0; i-- {
			if v := unfold(i, values[w.after(i)]); v != values[i] {
				values[i], changed = v, true
			}
		}
	}
	return values
}
