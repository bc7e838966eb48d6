package explore

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// act takes an action of the scenario, as one step, as planned.
func (w *walker) act(it *item, p plan) error {
	m := w.machine
	before := w.Value(m.history)
	after, known := m.histories[before].next[it]
	if !known {
		if w.learn == nil {
			return errUnknown
		}
		actions := append(slices.Clip(m.histories[before].actions), it.Request)
		after = m.vocabulary.Extend(m.history, fmt.Sprintf("%q", actions))
		m.histories[before].next[it] = after
		m.histories = append(m.histories, history{actions: actions, next: map[*item]state.Value{}})
	}
	if _, err := w.reconcile(it, p); err != nil {
		return err
	}
	w.set(it.cell, 0) // a user who was refused gives up
	w.set(m.history, after)
	if next, waits := (behavior.User{Scenario: m.system.Scenario}).After(it.Request); waits {
		w.set(m.item(it.actor, next).cell, state.Queued)
	}
	return nil
}
