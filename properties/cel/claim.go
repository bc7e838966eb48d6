package cel

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// The properties below are made of expressions in the terms of Kubernetes' own kinds; the methods of [Types] know more.
// A property whose expression is wrong carries its mistake, and a check refuses it before anything runs.

// Always holds if the expression is true in every state that can be reached.
func Always(name, expression string) core.Property { return Types{}.Always(name, expression) }

// Eventually holds if on every fair run from the start the expression becomes true at some point.
func Eventually(name, expression string) core.Property { return Types{}.Eventually(name, expression) }

// InfinitelyOften holds if on every fair run the expression becomes true again and again.
func InfinitelyOften(name, expression string) core.Property {
	return Types{}.InfinitelyOften(name, expression)
}

// EventuallyAlways holds if on every fair run the expression is true from some point on.
func EventuallyAlways(name, expression string) core.Property {
	return Types{}.EventuallyAlways(name, expression)
}

// LeadsTo holds if on every fair run, whenever the first expression is true, the second is true then or becomes true
// later.
func LeadsTo(name, from, to string) core.Property { return Types{}.LeadsTo(name, from, to) }

// Steps holds if the expression is true of every step that changes one of the objects. See [Change] and
// [CompileChange].
func Steps(name, objects, expression string) core.Property {
	return Types{}.Steps(name, objects, expression)
}

// Always is [Always] with what is known of kinds.
func (t Types) Always(name, expression string) core.Property {
	p, err := Compile(expression, t)
	if err != nil {
		return mistaken(name, err)
	}
	return p.Always(name)
}

// Eventually is [Eventually] with what is known of kinds.
func (t Types) Eventually(name, expression string) core.Property {
	return t.pattern(name, ltl.Eventually, expression)
}

// InfinitelyOften is [InfinitelyOften] with what is known of kinds.
func (t Types) InfinitelyOften(name, expression string) core.Property {
	return t.pattern(name, ltl.InfinitelyOften, expression)
}

// EventuallyAlways is [EventuallyAlways] with what is known of kinds.
func (t Types) EventuallyAlways(name, expression string) core.Property {
	return t.pattern(name, ltl.EventuallyAlways, expression)
}

// LeadsTo is [LeadsTo] with what is known of kinds.
func (t Types) LeadsTo(name, from, to string) core.Property {
	return t.pattern(name, ltl.LeadsTo, from, to)
}

// Steps is [Steps] with what is known of kinds.
func (t Types) Steps(name, objects, expression string) core.Property {
	c, err := CompileChange(objects, expression, t)
	if err != nil {
		return mistaken(name, err)
	}
	return c.Always(name)
}

// pattern returns the property that a pattern is true of every fair run.
func (t Types) pattern(name string, form ltl.Pattern, expressions ...string) core.Property {
	var atoms []ltl.Atom
	var mistakes []error
	for _, expression := range expressions {
		p, err := Compile(expression, t)
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		atoms = append(atoms, p.Atom(""))
	}
	if err := errors.Join(mistakes...); err != nil {
		return mistaken(name, err)
	}
	return form.Property(name, ltl.Weak, atoms...)
}

// mistaken is a property whose expression is wrong. It is refused before anything runs.
func mistaken(name string, err error) core.Property { return core.Property{Name: name, Mistake: err} }

// Always returns the property that the expression is true in every state that can be reached. A state in which it is
// neither true nor false breaks it, too.
func (p *Predicate) Always(name string) core.Property {
	return core.Property{
		Name: name,
		Doc:  fmt.Sprintf("Always true: %s", inline(p.text)),
		Invariant: func(s core.State) error {
			holds, err := p.Holds(s)
			switch {
			case err != nil:
				return unclear(err)
			case !holds:
				return fmt.Errorf("not true: %s%s", inline(p.text), p.witness(s))
			}
			return nil
		},
	}
}

// Atom gives the expression a name in formulas; without one, it is called as it reads. A state that can be reached in
// which it is neither true nor false breaks the formula.
func (p *Predicate) Atom(name string) ltl.Atom {
	return ltl.Atom{Name: cmp.Or(name, inline(p.text)), Partial: func(s core.State) (bool, error) {
		is, err := p.Holds(s)
		var m *Mistake
		if errors.As(err, &m) {
			err = fmt.Errorf("%s: %s", m.place(), m.Message) // the atom is named by whoever tells of it, and reports are in lines
		}
		return is, err
	}}
}

// inline writes an expression in one line.
func inline(expression string) string { return strings.Join(strings.Fields(expression), " ") }

// unclear says in one line why an expression is neither true nor false.
func unclear(err error) error {
	var m *Mistake
	if errors.As(err, &m) {
		return fmt.Errorf("neither true nor false: %s: %s: %s", inline(m.Expression), m.place(), m.Message)
	}
	return err
}
