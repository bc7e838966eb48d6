package explore

import (
	"bytes"
	"math"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// mirror checks that interchangeable names are treated alike: that a step with names exchanged leads where the step leads, with names
// exchanged. It takes the step in all arrangements of the state, and remembers what that depends on: cells of the state, with their
// values. Where they are the same again there is nothing to check.
type mirror struct {
	space  *Space
	walker *walker
	// arrangements are all there are, but for the one in which nothing is exchanged, and inverses are what takes them back.
	arrangements, inverses []state.Arrangement
	// known are the steps that were checked, and seen the invariants, by number.
	known, seen shortcuts
	// starts are the initial states.
	starts [][]byte
	// cells is how many there were when the first of these was checked: lists depend on cells that are new.
	cells int
	// taken tells that the step at hand is possible, and behind is where it leads.
	taken  bool
	behind state.Vector
}

// reflection is a step in a state with names exchanged.
type reflection struct {
	item   *item
	vector state.Vector
}

func newMirror(s *Space) *mirror {
	m := &mirror{space: s, walker: newWalker(s.machine, s.learner)}
	m.arrangements = s.machine.symmetry.Arrangements()
	for _, a := range m.arrangements {
		m.inverses = append(m.inverses, a.Inverse())
	}
	m.renew()
	return m
}

// renew forgets what was checked if there are new cells.
func (m *mirror) renew() {
	if cells := m.walker.machine.vocabulary.Cells(); m.cells != cells {
		m.cells = cells
		m.known, m.seen = shortcuts{room: math.MaxInt}, shortcuts{room: math.MaxInt}
	}
}

// knows tells whether the step of an item was checked in a state like this.
func (m *mirror) knows(it *item, vector state.Vector) bool {
	return len(vector) == m.cells && m.known.find(it.agent, vector) != nil
}

// check checks the step of an item in a state. The error is an [apart] if names are not treated alike.
func (m *mirror) check(it *item, vector state.Vector) error {
	vector = slices.Clone(vector)
	for {
		m.renew()
		trace, err := m.compare(it, vector)
		if err != nil {
			return err
		}
		if m.walker.machine.vocabulary.Cells() == m.cells {
			m.known.remember(it.agent, vector, trace)
			return nil
		}
	}
}

// checkStarts checks that an initial state with names exchanged is an initial state.
func (m *mirror) checkStarts() error {
	for _, row := range m.starts {
		for _, a := range m.arrangements {
			m.walker.load(row)
			image, err := m.walker.image(m.walker.vector, a)
			if err != nil {
				return err
			}
			name := image.AppendRow(nil)
			if !slices.ContainsFunc(m.starts, func(other []byte) bool { return bytes.Equal(name, other) }) {
				return asymmetric("the system does not start the same with names exchanged")
			}
		}
	}
	return nil
}

// compare takes the step in all arrangements, and returns what that depends on.
func (m *mirror) compare(it *item, vector state.Vector) ([]touch, error) {
	trace, err := m.take(reflection{it, vector})
	if err != nil {
		return nil, err
	}
	taken, behind := m.taken, slices.Clone(m.behind)
	for i, a := range m.arrangements {
		image, err := m.reflect(it, vector, a)
		if err != nil {
			return nil, err
		}
		other, err := m.take(image)
		if err != nil {
			return nil, err
		}
		if taken != m.taken {
			return nil, asymmetric("what is possible for %s is not for %s in the same state with names exchanged, or the other way round", it, image.item)
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
func (m *mirror) bringBack(trace, arranged []touch, arrangement int, vector state.Vector) ([]touch, error) {
	for _, t := range arranged {
		back, err := m.walker.imageOf(t.cell, 0, m.inverses[arrangement])
		if err != nil {
			return nil, err
		}
		if !touches(trace, back.Cell) {
			trace = append(trace, touch{cell: back.Cell, was: valueIn(vector, back.Cell)})
		}
	}
	return trace, nil
}

// take takes a step, and returns what it depends on.
func (m *mirror) take(r reflection) ([]touch, error) {
	kind := core.Reconcile
	if r.item.standing {
		kind = core.Act
	}
	step := taken{kind: kind, actor: r.item.actor, item: r.item}
	w := m.walker
	row := r.vector.AppendRow(nil)
	// What is learned is not traced, so the step is taken once more.
	for _, traced := range []bool{false, true} {
		w.load(row)
		m.taken, m.behind = false, m.behind[:0]
		w.shortcuts.tracing, w.shortcuts.trace = traced, nil
		w.tour = tour{walker: w, visitor: m}
		err := w.tour.try(step)
		w.shortcuts.tracing = false
		if err != nil {
			return nil, err
		}
	}
	return w.shortcuts.trace, nil
}

// took implements [visitor].
func (m *mirror) took(*taken) error {
	m.taken = true
	m.behind = append(m.behind[:0], m.walker.vector...)
	return nil
}

// stopped implements [visitor].
func (m *mirror) stopped(_ *taken, err error) error {
	if m.space.stops(err) {
		return nil
	}
	return err
}

// reflect returns a step with names exchanged.
func (m *mirror) reflect(it *item, vector state.Vector, a state.Arrangement) (reflection, error) {
	machine := m.walker.machine
	image, err := m.walker.image(vector, a)
	if err != nil {
		return reflection{}, err
	}
	renaming := machine.symmetry.Renaming(a)
	actor, err := machine.actor(renaming(it.Strategy))
	if err != nil {
		return reflection{}, asymmetric("%v", err)
	}
	other := machine.item(actor, core.Request(renaming(string(it.Request))))
	if other.standing != it.standing {
		return reflection{}, asymmetric("%s is always in the work queue and %s is not, or the other way round", it, other)
	}
	return reflection{other, image}, nil
}

// same checks that the step at hand leads where another one leads, with names exchanged.
func (m *mirror) same(it *item, behind state.Vector, other *item, a state.Arrangement) error {
	image, err := m.walker.image(behind, a)
	if err != nil {
		return err
	}
	for c := range state.Cell(max(len(image), len(m.behind))) {
		if valueIn(image, c) != valueIn(m.behind, c) {
			return asymmetric("%s and %s, in the same state with names exchanged, do not do the same to %s", it, other, m.walker.machine.vocabulary.Describe(c))
		}
	}
	return nil
}

// valueIn returns the value of a cell in a vector that may be shorter.
func valueIn(vector state.Vector, c state.Cell) state.Value {
	if int(c) >= len(vector) {
		return 0
	}
	return vector[c]
}
