package explore

import (
	"bytes"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// rebuilder makes rows again that were not kept, by taking the steps that once led to them: from the nearest ancestor
// whose row is at hand.
type rebuilder struct {
	space *Space
	// kept are the rows of the states to which no step leads from their parents, and slots those that were made last;
	// there are none before the first.
	kept  map[core.StateID][]byte
	slots []rebuilt
	// walker takes the steps; its state is not looked at by anybody else.
	walker *reduction.Explorer
	// parent is whose steps are taken, wanted which state is looked for, and found its row.
	parent, wanted core.StateID
	found          []byte
}

// rebuilt is a row that was made again.
type rebuilt struct {
	id  core.StateID
	row []byte
}

// rebuiltRows is how many rows that were made again are at hand.
const rebuiltRows = 1 << 16

func newRebuilder(s *Space) *rebuilder {
	return &rebuilder{space: s, kept: map[core.StateID][]byte{}, walker: s.explorer(nil)}
}

// row returns the row of a state.
func (r *rebuilder) row(id core.StateID) []byte {
	var way []core.StateID
	row := r.known(id)
	for ; row == nil; row = r.known(id) {
		way = append(way, id)
		id = r.space.store.Parent(r.space.store.At(id))
	}
	for _, next := range slices.Backward(way) {
		row = r.child(id, row, next)
		id = next
	}
	return row
}

// known returns a row that is at hand, nil if it is not.
func (r *rebuilder) known(id core.StateID) []byte {
	if row := r.space.store.Encoded(r.space.store.At(id), nil); row != nil {
		return row
	}
	if row := r.kept[id]; row != nil {
		return row
	}
	if r.slots == nil {
		return nil
	}
	if slot := &r.slots[id%rebuiltRows]; slot.id == id {
		return slot.row
	}
	return nil
}

// child takes the steps from a state, and returns the row of one that was first reached from there.
func (r *rebuilder) child(parent core.StateID, row []byte, id core.StateID) []byte {
	if r.slots == nil {
		r.slots = make([]rebuilt, rebuiltRows)
	}
	r.walker.Load(row)
	r.parent, r.wanted, r.found = parent, id, nil
	if _, err := r.walker.Steps(r, nil); err != nil {
		panic("explore: taking the steps of a state again ended with " + err.Error())
	}
	if r.found == nil {
		panic("explore: a stored state has no step to it from its parent")
	}
	return r.found
}

// Stopped implements [transition.Visitor]: what is not known leads to no state that is kept.
func (r *rebuilder) Stopped(*transition.Taken, error) error { return nil }

// Took implements [transition.Visitor]: it keeps the rows of all states that were first reached so, as they are often
// asked for together.
func (r *rebuilder) Took(*transition.Taken) error {
	w := r.walker
	row, tag, known := w.PackKnown(w.Buffer[:0])
	if !known {
		return nil
	}
	w.Buffer = row
	s := r.space
	ref, known := s.store.Find(tag, row)
	if !known {
		return nil
	}
	id := s.store.ID(ref)
	if s.store.Parent(ref) != r.parent {
		return nil
	}
	slot := &r.slots[id%rebuiltRows]
	if slot.id != id { // else a step before led there, and it was the one that was stored
		*slot = rebuilt{id: id, row: bytes.Clone(w.Buffer)}
	}
	if id == r.wanted && r.found == nil {
		r.found = slot.row
	}
	return nil
}
