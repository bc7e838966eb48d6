package transition

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// act takes an action of the scenario, as one step, as planned. It returns false, and has changed nothing, if the action is not enabled.
func (w *Walker) act(it *Item, p plan) (enabled bool, err error) {
	m := w.Machine
	before := w.Value(m.History)
	after, known := m.Histories[before].next[it]
	if leaf, err := w.reconcile(it, p); leaf == nil || err != nil {
		return false, err
	}
	if !known {
		if w.Learn == nil {
			w.undo()
			return false, ErrUnknown
		}
		actions := append(slices.Clip(m.Histories[before].Actions), it.Request)
		after = m.Vocabulary.Extend(m.History, fmt.Sprintf("%q", actions))
		m.Histories[before].next[it] = after
		m.Histories = append(m.Histories, history{Actions: actions, next: map[*Item]state.Value{}})
	}
	w.Set(it.Cell, 0) // a user who was refused gives up
	w.Set(m.History, after)
	if next, waits := (behavior.User{Scenario: m.System.Scenario}).After(it.Request); waits {
		w.Set(m.Item(it.Actor, next).Cell, state.Queued)
	}
	return true, nil
}
