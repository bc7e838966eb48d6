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
