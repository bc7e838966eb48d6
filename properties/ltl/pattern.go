package ltl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Pattern is a form of formula that has a name. Documents and findings say it in words of its own, whether it was asked
// for by its name or as a formula.
type Pattern uint8

const (
	noPattern Pattern = iota
	// invariant is G p.
	invariant
	// Eventually is F p.
	Eventually
	// InfinitelyOften is G F p.
	InfinitelyOften
	// EventuallyAlways is F G p.
	EventuallyAlways
	// LeadsTo is G (p -> F q).
	LeadsTo
)

// Property returns the property that the pattern is true of every fair run. [LeadsTo] is about two atoms, the others
// about one, which may have any names; two of a name are the same.
func (p Pattern) Property(name string, fairness Fairness, atoms ...Atom) core.Property {
	operands := make([]*node, len(atoms))
	for i, a := range atoms {
		if err := a.valid(); err != nil {
			return core.Property{Name: name, Mistake: err}
		}
		operands[i] = &node{operator: atom, name: a.Name}
	}
	if len(atoms) == 2 && atoms[0].Name == atoms[1].Name {
		atoms = atoms[:1]
	}
	f := &Formula{root: p.of(operands)}
	f.text = f.String()
	c, err := newChecker(name, f, atoms, fairness)
	if err != nil {
		return core.Property{Name: name, Mistake: err}
	}
	return c.property("")
}

// of returns the formula of the pattern.
func (p Pattern) of(operands []*node) *node {
	one := func(o operator, n *node) *node { return &node{operator: o, left: n} }
	switch first := operands[0]; p {
	case Eventually:
		return one(eventually, first)
	case InfinitelyOften:
		return one(always, one(eventually, first))
	case EventuallyAlways:
		return one(eventually, one(always, first))
	case LeadsTo:
		return one(always, &node{operator: implies, left: first, right: one(eventually, operands[1])})
	}
	panic(fmt.Sprintf("ltl: there is no pattern number %d", p))
}

// pattern returns the pattern of a formula, and what stands in it for p and q, none of which is about other states than
// the one that a run is in.
func (f *Formula) pattern() (Pattern, []*node) {
	below := func(n *node, o operator) *node {
		if n == nil || n.operator != o {
			return nil
		}
		return n.left
	}
	root := f.root
	inner := below(root, always)
	switch {
	case immediate(below(root, eventually)):
		return Eventually, []*node{root.left}
	case immediate(below(below(root, eventually), always)):
		return EventuallyAlways, []*node{root.left.left}
	case immediate(inner):
		return invariant, []*node{inner}
	case immediate(below(inner, eventually)):
		return InfinitelyOften, []*node{inner.left}
	case immediate(below(inner, implies)) && immediate(below(inner.right, eventually)):
		return LeadsTo, []*node{inner.left, inner.right.left}
	}
	return noPattern, nil
}

// immediate reports whether a formula, if it is one, has no temporal operator.
func immediate(n *node) bool {
	temporal := false
	n.walk(func(part *node) { temporal = temporal || slices.Contains(temporalOperators(), part.operator) })
	return n != nil && !temporal
}

func temporalOperators() []operator {
	return []operator{next, eventually, always, until, release, unless, strongRelease}
}

// doc says in a sentence what a formula means.
func (f *Formula) doc(runs Fairness) string {
	pattern, operands := f.pattern()
	switch pattern {
	case invariant:
		return fmt.Sprintf("Always true: %s.", operands[0].plain())
	case Eventually:
		return fmt.Sprintf("Becomes true on every %s: %s.", runs, operands[0].plain())
	case InfinitelyOften:
		return fmt.Sprintf("Becomes true again and again on every %s: %s.", runs, operands[0].plain())
	case EventuallyAlways:
		return fmt.Sprintf("True forever from some point on, on every %s: %s.", runs, operands[0].plain())
	case LeadsTo:
		return fmt.Sprintf("On every %s, whenever this is true: %s; this is true then or becomes true later: %s.", runs, operands[0].plain(), operands[1].plain())
	}
	return fmt.Sprintf("%s is true of every %s.", f, runs)
}

// broken returns the pattern that a lasso breaks as its words say: an invariant in a state, and others by what comes
// again and again.
func (c *checker) broken(l lasso) (Pattern, []*node) {
	pattern, operands := c.formula.pattern()
	stepwise := slices.ContainsFunc(c.atoms, func(a Atom) bool { return a.Step != nil })
	if stepwise || l.doomed != (pattern == invariant) {
		return noPattern, nil
	}
	return pattern, operands
}

// summary says in a sentence how a lasso breaks the formula.
func (c *checker) summary(l lasso) string {
	pattern, operands := c.broken(l)
	switch pattern {
	case invariant:
		return fmt.Sprintf("%s: %q is not true", c.name, operands[0].plain())
	case Eventually:
		return fmt.Sprintf("a run never reaches a state in which %q is true", operands[0].plain())
	case InfinitelyOften:
		return fmt.Sprintf("from some point on, %q is never true again", operands[0].plain())
	case EventuallyAlways:
		return fmt.Sprintf("%q never becomes true permanently", operands[0].plain())
	case LeadsTo:
		return fmt.Sprintf("%s: what should follow never happens", c.name)
	}
	switch {
	case l.doomed:
		return fmt.Sprintf("%s is not true of a run, however it continues", c.formula)
	case len(l.cycle) == 0:
		return fmt.Sprintf("%s is not true of a run that ends", c.formula)
	}
	return fmt.Sprintf("%s is not true of a run that repeats forever", c.formula)
}

// saysAll reports whether the summary says all that there is to say of where atoms are true: it is about one that never
// is.
func (c *checker) saysAll(l lasso) bool {
	pattern, operands := c.broken(l)
	return slices.Contains([]Pattern{invariant, Eventually, InfinitelyOften}, pattern) && operands[0].operator == atom
}

// plain returns a part of a formula as text, an atom without quotes.
func (n *node) plain() string {
	if n.operator == atom {
		return n.name
	}
	var b strings.Builder
	n.print(&b, lowest)
	return b.String()
}
