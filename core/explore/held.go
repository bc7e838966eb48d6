package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// ties are the objects of which a step does more than its calls say, where views and runs in flight hold versions of objects from
// one step to the next.
type ties struct {
	// held are those of which its run comes to hold versions, or lets go of them.
	held []state.Cell
	// settled are those which it brings to their canonical forms: what comes of that depends on who else
	// holds which versions.
	settled []state.Cell
}

// ties returns what the step of the walker does besides.
func (w *walker) ties(s *taken) ties {
	if !w.machine.holds {
		return ties{}
	}
	var t ties
	for _, p := range w.released {
		t.held = append(t.held, p.cells()...)
	}
	t.settled = w.concerned()
	if s.item != nil {
		if p := w.flight(s.item); p != nil {
			// What its own run goes on to hold keeps its name, whatever the others do.
			own := p.cells()
			t.held = append(t.held, own...)
			t.settled = slices.DeleteFunc(t.settled, func(c state.Cell) bool { return slices.Contains(own, c) })
		}
	}
	slices.Sort(t.held)
	t.held = slices.Compact(t.held)
	return t
}

// cells returns the objects of which a run that is parked at the point holds versions.
func (p *point) cells() []state.Cell {
	var cells []state.Cell
	for _, v := range p.held {
		cells = append(cells, v.cell)
	}
	return cells
}

// covers tells whether these ties of a step are known.
func (f *footprint) covers(t ties) bool {
	for _, c := range t.held {
		if !f.holds[c] {
			return false
		}
	}
	for _, c := range t.settled {
		if !f.settles[c] {
			return false
		}
	}
	return true
}

// tie takes note of the ties of a step.
func (f *footprints) tie(w *walker, known *footprint, t ties) {
	for _, c := range t.held {
		grow(f, known.holds, c)
		grow(f, known.alters, f.place(placeName{cell: c, held: true}))
	}
	for _, c := range t.settled {
		grow(f, known.settles, c)
		grow(f, known.reads, f.place(placeName{cell: c}))
		for _, place := range f.heldPlaces(w.machine, c) {
			grow(f, known.reads, place)
		}
	}
}

// heldPlaces returns the places that say who holds which versions of an object.
func (f *footprints) heldPlaces(m *machine, c state.Cell) []Place {
	places := []Place{f.place(placeName{cell: c, held: true})}
	key, _ := m.vocabulary.Key(c)
	for _, a := range m.watchers[key.Kind] {
		if v := a.view(key.Kind); v != nil {
			places = append(places, f.place(placeName{cell: v.Cell()}))
		}
	}
	return places
}

// unchanging returns the places that say who holds versions of objects which nobody changes: it does not matter.
func (f *footprints) unchanging() map[Place]bool {
	written := map[Place]bool{}
	for _, known := range f.agents {
		for place := range known.writes {
			written[place] = true
		}
	}
	unchanging := map[Place]bool{}
	for name, place := range f.places {
		if name.held && !written[f.places[placeName{cell: name.cell}]] {
			unchanging[place] = true
		}
	}
	return unchanging
}

// stage is a step of a run whose calls are steps of their own: that from a node of its tree, or its begin.
type stage struct {
	node  *behavior.Node
	begun *item
}

// stage returns the stage that the walker's step was, and false for any other step.
func (w *walker) stage(s *taken) (stage, bool) {
	switch s.kind {
	case core.Begin:
		return stage{begun: s.item}, true
	case core.Ask:
		return stage{node: s.node}, true
	case core.Return:
		return stage{node: w.released[0].node}, true
	}
	return stage{}, false
}
