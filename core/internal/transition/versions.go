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
		for _, v := range slices.Concat(w.letGo(touched), w.letGo(Touch{touched.Cell, w.Value(touched.Cell)})) {
			t.Held = append(t.Held, v.cell)
		}
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

// normalize brings what the step touched to its canonical form.
func (w *Walker) normalize() error {
	if w.Machine.Holds {
		return w.normalizeTogether()
	}
	for i := range w.Touched {
		c := w.Touched[i].Cell
		w.Set(c, w.Machine.Vocabulary.Normalized(c, w.Vector[c]))
	}
	return nil
}

// normalizeTogether brings all versions that can be seen of the objects which the step had to do with to their canonical
// forms. Those which a run in flight was shown cannot be renamed, as nobody can change what
// it remembers; they are when it has ended. Nor can those that memory names, and the others are only renamed where these stay as they are.
func (w *Walker) normalizeTogether() error {
	for _, c := range w.concerned() {
		if w.pinned(c) {
			continue
		}
		remembered := w.remembered(c)
		versions := append(w.visible(c), remembered...)
		if stored := w.Value(c); stored != 0 {
			versions = append(versions, stored)
		}
		slices.Sort(versions)
		versions = slices.Compact(versions)
		if len(versions) > 0 && versions[0] == 0 {
			versions = versions[1:]
		}
		if len(versions) == 0 {
			continue
		}
		normal, known := w.Machine.Vocabulary.Normalization(c, versions, w.Buffer)
		if !known {
			if w.Learn == nil {
				return ErrUnknown
			}
			normal = w.Machine.Vocabulary.Normalize(c, versions)
		}
		if normal.Same || slices.ContainsFunc(remembered, func(v state.Value) bool { return normal.Of(v) != v }) {
			continue
		}
		w.Set(c, normal.Of(w.Value(c)))
		if err := w.rename(c, normal); err != nil {
			return err
		}
	}
	return nil
}

// rename brings the versions of an object in all backlogs to their canonical forms.
func (w *Walker) rename(c state.Cell, normal *state.Normalization) error {
	key, _ := w.Machine.Vocabulary.Key(c)
	for _, v := range w.Machine.Views[key.Kind] {
		if w.Value(v.Cell()) == 0 {
			continue
		}
		after, known := v.Renamed(w.Value(v.Cell()), c, normal)
		if !known {
			if w.Learn == nil {
				return ErrUnknown
			}
			after = v.Rename(w.Value(v.Cell()), c, normal)
		}
		w.Set(v.Cell(), after)
	}
	return nil
}

// concerned returns the objects of which the step may have changed what versions can be seen: those that it wrote, those in
// backlogs before it, and those that the runs it ended were shown.
func (w *Walker) concerned() []state.Cell {
	var cells []state.Cell
	for _, t := range w.Touched {
		if _, isObject := w.Machine.Vocabulary.Key(t.Cell); isObject {
			cells = append(cells, t.Cell)
		} else if v := w.Machine.viewAt(t.Cell); v != nil {
			cells = v.AppendCells(cells, t.Was)
		}
		for _, v := range w.letGo(t) {
			cells = append(cells, v.cell)
		}
	}
	for _, p := range w.released {
		for _, v := range p.held {
			cells = append(cells, v.cell)
		}
	}
	slices.Sort(cells)
	return slices.Compact(cells)
}
