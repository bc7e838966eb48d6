package cel

import (
	"errors"
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// The properties below are made of expressions in the terms of Kubernetes' own kinds; the methods of [Types] know more. A property
// whose expression is wrong carries its mistake, and a check refuses it before anything runs.

// Always holds if the expression is true in every state that can be reached.
func Always(name, expression string) core.Property { return Types{}.Always(name, expression) }

// Eventually holds if on every fair run from the start the expression becomes true at some point.
func Eventually(name, expression string) core.Property { return Types{}.Eventually(name, expression) }

// EventuallyAlways holds if on every fair run the expression is true from some point on.
func EventuallyAlways(name, expression string) core.Property {
	return Types{}.EventuallyAlways(name, expression)
}

// LeadsTo holds if on every fair run, whenever the first expression is true, the second is true then or becomes true later.
func LeadsTo(name, from, to string) core.Property { return Types{}.LeadsTo(name, from, to) }

// Steps holds if the expression is true of every step that changes one of the objects. See [Change] and [CompileChange].
func Steps(name, objects, expression string) core.Property {
	return Types{}.Steps(name, objects, expression)
}

// Always is [Always] with what is known of kinds.
func (t Types) Always(name, expression string) core.Property {
	return t.claim(name, (*Predicate).Always, expression)
}

// Eventually is [Eventually] with what is known of kinds.
func (t Types) Eventually(name, expression string) core.Property {
	return t.claim(name, (*Predicate).Eventually, expression)
}

// EventuallyAlways is [EventuallyAlways] with what is known of kinds.
func (t Types) EventuallyAlways(name, expression string) core.Property {
	return t.claim(name, (*Predicate).EventuallyAlways, expression)
}

// LeadsTo is [LeadsTo] with what is known of kinds.
func (t Types) LeadsTo(name, from, to string) core.Property {
	p, mistakeFrom := Compile(from, t)
	q, mistakeTo := Compile(to, t)
	if err := errors.Join(mistakeFrom, mistakeTo); err != nil {
		return mistaken(name, err)
	}
	return p.LeadsTo(name, q)
}

// Steps is [Steps] with what is known of kinds.
func (t Types) Steps(name, objects, expression string) core.Property {
	c, err := CompileChange(objects, expression, t)
	if err != nil {
		return mistaken(name, err)
	}
	return c.Always(name)
}

func (t Types) claim(name string, property func(*Predicate, string) core.Property, expression string) core.Property {
	p, err := Compile(expression, t)
	if err != nil {
		return mistaken(name, err)
	}
	return property(p, name)
}

// mistaken is a property whose expression is wrong. It is refused before anything runs.
func mistaken(name string, err error) core.Property { return core.Property{Name: name, Mistake: err} }

// Always returns the property that the expression is true in every state that can be reached. A state in which it is neither true
// nor false breaks it, too.
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

// Eventually returns the property that on every fair run from the start the expression becomes true at some point. A state
// that can be reached in which it is neither true nor false breaks it, too.
func (p *Predicate) Eventually(name string) core.Property {
	doc := fmt.Sprintf("Becomes true on every fair run: %s", inline(p.text))
	return assessed(name, doc, func(truth []properties.Predicate) core.Property {
		return properties.Eventually(name, truth[0])
	}, p)
}

// EventuallyAlways returns the property that on every fair run the expression is true from some point on. A state that can be
// reached in which it is neither true nor false breaks it, too.
func (p *Predicate) EventuallyAlways(name string) core.Property {
	doc := fmt.Sprintf("True for ever from some point on, on every fair run: %s", inline(p.text))
	return assessed(name, doc, func(truth []properties.Predicate) core.Property {
		return properties.EventuallyAlways(name, truth[0])
	}, p)
}

// LeadsTo returns the property that on every fair run, whenever the expression is true, the other is true then or becomes true
// later. A state that can be reached in which one of them is neither true nor false breaks it, too.
func (p *Predicate) LeadsTo(name string, other *Predicate) core.Property {
	doc := fmt.Sprintf("On every fair run, whenever this is true: %s; this becomes true later: %s", inline(p.text), inline(other.text))
	return assessed(name, doc, func(truth []properties.Predicate) core.Property {
		return properties.LeadsTo(name, truth[0], truth[1])
	}, p, other)
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
