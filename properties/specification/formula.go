package specification

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/cel"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// Formula returns a property from a formula, under weak fairness, that is called like the formula. A mistake in it is
// an [*ltl.Mistake].
func (t Terms) Formula(text string) (core.Property, error) {
	return t.property(ltl.Claim{Formula: text})
}

// property makes a property of a claim whose formula may use these terms besides the atoms that the claim has.
func (t Terms) property(c ltl.Claim) (core.Property, error) {
	f, err := ltl.Parse(c.Formula)
	if err != nil {
		return core.Property{}, err
	}
	c.Atoms = slices.Concat(t.atoms(c.Atoms), c.Atoms)
	var known []string
	for _, a := range slices.Concat(ltl.BuiltIn(), c.Atoms) {
		known = append(known, a.Name)
	}
	for _, name := range f.Atoms() {
		if bare.MatchString(name) || slices.Contains(known, name) {
			continue
		}
		p, err := cel.Compile(name, t.Types)
		if err != nil {
			from, to := f.Place(name)
			return core.Property{}, inFormula(&ltl.Mistake{Formula: c.Formula, From: from, To: to}, name, known, err)
		}
		c.Atoms = append(c.Atoms, p.Atom(name))
	}
	p, err := c.Property()
	p.Compares = slices.Contains(f.Atoms(), "settled") // nothing changes any more but what does not count
	return p, err
}

// bare is a name that formulas need not put in quotes, and that is no expression worth asking for.
var bare = regexp.MustCompile(`^[\pL_][\pL\pN_.]*$`)

// inFormula completes a mistake of which the place is an atom that is neither a known name nor an expression.
func inFormula(m *ltl.Mistake, expression string, known []string, err error) error {
	var inner *cel.Mistake
	if !errors.As(err, &inner) {
		return err
	}
	m.Message = "invalid expression: " + inner.Message
	if !strings.ContainsAny(expression, "()=<>&|!") {
		quoted := make([]string, len(known))
		for i, name := range known {
			quoted[i] = strconv.Quote(name)
		}
		m.Message = fmt.Sprintf("this is not one of the atoms %s, and not a valid expression: %s", strings.Join(quoted, ", "), inner.Message)
	}
	if strings.HasPrefix(m.Formula[m.From+1:], expression) {
		// Nothing is escaped, so that the place is the same within the quotes.
		m.From, m.To = m.From+1+inner.From, m.From+1+inner.To
	}
	return m
}
