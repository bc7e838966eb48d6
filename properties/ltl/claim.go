package ltl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Claim is a formula that should be true of every run of a system. It is a plain value.
type Claim struct {
	// Name is what reports call the property; empty means the formula.
	Name string
	// Doc says in a sentence what it means; empty means that the formula speaks for itself.
	Doc string
	// Formula is the text of the formula.
	Formula string
	// Atoms are what the formula may speak of, besides those of [BuiltIn].
	Atoms []Atom
	// Fairness is what is assumed of runs.
	Fairness Fairness
}

// Property returns the claim as a property. The error says what is wrong with the claim, with the place
// marked if that is in the formula: no controller has to run to find it.
func (c Claim) Property() (core.Property, error) {
	checker, err := c.checker()
	if err != nil {
		return core.Property{}, err
	}
	return checker.property(c.Doc), nil
}

func (c Claim) checker() (*checker, error) {
	f, err := Parse(c.Formula)
	if err != nil {
		return nil, err
	}
	atoms, err := resolve(f, c.Atoms)
	if err != nil {
		return nil, err
	}
	return newChecker(cmp.Or(c.Name, f.String()), f, atoms, c.Fairness)
}

// checker is a claim made ready.
type checker struct {
	name    string
	formula *Formula
	// atoms are in the order of the formula.
	atoms     []Atom
	fairness  Fairness
	violating *automaton
}

func newChecker(name string, f *Formula, atoms []Atom, fairness Fairness) (*checker, error) {
	if fairness > Unfair {
		return nil, fmt.Errorf("there is no fairness number %d: use Weak, Strong or Unfair", fairness)
	}
	violating, err := translate(f, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return &checker{name, f, atoms, fairness, violating}, nil
}

// property returns the claim as a property that is told by a sentence, if there is one.
func (c *checker) property(doc string) core.Property {
	p := core.Property{
		Name:        c.name,
		Doc:         cmp.Or(doc, c.formula.doc(c.fairness)),
		Assumption:  c.fairness.assumption(),
		Judge:       c.judge,
		Unreducible: c.unreducible(),
	}
	if p.Unreducible == "" {
		p.Sees = c.see
	}
	return p
}

func (c *checker) fair(g core.Graph, step core.Step) bool {
	return c.fairness != Unfair && (g.Fair(step) || g.Promised(step) != nil)
}

// judge implements [core.Property.Judge].
func (c *checker) judge(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	fair := func(step core.Step) bool { return c.fair(g, step) }
	r, err := read(ctx, g, c.atoms, fair)
	var u *unanswered
	switch {
	case errors.As(err, &u):
		return []core.Violation{u.tell(g)}, nil
	case err != nil:
		return nil, err
	}
	l, found, err := c.search(ctx, r)
	if err != nil || !found {
		return nil, err
	}
	l.shorten(func(shorter lasso) bool {
		word, err := r.spell(shorter)
		return err == nil && !word.accepts(c.formula)
	})
	word, err := r.spell(l)
	if err != nil {
		return nil, err
	}
	if err := c.verify(g, l, word); err != nil {
		return nil, err
	}
	return []core.Violation{c.tell(l, word)}, nil
}

// search searches for a run of which the formula is not true, whatever comes once more time passes.
func (c *checker) search(ctx context.Context, r *reading) (lasso, bool, error) {
	l, found, err := c.searchOnce(ctx, r)
	if err != nil || !found || l.doomed || c.fairness == Unfair {
		return l, found, err
	}
	u := &unended{graph: r.graph, renews: map[string]bool{}}
	if unended, err := u.any(ctx, l); !unended || err != nil {
		return l, true, err
	}
	if err := r.leaveOut(ctx, u); err != nil {
		return lasso{}, false, err
	}
	return c.searchOnce(ctx, r)
}

// searchOnce searches for a run of which the formula is not true.
func (c *checker) searchOnce(ctx context.Context, r *reading) (l lasso, found bool, err error) {
	p := newProduct(r, c.violating)
	ends, err := p.ends(ctx, c.fairness == Strong)
	if err != nil || !ends.found {
		return lasso{}, false, err
	}
	return p.lasso(ends, c.fairness == Strong), true, nil
}

// tell turns a state in which an atom has no answer into a violation.
func (u *unanswered) tell(g core.Graph) core.Violation {
	stem, _ := g.Shortest(func(id core.StateID) bool { return id == u.id })
	v := core.Violation{Summary: "the system reaches a state in which " + u.Error(), Stem: stem, State: u.id}
	if len(stem) > 0 {
		v.Controllers = []string{stem[len(stem)-1].Step.Item.Strategy}
	}
	return v
}

// tell turns a lasso with its word into a violation.
func (c *checker) tell(l lasso, w *lassoWord) core.Violation {
	v := core.Violation{Summary: c.summary(l), Stem: l.stem, Cycle: l.cycle, State: l.stem.End(l.start)}
	if len(l.cycle) == 0 && !l.doomed {
		v.Details = []string{"No further step is required there: that state repeats forever."}
	}
	if !c.saysAll(l) {
		v.Details = append(v.Details, c.tellAtoms(l, w)...)
	}
	for _, e := range slices.Concat(l.cycle, l.stem) {
		if !slices.Contains(v.Controllers, e.Step.Item.Strategy) {
			v.Controllers = append(v.Controllers, e.Step.Item.Strategy)
		}
	}
	return v
}

// tellAtoms says of each atom where it is true.
func (c *checker) tellAtoms(l lasso, w *lassoWord) []string {
	where := "In the repeated steps"
	if l.doomed {
		where = "In the last state"
	}
	var lines []string
	for _, name := range c.formula.Atoms() {
		times := 0
		for i := w.loop; i < w.length; i++ {
			if w.holds(name, i) {
				times++
			}
		}
		how := "sometimes"
		switch times {
		case 0:
			how = "never"
		case w.length - w.loop:
			how = "always"
		}
		if l.doomed {
			how = map[bool]string{true: "", false: "not "}[times > 0]
			lines = append(lines, fmt.Sprintf("%s, %q is %strue.", where, name, how))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s, %q is %s true.", where, name, how))
	}
	return lines
}

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
			return fmt.Sprintf("the atom %q is about which steps are possible in a state", a.Name)
		}
	}
	switch c.fairness {
	case Strong:
		return "strong fairness depends on how often a step is possible"
	case Unfair:
		return "without fairness, a run may ignore a step forever"
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
