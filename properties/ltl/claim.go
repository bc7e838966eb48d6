package ltl

import (
	"cmp"
	"context"
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
	f := checker.formula
	return core.Property{
		Name:  cmp.Or(c.Name, f.String()),
		Doc:   cmp.Or(c.Doc, fmt.Sprintf("%s is true of every %s.", f, c.Fairness)),
		Judge: checker.judge,
	}, nil
}

// checker is a claim made ready.
type checker struct {
	formula   *Formula
	atoms     []Atom
	fairness  Fairness
	violating *automaton
}

func (c Claim) checker() (*checker, error) {
	f, atoms, err := c.resolve()
	if err != nil {
		return nil, err
	}
	violating, err := translate(f, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return &checker{f, atoms, c.Fairness, violating}, nil
}

func (c Claim) resolve() (*Formula, []Atom, error) {
	if c.Fairness > Unfair {
		return nil, nil, fmt.Errorf("there is no fairness number %d: use Weak, Strong or Unfair", c.Fairness)
	}
	f, err := Parse(c.Formula)
	if err != nil {
		return nil, nil, err
	}
	atoms, err := resolve(f, c.Atoms)
	return f, atoms, err
}

// Unreducible returns why the claim must be checked on the full graph, without a reduction that
// leaves out orders of steps; empty if such a reduction does not change the verdict, provided that it keeps
// what the atoms see. The error is that of [Claim.Property].
func (c Claim) Unreducible() (string, error) {
	f, atoms, err := c.resolve()
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(atoms, func(a Atom) bool { return a.Step != nil })
	if i >= 0 {
		return fmt.Sprintf("the atom %q is about steps, and a reduction leaves out steps", atoms[i].Name), nil
	}
	_, reason := f.stutterInvariance()
	return reason, nil
}

func (c *checker) fair(g core.Graph, step core.Step) bool {
	return c.fairness != Unfair && g.Fair(step)
}

// judge implements [core.Property.Judge].
func (c *checker) judge(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	fair := func(step core.Step) bool { return c.fair(g, step) }
	r, err := read(ctx, g, c.atoms, fair)
	if err != nil {
		return nil, err
	}
	p := newProduct(r, c.violating)
	ends, err := p.ends(ctx, c.fairness == Strong)
	if err != nil || !ends.found {
		return nil, err
	}
	l := p.lasso(ends, c.fairness == Strong)
	l.shorten(func(shorter lasso) bool { return !c.spell(g, shorter).accepts(c.formula) })
	if err := c.verify(g, l); err != nil {
		return nil, err
	}
	return []core.Violation{c.tell(g, l)}, nil
}

// tell turns a lasso into a violation.
func (c *checker) tell(g core.Graph, l lasso) core.Violation {
	v := core.Violation{Stem: l.stem, Cycle: l.cycle, State: l.stem.End(l.start)}
	switch {
	case l.doomed:
		v.Summary = fmt.Sprintf("%s is not true of a run, however it goes on", c.formula)
	case len(l.cycle) == 0:
		v.Summary = fmt.Sprintf("%s is not true of a run that comes to an end", c.formula)
		v.Details = []string{"Nothing more has to happen there: that state repeats for ever."}
	default:
		v.Summary = fmt.Sprintf("%s is not true of a run that repeats for ever", c.formula)
	}
	v.Details = append(v.Details, c.tellAtoms(g, l)...)
	for _, e := range slices.Concat(l.cycle, l.stem) {
		if !slices.Contains(v.Controllers, e.Step.Item.Strategy) {
			v.Controllers = append(v.Controllers, e.Step.Item.Strategy)
		}
	}
	return v
}

// tellAtoms says of each atom where it is true.
func (c *checker) tellAtoms(g core.Graph, l lasso) []string {
	w := c.spell(g, l)
	where := "In the part that repeats"
	if l.doomed {
		where = "At the end of the run"
	}
	var lines []string
	for _, name := range c.formula.Atoms() {
		times := 0
		for i := w.loop; i < w.length; i++ {
			if w.holds(name, i) {
				times++
			}
		}
		how := "now and then"
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
