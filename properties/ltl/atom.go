package ltl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/typo"
)

// Atom gives a name in formulas a meaning. Exactly one of State, Partial, Step and Graph is set.
type Atom struct {
	// Name is what formulas call the atom. If it is not a plain word, they put it in quotes.
	Name string
	// State reports whether the atom is true in a state. It must be a function of what it sees, and is
	// called for each stored state.
	State func(core.State) bool
	// Partial is State for what may have no answer in some states. Its error says why, and a state with one breaks the
	// claim.
	Partial func(core.State) (bool, error)
	// Step reports whether the atom is true of the step that a run takes from where it is. It is false
	// where the run takes no step.
	Step func(core.Edge) bool
	// Graph is called once with the whole graph and returns the states in which the atom is true. It stops early with
	// the error of the context when that ends.
	Graph func(context.Context, core.Graph) (func(core.StateID) bool, error)
}

// BuiltIn returns the atoms that every formula may use:
//
//	quiescent   no work is left that can be done; timers may be set
//	terminal    nothing can happen any more
func BuiltIn() []Atom {
	return []Atom{{Name: "quiescent", Graph: quiescent}, {Name: "terminal", Graph: terminal}}
}

func quiescent(_ context.Context, g core.Graph) (func(core.StateID) bool, error) {
	ids := g.Quiescent()
	return func(id core.StateID) bool {
		_, found := slices.BinarySearch(ids, id)
		return found
	}, nil
}

func terminal(ctx context.Context, g core.Graph) (func(core.StateID) bool, error) {
	quiet, err := quiescent(ctx, g)
	return func(id core.StateID) bool { return quiet(id) && len(g.Edges(id)) == 0 }, err
}

// looks reports whether the atom is about single states.
func (a Atom) looks() bool { return a.State != nil || a.Partial != nil }

// in reports whether an atom about single states is true in one.
func (a Atom) in(s core.State) (bool, error) {
	if a.State != nil {
		return a.State(s), nil
	}
	is, err := a.Partial(s)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false: %w", a.Name, err)
	}
	return is, nil
}

// valid returns an error that says what to change if an atom is not well-formed.
func (a Atom) valid() error {
	meanings := 0
	for _, given := range []bool{a.State != nil, a.Partial != nil, a.Step != nil, a.Graph != nil} {
		if given {
			meanings++
		}
	}
	switch {
	case a.Name == "":
		return fmt.Errorf("an atom has no name: set Atom.Name")
	case meanings != 1:
		return fmt.Errorf("the atom %q must have exactly one of State, Partial, Step and Graph", a.Name)
	}
	return nil
}

// resolve returns the atoms of a formula in their order, or says which are wrong: one that is not
// known, or one of two of a name.
func resolve(f *Formula, given []Atom) ([]Atom, error) {
	known := slices.Concat(BuiltIn(), given)
	names := make([]string, len(known))
	for i, a := range known {
		if err := a.valid(); err != nil {
			return nil, err
		}
		names[i] = a.Name
	}
	occurs := func(name string) *node {
		return f.find(func(n *node) bool { return n.operator == atom && n.name == name })
	}
	for i, name := range names {
		if !slices.Contains(names[:i], name) {
			continue
		}
		what := "two atoms are called %q: give each its own name"
		if slices.ContainsFunc(BuiltIn(), func(a Atom) bool { return a.Name == name }) {
			what = "there is an atom %q already, which is built in: give yours another name"
		}
		if n := occurs(name); n != nil {
			return nil, mistake(f.text, n.at, what, name)
		}
		return nil, fmt.Errorf(what, name)
	}
	var atoms []Atom
	for _, name := range f.Atoms() {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, mistake(f.text, occurs(name).at, "there is no atom %q: %s", name, suggest(name, names))
		}
		atoms = append(atoms, known[i])
	}
	return atoms, nil
}

// suggest says which atoms there are, the most similar one first if there is one.
func suggest(name string, names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	if nearest := typo.Nearest(name, names); nearest != "" {
		return fmt.Sprintf("did you mean %q? Known are %s", nearest, strings.Join(quoted, ", "))
	}
	return "known are " + strings.Join(quoted, ", ")
}
