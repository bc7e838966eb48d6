package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// onlooker is a state that takes note of the cells that a predicate looks at.
type onlooker struct {
	state.Look
	vocabulary *state.Vocabulary
	vector     state.Vector
	trace      []touch
}

var _ core.State = (*onlooker)(nil)

func (o *onlooker) see(c state.Cell) {
	if !touches(o.trace, c) {
		o.trace = append(o.trace, touch{cell: c, was: valueIn(o.vector, c)})
	}
}

// Get implements [core.State]. An object that was never met has a cell from now on.
func (o *onlooker) Get(key core.Key) core.Content {
	o.see(o.vocabulary.Object(key))
	return o.Look.Get(key)
}

// List implements [core.State].
func (o *onlooker) List(kind core.Kind, namespace string) []core.Object {
	for _, c := range o.vocabulary.Kind(kind) {
		o.see(c)
	}
	return o.Look.List(kind, namespace)
}

// Objects returns all objects. It is not in [core.State], but a predicate may find it there.
func (o *onlooker) Objects() []core.Object {
	for c := range state.Cell(o.vocabulary.Cells()) {
		if _, isObject := o.vocabulary.Key(c); isObject {
			o.see(c)
		}
	}
	return o.Look.Objects()
}

// Work implements [core.State].
func (o *onlooker) Work() []core.Item {
	o.seeItems()
	return o.Look.Work()
}

// InFlight implements [core.State].
func (o *onlooker) InFlight() []core.Item {
	o.seeItems()
	return o.Look.InFlight()
}

// Timers implements [core.State].
func (o *onlooker) Timers() []core.Item {
	o.seeItems()
	return o.Look.Timers()
}

func (o *onlooker) seeItems() {
	for c := range state.Cell(o.vocabulary.Cells()) {
		if _, isItem := o.vocabulary.ItemAt(c); isItem {
			o.see(c)
		}
	}
}

// inspect checks the invariants in all states that a new one stands for, unless it was done for one with which they cannot
// tell it from.
func (m *mirror) inspect(id core.StateID, row []byte) error {
	s := m.space
	for i := range s.invariants {
		inv := &s.invariants[i]
		for !inv.broken {
			m.renew()
			m.walker.load(row)
			if m.seen.find(i, m.walker.vector) != nil {
				break
			}
			trace, err := m.behold(inv, id, row)
			if err != nil {
				return err
			}
			if m.walker.machine.vocabulary.Cells() == m.cells {
				m.walker.load(row)
				m.seen.remember(i, m.walker.vector, trace)
				break
			}
		}
	}
	return nil
}

// behold checks an invariant in all arrangements of a state, and returns the cells that it looks at with their values in the state.
func (m *mirror) behold(inv *invariant, id core.StateID, row []byte) ([]touch, error) {
	vocabulary := m.walker.machine.vocabulary
	m.walker.load(row)
	vector := slices.Clone(m.walker.vector)
	look := func(at state.Vector) []touch {
		o := &onlooker{Look: state.NewLook(vocabulary, at), vocabulary: vocabulary, vector: at}
		if err := judge(inv.property, o); err != nil && !inv.broken {
			inv.broken, inv.state, inv.err = true, id, err
		}
		return o.trace
	}
	trace := look(vector)
	for i, a := range m.arrangements {
		image, err := m.walker.image(vector, a)
		if err != nil {
			return nil, err
		}
		if trace, err = m.bringBack(trace, look(image), i, vector); err != nil {
			return nil, err
		}
	}
	return trace, nil
}
