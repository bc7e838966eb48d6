package transition

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

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
