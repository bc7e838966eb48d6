package transition

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// Ties are the objects of which a step does more than its calls say, where views and runs in flight hold versions of objects from
// one step to the next.
type Ties struct {
	// Held are those of which its run comes to hold versions, or lets go of them.
	Held []state.Cell
	// Normalized are those which it brings to their canonical forms: what comes of that depends on who else
	// holds which versions.
	Normalized []state.Cell
}

// Ties returns what the step of the walker does besides.
func (w *Walker) Ties(s *Taken) Ties {
	if !w.Machine.Holds {
		return Ties{}
	}
	var t Ties
	for _, p := range w.released {
		t.Held = append(t.Held, p.cells()...)
	}
	for _, touched := range w.Touched {
		for _, v := range w.letGo(touched) {
			t.Held = append(t.Held, v.cell)
		}
	}
	for _, v := range w.inMemory() {
		t.Held = append(t.Held, v.cell)
	}
	t.Normalized = w.concerned()
	if s.Item != nil {
		if p := w.Flight(s.Item); p != nil {
			// What its own run goes on to hold keeps its name, whatever the others do.
			own := p.cells()
			t.Held = append(t.Held, own...)
			t.Normalized = slices.DeleteFunc(t.Normalized, func(c state.Cell) bool { return slices.Contains(own, c) })
		}
	}
	slices.Sort(t.Held)
	t.Held = slices.Compact(t.Held)
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

// Stage is a step of a run whose calls are steps of their own: that from a node of its tree, or its begin.
type Stage struct {
	Node  *behavior.Node
	Begun *Item
}

// Stage returns the stage that the walker's step was, and false for any other step.
func (w *Walker) Stage(s *Taken) (Stage, bool) {
	switch s.Kind {
	case core.Begin:
		return Stage{Begun: s.Item}, true
	case core.Ask:
		return Stage{Node: s.node}, true
	case core.Return:
		return Stage{Node: w.released[0].Node}, true
	}
	return Stage{}, false
}
