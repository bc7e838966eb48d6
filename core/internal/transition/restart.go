package transition

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
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
// the positions say, and its handlers get all objects as at the start.
func (w *Walker) restart(p *Process, positions []int) error {
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
		for _, its := range d.parts {
			w.Set(its.cell, 0)
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

// Start puts the walker in an initial state, in its canonical form: the objects, what processes that are at work were doing, and
// what the others make of the initial list.
func (w *Walker) Start(initial core.Initial) error {
	w.Load(nil)
	vocabulary := w.Machine.Vocabulary
	for _, object := range initial.Objects {
		c := vocabulary.Object(object.Key)
		value := vocabulary.Intern(c, object.Content)
		if initial.Underway == nil {
			value = vocabulary.Normalized(c, value)
		} // otherwise together with the versions that caches show
		w.Set(c, value)
	}
	for _, p := range w.Machine.Processes {
		if err := w.startProcess(p, initial.Underway); err != nil {
			return err
		}
	}
	return w.normalize()
}

// startProcess starts a process, or puts it where it was if it has been at work.
func (w *Walker) startProcess(p *Process, underway *core.Underway) error {
	at := -1
	if underway != nil {
		at = slices.IndexFunc(underway.Processes, func(one core.AtWork) bool { return one.Process == p.Name })
	}
	if at < 0 {
		return w.Relist(p)
	}
	w.leaveBehind(p, underway.Processes[at].Behind)
	if p.remembers() {
		w.Machine.doubtFirst("What "+p.Name+" had in memory", "at the start is not known: the search begins as if it had crashed and started again just then")
		return w.Relist(p)
	}
	for _, marked := range []struct {
		items []core.Item
		mark  state.Value
	}{{underway.Processes[at].Queued, state.Queued}, {underway.Processes[at].Timed, state.Timed}} {
		for _, item := range marked.items {
			a, err := w.Machine.Actor(item.Strategy)
			if err != nil {
				return err
			}
			if it := w.Machine.Item(a, item.Request); !it.Standing {
				w.mark(it.Cell, marked.mark)
			}
		}
	}
	return nil
}

// leaveBehind puts changes into the backlogs of the views of a process.
func (w *Walker) leaveBehind(p *Process, changes []core.Missing) {
	vocabulary := w.Machine.Vocabulary
	for _, missing := range changes {
		c := vocabulary.Object(missing.Key)
		change := view.Change{Cell: c}
		if missing.From != nil {
			change.From = vocabulary.Intern(c, missing.From)
		}
		if missing.To != nil {
			change.To = vocabulary.Intern(c, missing.To)
		}
		v := p.view(missing.Key.Kind)
		w.Set(v.Cell(), v.Commit(w.Value(v.Cell()), change))
		// Its versions are brought to their canonical forms, even if the object is gone.
		stored := w.Value(c)
		w.Set(c, change.To)
		w.Set(c, change.From)
		w.Set(c, stored)
	}
}
