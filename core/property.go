package core

import (
	"context"
	"errors"
	"fmt"
)

// Property is something that should be true of a system. It is a plain value.
// Exactly one of Invariant and Judge is set, unless there is a Mistake.
type Property struct {
	// Name is what reports call the property, in the user's words.
	Name string
	// Doc says in a sentence or two what the property means.
	Doc string
	// Kinds are those that the property is about, as far as it says. One that the world has not is likely to be
	// misspelt: a check is inconclusive then (see [Knowing]).
	Kinds []Kind

	// Mistake, if not nil, is what is wrong with the text that the property was made of: it is refused before anything
	// runs.
	Mistake error
	// Warning tells that the property is worth knowing of but not required: what breaks it is told, and does not change
	// the verdict of a check.
	Warning bool

	// Assumption is what the verdict on the property takes for granted besides what all do, empty if nothing: a
	// sentence.
	Assumption string

	// Compares tells that Judge compares objects: then it may be called with a graph whose outcomes and effects leave
	// out what does not count. Comparisons are its own rules for that; Judge follows these by itself.
	Compares    bool
	Comparisons []Comparison

	// Invariant is called once for every stored state, in the order of discovery. It returns an
	// error that says what is wrong with the state, nil if nothing is. It must be a
	// function of the objects and the work it sees. A panic counts as an error.
	Invariant func(State) error

	// Judge is called with the finished graph of a search and returns what is
	// wrong with it, the most telling violation first. It stops early with the error of the context
	// when that ends.
	Judge func(context.Context, Graph) ([]Violation, error)

	// Ends tells that Judge looks at nothing but incidents, the quiescent states, what steps there are in loops, and
	// what steps make of single objects. Then orders of steps can be left out that do not show there.
	Ends bool
	// Sees looks at all that Judge looks at in a state. Then orders can be left out that do not show in it. It is
	// called while the graph grows, and may panic. If neither it nor Ends is set, no order is left out.
	Sees func(State)
	// Unreducible says why no order can be left out, if neither Ends nor Sees is set, in words that complete "no order
	// can be left out:". Empty means that Judge may look at every state and step.
	Unreducible string
	// Merges reports whether Judge can do with states that stand for all that differ from them only in which of
	// interchangeable names is which.
	Merges Merging
}

// Merging is what a property has to do with merged states.
type Merging int

const (
	// Apart is for a Judge that may look at anything: no states are merged.
	Apart Merging = iota
	// WithoutLoops is for a Judge that looks at nothing but incidents, quiescent states and loops: states stay merged
	// if there are no loops, as merged ones do not show which are fair.
	WithoutLoops
	// InEnds is for a Judge that looks at nothing but incidents and quiescent states: of these all are shown.
	InEnds
)

// Reducible reports whether some orders of steps can be left out without a difference to the property.
func (p Property) Reducible() bool { return p.Invariant != nil || p.Ends || p.Sees != nil }

// Validate returns an error that says what to change if the property is not
// well-formed.
func (p Property) Validate() error {
	switch {
	case p.Name == "":
		return errors.New("a property has no name: set Property.Name")
	case p.Mistake != nil:
		return fmt.Errorf("property %q: %w", p.Name, p.Mistake)
	case (p.Invariant == nil) == (p.Judge == nil):
		return fmt.Errorf("property %q must have exactly one of Invariant and Judge", p.Name)
	case len(p.Comparisons) > 0 && !p.Compares:
		return fmt.Errorf("property %q has comparisons and compares nothing: set Compares, or leave Comparisons empty", p.Name)
	case p.Unreducible != "" && p.Reducible():
		return fmt.Errorf("property %q says why no order of steps can be left out, although some can: leave Unreducible empty", p.Name)
	}
	return nil
}

// Violation is one way in which a property is broken.
type Violation struct {
	// Summary says in one sentence, in the user's words, what goes wrong.
	Summary string
	// Details are further lines: differences, and what to do about it.
	Details []string
	// Controllers and Fields are those involved, the most important first. A field is
	// written as "kind namespace/name: path".
	Controllers []string
	Fields      []string
	// Stem is a shortest run from an initial state to where it goes wrong.
	Stem Run
	// Cycle, if not empty, is what then repeats for ever: it leads from the end of the stem back to it.
	Cycle Run
	// State is where Stem ends: it matters when Stem is empty and there are several initial states.
	State StateID
	// Other, if not nil, is a second run to compare the first one with, and OtherState where it ends.
	Other      *Run
	OtherState StateID
	// Probe, if set, is a step that is tried at the end of the stem to show what is wrong there. A reconcile need not
	// be in a work queue for that.
	Probe *Step
}
