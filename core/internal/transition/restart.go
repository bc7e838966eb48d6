package transition

import (
	"slices"

	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// positions returns all combinations of positions at which a restart may put the views of a process, in changes
// behind the store: the newest first.
func (w *Walker) positions(p *Process) [][]int {
	combinations := [][]int{nil}
	for _, v := range p.Views {
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

// restart crashes a process and starts it again: its memory, its work, its timers and its runs in flight are lost, its views are where
// the positions say, and it is told of all objects as at the start.
func (w *Walker) restart(p *Process, positions []int) error {
	w.acting = p.Members[0]
	w.Set(w.Machine.Crashes, w.Value(w.Machine.Crashes)+1)
	for _, it := range w.Machine.Items {
		if it.Actor.Process != p || it.Standing {
			continue
		}
		if at := w.Flight(it); at != nil {
			w.released = append(w.released, at)
		}
		w.Set(it.Cell, 0)
	}
	for i, v := range p.Views {
		after, known := v.Restarted(w.Value(v.Cell()), positions[i])
		if !known {
			if w.Learn == nil {
				return ErrUnknown
			}
			after = v.Restart(w.Value(v.Cell()), positions[i])
		}
		w.Set(v.Cell(), after)
		if w.Listener != nil {
			w.Listener.Refreshed(v, nil)
		}
	}
	if err := w.Relist(p); err != nil {
		return err
	}
	return w.normalize()
}

// Relist starts a process: it remembers nothing, the handlers of each controller in it get a create event for every object
// of the kinds it watches, and its initial requests are queued.
func (w *Walker) Relist(p *Process) error {
	for _, d := range p.domains {
		if d.remembers() {
			w.Set(d.cell, 0)
		}
	}
	for _, a := range p.Members {
		if err := w.relist(a); err != nil {
			return err
		}
	}
	return nil
}

func (w *Walker) relist(a *Actor) error {
	for _, request := range a.Initial {
		if it := w.Machine.Item(a, request); !it.Standing {
			w.mark(it.Cell, state.Queued)
		}
	}
	client := w.clients[a.Index]
	for _, kind := range a.Watches {
		for _, c := range w.Machine.Vocabulary.Kind(kind) {
			value := client.Value(c)
			if value == 0 {
				continue
			}
			d, err := w.delivery(c, transition{to: value, initial: true})
			if err != nil {
				return err
			}
			for i := range *d {
				if (*d)[i].actor != a {
					continue
				}
				if err := w.handle((*d)[i:i+1], nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// viewAt returns the view of a cell, nil for any other cell.
func (m *Machine) viewAt(c state.Cell) *view.View {
	for _, p := range m.Processes {
		for _, v := range p.Views {
			if v.Cell() == c {
				return v
			}
		}
	}
	return nil
}
