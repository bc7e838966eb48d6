package reduction

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/stepcache"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// Apart is why states cannot be merged.
type Apart string

// Error implements error.
func (a Apart) Error() string { return string(a) }

// asymmetric says how names are not treated alike.
func asymmetric(format string, args ...any) error {
	return Apart("interchangeable names are not treated alike: " + fmt.Sprintf(format, args...))
}

// Interchange makes what exchanges the names of a system in the states of a machine. It returns nil if the store cannot
// rename.
func Interchange(m *transition.Machine) *state.Interchange {
	store, ok := m.System.Store.(core.Renamer)
	if !ok {
		return nil
	}
	return state.NewInterchange(m.Vocabulary, m.System.Interchangeable, store.Rename, func(item core.Item) (state.Cell, error) {
		a, err := m.Actor(item.Strategy)
		if err != nil {
			return 0, err
		}
		it := m.Item(a, item.Request)
		if it.Standing {
			return 0, fmt.Errorf("%s is a message here and a guarded action there", it)
		}
		return it.Cell, nil
	})
}

// Checker checks that interchangeable names are treated alike: that a step with names exchanged leads where the step
// leads, with names exchanged. It takes the step in all arrangements of the state, and remembers what that depends on:
// cells of the state, with their values. Where they are the same again there is nothing to check.
type Checker struct {
	Walker *Explorer
	// stops reports whether an error only means that the search does not go on behind a step.
	stops func(error) bool
	// Arrangements are all there are, but for the one in which nothing is exchanged, and inverses are what takes them
	// back.
	Arrangements, inverses []state.Arrangement
	// known are the steps that were checked, and seen the invariants, by number.
	known, seen stepcache.Cache[struct{}]
	// Starts are the initial states.
	Starts [][]byte
	// cells is how many there were when the first of these was checked: lists depend on cells that are new.
	cells int
	// taken tells that the step at hand is possible, and behind is where it leads.
	taken  bool
	behind state.Vector
}

// permuted is a step in a state with names exchanged.
type permuted struct {
	item   *transition.Item
	vector state.Vector
}

// NewChecker returns what checks that names are treated alike, by steps of an explorer that learns.
func NewChecker(w *Explorer, stops func(error) bool) *Checker {
	m := &Checker{Walker: w, stops: stops}
	m.Arrangements = w.Symmetry.Arrangements()
	for _, a := range m.Arrangements {
		m.inverses = append(m.inverses, a.Inverse())
	}
	return m
}

// renew forgets what was checked if there are new cells.
func (m *Checker) renew() {
	if cells := m.Walker.Machine.Vocabulary.Cells(); m.cells != cells {
		m.cells = cells
		m.known, m.seen = stepcache.Cache[struct{}]{Room: math.MaxInt}, stepcache.Cache[struct{}]{Room: math.MaxInt}
	}
}

// knows reports whether the step of an item was checked in a state like this.
func (m *Checker) knows(it *transition.Item, vector state.Vector) bool {
	return len(vector) == m.cells && m.known.Find(it.Agent, vector) != nil
}

// check checks the step of an item in a state. The error is an [Apart] if names are not treated alike.
func (m *Checker) check(it *transition.Item, vector state.Vector) error {
	vector = slices.Clone(vector)
	for {
		m.renew()
		trace, err := m.compare(it, vector)
		if err != nil {
			return err
		}
		if m.Walker.Machine.Vocabulary.Cells() == m.cells {
			m.known.Remember(it.Agent, vector, trace)
			return nil
		}
	}
}

// CheckStarts checks that an initial state with names exchanged is an initial state.
func (m *Checker) CheckStarts() error {
	for _, row := range m.Starts {
		for _, a := range m.Arrangements {
			m.Walker.Load(row)
			image, err := m.Walker.Image(m.Walker.Vector, a)
			if err != nil {
				return err
			}
			name := image.AppendRow(nil)
			if !slices.ContainsFunc(m.Starts, func(other []byte) bool { return bytes.Equal(name, other) }) {
				return asymmetric("the initial state is different with names exchanged")
			}
		}
	}
	return nil
}

// compare takes the step in all arrangements, and returns what that depends on.
func (m *Checker) compare(it *transition.Item, vector state.Vector) ([]state.Touch, error) {
	trace, err := m.take(permuted{it, vector})
	if err != nil {
		return nil, err
	}
	taken, behind := m.taken, slices.Clone(m.behind)
	for i, a := range m.Arrangements {
		image, err := m.reflect(it, vector, a)
		if err != nil {
			return nil, err
		}
		other, err := m.take(image)
		if err != nil {
			return nil, err
		}
		if taken != m.taken {
			return nil, asymmetric("%s and %s do not have the same possible steps in the same state with names exchanged", it, image.item)
		}
		if taken {
			if err := m.same(it, behind, image.item, a); err != nil {
				return nil, err
			}
		}
		if trace, err = m.bringBack(trace, other, i, vector); err != nil {
			return nil, err
		}
	}
	return trace, nil
}

// bringBack adds to what something depends on in a state what it depends on in one of the arrangements.
func (m *Checker) bringBack(trace, arranged []state.Touch, arrangement int, vector state.Vector) ([]state.Touch, error) {
	for _, t := range arranged {
		back, err := m.Walker.imageOf(t.Cell, 0, m.inverses[arrangement])
		if err != nil {
			return nil, err
		}
		if !state.Touches(trace, back.Cell) {
			trace = append(trace, state.Touch{Cell: back.Cell, Was: vector.Value(back.Cell)})
		}
	}
	return trace, nil
}

// take takes a step, and returns what it depends on.
func (m *Checker) take(r permuted) ([]state.Touch, error) {
	kind := core.Reconcile
	if r.item.Standing {
		kind = core.Act
	}
	step := transition.Taken{Kind: kind, Actor: r.item.Actor, Item: r.item}
	w := m.Walker
	row := r.vector.AppendRow(nil)
	// What is learned is not traced, so the step is taken once more.
	for _, traced := range []bool{false, true} {
		w.Load(row)
		m.taken, m.behind = false, m.behind[:0]
		w.StepCache.Tracing, w.StepCache.Trace = traced, nil
		err := w.Try(m, step)
		w.StepCache.Tracing = false
		if err != nil {
			return nil, err
		}
	}
	return w.StepCache.Trace, nil
}

// Took implements [transition.Visitor].
func (m *Checker) Took(*transition.Taken) error {
	m.taken = true
	m.behind = append(m.behind[:0], m.Walker.Vector...)
	return nil
}

// Stopped implements [transition.Visitor].
func (m *Checker) Stopped(_ *transition.Taken, err error) error {
	if m.stops(err) {
		return nil
	}
	return err
}

// reflect returns a step with names exchanged.
func (m *Checker) reflect(it *transition.Item, vector state.Vector, a state.Arrangement) (permuted, error) {
	machine := m.Walker.Machine
	image, err := m.Walker.Image(vector, a)
	if err != nil {
		return permuted{}, err
	}
	renaming := m.Walker.Symmetry.Renaming(a)
	actor, err := machine.Actor(renaming(it.Strategy))
	if err != nil {
		return permuted{}, asymmetric("%v", err)
	}
	other := machine.Item(actor, core.Request(renaming(string(it.Request))))
	if other.Standing != it.Standing {
		return permuted{}, asymmetric("only one of %s and %s is always in the work queue", it, other)
	}
	return permuted{other, image}, nil
}

// same checks that the step at hand leads where another one leads, with names exchanged.
func (m *Checker) same(it *transition.Item, behind state.Vector, other *transition.Item, a state.Arrangement) error {
	image, err := m.Walker.Image(behind, a)
	if err != nil {
		return err
	}
	for c := range state.Cell(max(len(image), len(m.behind))) {
		if image.Value(c) != m.behind.Value(c) {
			return asymmetric("%s and %s, in the same state with names exchanged, do not change %s in the same way", it, other, m.Walker.Machine.Vocabulary.Describe(c))
		}
	}
	return nil
}

// Show shows a predicate of that number a state and all that are equal to it up to names, unless it has seen one that
// it cannot tell from it.
func (m *Checker) Show(predicate int, row []byte, look func(core.State)) error {
	for {
		m.renew()
		m.Walker.Load(row)
		if m.seen.Find(predicate, m.Walker.Vector) != nil {
			return nil
		}
		trace, err := m.behold(look)
		if err != nil {
			return err
		}
		if m.Walker.Machine.Vocabulary.Cells() == m.cells {
			m.seen.Remember(predicate, m.Walker.Vector, trace)
			return nil
		}
	}
}

// behold shows a predicate the state of the walker in all arrangements, and returns the cells that it looks at with
// their values in the state.
func (m *Checker) behold(look func(core.State)) ([]state.Touch, error) {
	vocabulary := m.Walker.Machine.Vocabulary
	vector := slices.Clone(m.Walker.Vector)
	show := func(at state.Vector) []state.Touch {
		t := &trace{vocabulary: vocabulary, vector: at}
		look(&recordingState{state.NewLook(vocabulary, at), t})
		return t.touched
	}
	trace := show(vector)
	for i, a := range m.Arrangements {
		image, err := m.Walker.Image(vector, a)
		if err != nil {
			return nil, err
		}
		if trace, err = m.bringBack(trace, show(image), i, vector); err != nil {
			return nil, err
		}
	}
	return trace, nil
}
