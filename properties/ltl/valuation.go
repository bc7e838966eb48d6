package ltl

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// valuation tells which atoms of a formula are true where in a graph.
type valuation struct {
	graph core.Graph
	atoms []Atom
	// sets are the states in which atoms about the whole graph are true, nil for other atoms.
	sets []func(core.StateID) bool
	// looks tells that some atom looks at single states, stepwise that some is about steps.
	looks, stepwise bool
}

func newValuation(ctx context.Context, g core.Graph, atoms []Atom) (*valuation, error) {
	v := &valuation{graph: g, atoms: atoms, sets: make([]func(core.StateID) bool, len(atoms))}
	for i, a := range atoms {
		if a.Graph != nil {
			var err error
			if v.sets[i], err = a.Graph(ctx, g); err != nil {
				return nil, err
			}
		}
	}
	v.looks = slices.ContainsFunc(atoms, Atom.looks)
	v.stepwise = slices.ContainsFunc(atoms, func(a Atom) bool { return a.Step != nil })
	return v, nil
}

// unanswered is an atom that has no answer in a state.
type unanswered struct {
	id  core.StateID
	err error
}

func (u *unanswered) Error() string { return u.err.Error() }

// inState returns the atoms that are true in a state. The error is an [*unanswered].
func (v *valuation) inState(id core.StateID) (letter, error) {
	var l letter
	for i, is := range v.sets {
		if is != nil && is(id) {
			l |= 1 << i
		}
	}
	if !v.looks {
		return l, nil
	}
	state := v.graph.State(id)
	for i, a := range v.atoms {
		if !a.looks() {
			continue
		}
		is, err := a.in(state)
		if err != nil {
			return 0, &unanswered{id, err}
		}
		if is {
			l |= 1 << i
		}
	}
	return l, nil
}

// ofStep returns the atoms that are true of a step.
func (v *valuation) ofStep(e core.Edge) letter {
	var l letter
	if v.stepwise {
		for i, a := range v.atoms {
			if a.Step != nil && a.Step(e) {
				l |= 1 << i
			}
		}
	}
	return l
}

// spell returns the word of a run.
func (v *valuation) spell(l lasso) (*lassoWord, error) {
	run := slices.Concat(l.stem, l.cycle)
	var letters []letter
	for _, e := range run {
		now, err := v.inState(e.From)
		if err != nil {
			return nil, err
		}
		letters = append(letters, now|v.ofStep(e))
	}
	if len(l.cycle) == 0 {
		last, err := v.inState(run.End(l.start))
		if err != nil {
			return nil, err
		}
		letters = append(letters, last)
	}
	return &lassoWord{length: len(letters), loop: len(l.stem), holds: func(name string, i int) bool {
		atom := slices.IndexFunc(v.atoms, func(a Atom) bool { return a.Name == name })
		return letters[i]&(1<<atom) != 0
	}}, nil
}
