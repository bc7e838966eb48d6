package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core/state"
)

// settle brings what the step touched to its canonical form.
func (w *walker) settle() error {
	if w.machine.holds {
		return w.settleTogether()
	}
	for i := range w.touched {
		c := w.touched[i].cell
		w.set(c, w.machine.vocabulary.Settled(c, w.vector[c]))
	}
	return nil
}

// settleTogether brings all versions that can be seen of the objects which the step had to do with to their canonical
// forms. Those which a run in flight was shown cannot be renamed, as nobody can change what
// it remembers; they are when it has ended.
func (w *walker) settleTogether() error {
	for _, c := range w.concerned() {
		if w.pinned(c) {
			continue
		}
		versions := w.visible(c)
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
		settlement, known := w.machine.vocabulary.Settlement(c, versions, w.buffer)
		if !known {
			if w.learn == nil {
				return errUnknown
			}
			settlement = w.machine.vocabulary.Settle(c, versions)
		}
		if settlement.Same {
			continue
		}
		w.set(c, settlement.Of(w.Value(c)))
		if err := w.rename(c, settlement); err != nil {
			return err
		}
	}
	return nil
}

// rename brings the versions of an object in all backlogs to their canonical forms.
func (w *walker) rename(c state.Cell, settlement *state.Settlement) error {
	key, _ := w.machine.vocabulary.Key(c)
	for _, a := range w.machine.watchers[key.Kind] {
		v := a.view(key.Kind)
		if v == nil || w.Value(v.Cell()) == 0 {
			continue
		}
		after, known := v.Renamed(w.Value(v.Cell()), c, settlement)
		if !known {
			if w.learn == nil {
				return errUnknown
			}
			after = v.Rename(w.Value(v.Cell()), c, settlement)
		}
		w.set(v.Cell(), after)
	}
	return nil
}

// concerned returns the objects of which the step may have changed what versions can be seen: those that it wrote, those in
// backlogs before it, and those that the runs it ended were shown.
func (w *walker) concerned() []state.Cell {
	var cells []state.Cell
	for _, t := range w.touched {
		if _, isObject := w.machine.vocabulary.Key(t.cell); isObject {
			cells = append(cells, t.cell)
		} else if v := w.machine.viewAt(t.cell); v != nil {
			cells = v.AppendCells(cells, t.was)
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
