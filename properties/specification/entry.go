package specification

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/typo"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/cel"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// entry is a property as a file has it.
type entry struct {
	*section
	terms Terms
	name  string
}

// statements are the fields of which a property has exactly one: what it says.
func statements() []string {
	return []string{"formula", "always", "infinitelyOften", "eventually", "eventuallyAlways", "leadsTo", "steps", "property"}
}

// patterns are the statements that say a pattern of one expression.
func patterns() map[string]ltl.Pattern {
	return map[string]ltl.Pattern{"infinitelyOften": ltl.InfinitelyOften, "eventually": ltl.Eventually, "eventuallyAlways": ltl.EventuallyAlways}
}

func entryFields() []string {
	return append([]string{"name", "description", "severity", "fairness", "atoms"}, statements()...)
}

// property returns the property, and false if there is a mistake in it.
func (e *entry) property() (core.Property, bool) {
	before := len(e.mistakes)
	if e.node.Kind != yaml.MappingNode {
		return core.Property{}, false
	}
	if e.field("name") == nil && e.field("property") == nil {
		e.mistake(e.place(e.node), "the property has no name: add the field name")
	}
	if e.field("name") != nil {
		e.name = e.text("name")
	}
	severity := e.oneOf("severity", "error", "warning")
	fairness := e.oneOf("fairness", "weak", "strong", "none")
	claim := ltl.Claim{Name: e.name, Fairness: map[string]ltl.Fairness{"strong": ltl.Strong, "none": ltl.Unfair}[fairness]}
	said := slices.DeleteFunc(statements(), func(statement string) bool { return e.field(statement) == nil })
	switch len(said) {
	case 0:
		e.mistake(e.place(e.node), "the property has no claim: add one of the fields %s", strings.Join(statements(), ", "))
		return core.Property{}, false
	case 1:
	default:
		e.mistake(e.place(e.node), "a property has exactly one claim, and this one has %s: make one property of each", strings.Join(said, " and "))
		return core.Property{}, false
	}
	if n := e.field("atoms"); n != nil && said[0] != "formula" {
		e.mistake(e.place(n), "only a formula has atoms: leave them out")
	}
	if n := e.field("fairness"); n != nil {
		switch said[0] {
		case "always", "steps":
			e.mistake(e.place(n), "what is always true does not depend on fairness: leave it out")
		case "property":
			e.mistake(e.place(n), "a property of the catalogue says itself what is fair: leave it out")
		}
	}
	p := e.say(said[0], claim)
	p.Doc = cmp.Or(e.text("description"), p.Doc)
	p.Warning = severity == "warning"
	return p, len(e.mistakes) == before
}

// say makes the property of what a field says. If there is a mistake in it, the property is none.
func (e *entry) say(statement string, claim ltl.Claim) core.Property {
	n := e.field(statement)
	switch statement {
	case "formula":
		return e.formula(n, claim)
	case "leadsTo":
		pair := e.pair(n, "leadsTo", "from", "to")
		if from, to := e.expression(pair[0]), e.expression(pair[1]); from != nil && to != nil {
			return ltl.LeadsTo.Property(e.name, claim.Fairness, from.Atom(""), to.Atom(""))
		}
		return core.Property{}
	case "steps":
		return e.steps(e.pair(n, "steps", "of", "always"))
	case "property":
		return e.known(n)
	}
	p := e.expression(n)
	if p == nil {
		return core.Property{}
	}
	if statement == "always" {
		return p.Always(e.name)
	}
	return patterns()[statement].Property(e.name, claim.Fairness, p.Atom(""))
}

// known returns a property of the catalogue.
func (e *entry) known(n *yaml.Node) core.Property {
	text := e.textOf(n)
	if text == "" {
		return core.Property{}
	}
	p, found, err := e.terms.Named(text)
	switch {
	case err != nil:
		e.mistake(e.place(n), "%v", err)
	case !found:
		e.mistake(e.place(n), "there is no property %q: %s", text, suggestion(text))
	}
	p.Name = cmp.Or(e.name, p.Name)
	return p
}

// suggestion says which properties can be asked for by name, the most similar one first if there is one.
func suggestion(name string) string {
	names := properties.Forms()
	for _, p := range properties.Catalogue() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	known := "use one of " + strings.Join(names, "; ")
	if nearest := typo.Nearest(name, names); nearest != "" {
		return fmt.Sprintf("did you mean %q? Or %s", nearest, known)
	}
	return known
}

// pair returns the two fields of a mapping, nil for one that is missing.
func (e *entry) pair(n *yaml.Node, what string, names ...string) [2]*yaml.Node {
	s := e.document.section(n, what, names...)
	var pair [2]*yaml.Node
	for i, name := range names {
		if pair[i] = s.field(name); pair[i] == nil && n.Kind == yaml.MappingNode {
			e.mistake(e.place(n), "%s has no field %q: add it", what, name)
		}
	}
	return pair
}

// steps returns the property that an expression is true of all steps that change an object of a kind.
func (e *entry) steps(pair [2]*yaml.Node) core.Property {
	if pair[0] == nil || pair[1] == nil {
		return core.Property{}
	}
	kind, expression := e.textOf(pair[0]), e.textOf(pair[1])
	if kind == "" || expression == "" {
		return core.Property{}
	}
	change, err := cel.CompileChange(kind, expression, e.terms.Types)
	if err == nil {
		return change.Always(e.name)
	}
	var m *cel.Mistake
	if errors.As(err, &m) && m.Expression == kind {
		e.wrong(pair[0], err)
	} else {
		e.wrong(pair[1], err)
	}
	return core.Property{}
}

// formula returns the property that a formula says.
func (e *entry) formula(n *yaml.Node, claim ltl.Claim) core.Property {
	before := len(e.mistakes)
	if n := e.field("atoms"); n != nil {
		atoms := e.document.section(n, "atoms")
		for i, key := range atoms.keys {
			if p := e.expression(atoms.values[i]); p != nil {
				claim.Atoms = append(claim.Atoms, p.Atom(key.Value))
			}
		}
	}
	if claim.Formula = e.textOf(n); len(e.mistakes) > before {
		return core.Property{}
	}
	p, err := e.terms.property(claim)
	if err == nil {
		return p
	}
	e.wrong(n, err)
	return core.Property{}
}

// expression returns the predicate that an expression says, nil if there is a mistake in it.
func (e *entry) expression(n *yaml.Node) *cel.Predicate {
	if n == nil {
		return nil
	}
	text := e.textOf(n)
	if text == "" {
		return nil
	}
	p, err := cel.Compile(text, e.terms.Types)
	if err == nil {
		return p
	}
	e.wrong(n, err)
	return nil
}

// wrong notes a mistake in a text, with its place within the text if that is known. If the place in the file cannot be
// told, as in a text with escapes, the mistake shows the text as it is read.
func (d *document) wrong(n *yaml.Node, err error) {
	var inFormula *ltl.Mistake
	var inExpression *cel.Mistake
	var from, to int
	var message string
	switch {
	case errors.As(err, &inFormula):
		from, to, message = inFormula.From, inFormula.To, inFormula.Message
	case errors.As(err, &inExpression):
		from, to, message = inExpression.From, inExpression.To, inExpression.Message
	default:
		d.mistake(d.place(n), "%v", err)
		return
	}
	if at, found := d.within(n, from, to); found {
		d.mistake(at, "%s", message)
		return
	}
	d.mistake(d.place(n), "%s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
}
