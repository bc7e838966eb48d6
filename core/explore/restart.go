package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// positions returns all combinations of positions at which a restart may put the views of an actor, in changes
// behind the store: the newest first.
func (w *walker) positions(a *actor) [][]int {
	combinations := [][]int{nil}
	for _, v := range a.views {
		var longer [][]int
		for _, c := range combinations {
			for behind := range v.Positions(w.Value(v.Cell())) {
				longer = append(longer, append(slices.Clip(c), behind))
			}
		}
		combinations = longer
	}
	return combinations
}

// restart crashes an actor and starts it again: its work, its timers and its runs in flight are lost, its views are where
// the positions say, and it is told of all objects as at the start.
func (w *walker) restart(a *actor, positions []int) error {
	w.acting = a
	w.set(w.machine.crashes, w.Value(w.machine.crashes)+1)
	for _, it := range w.machine.items {
		if it.actor != a || it.standing {
			continue
		}
		if p := w.flight(it); p != nil {
			w.released = append(w.released, p)
		}
		w.set(it.cell, 0)
	}
	for i, v := range a.views {
		after, known := v.Restarted(w.Value(v.Cell()), positions[i])
		if !known {
			if w.learn == nil {
				return errUnknown
			}
			after = v.Restart(w.Value(v.Cell()), positions[i])
		}
		w.set(v.Cell(), after)
		if w.listener != nil {
			w.listener.refreshed(v)
		}
	}
	if err := w.relist(a); err != nil {
		return err
	}
	return w.settle()
}

// start puts the walker in an initial state, in its canonical form: the objects, and
// what the controllers make of the initial list.
func (w *walker) start(initial core.Initial) error {
	w.load(nil)
	vocabulary := w.machine.vocabulary
	for _, object := range initial.Objects {
		c := vocabulary.Object(object.Key)
		w.set(c, vocabulary.Settled(c, vocabulary.Intern(c, object.Content)))
	}
	for _, a := range w.machine.actors {
		if err := w.relist(a); err != nil {
			return err
		}
	}
	return w.settle()
}

// relist starts a controller: its handlers get a create event for every object
// of the kinds it watches, and its initial requests are queued.
func (w *walker) relist(a *actor) error {
	for _, request := range a.Initial {
		if it := w.machine.item(a, request); !it.standing {
			w.mark(it.cell, state.Queued)
		}
	}
	sight := w.sights[a.index]
	for _, kind := range a.Watches {
		for _, c := range w.machine.vocabulary.Kind(kind) {
			value := sight.Value(c)
			if value == 0 {
				continue
			}
			d, err := w.delivery(c, transition{to: value, initial: true})
			if err != nil {
				return err
			}
			if err := w.handle(*d, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// viewAt returns the view of a cell, nil for any other cell.
func (m *machine) viewAt(c state.Cell) *view.View {
	for _, a := range m.actors {
		for _, v := range a.views {
			if v.Cell() == c {
				return v
			}
		}
	}
	return nil
}
