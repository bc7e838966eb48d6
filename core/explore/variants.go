package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// variants tries the current step without and with faults, as far as the budgets go.
func (t *tour) variants() error {
	failures := t.machine.conditions.Failures - int(t.Value(t.machine.failures))
	crashes := t.machine.conditions.Crashes - int(t.Value(t.machine.crashes))
	if failures <= 0 && crashes <= 0 || !t.current.actor.fallible {
		return t.attempt()
	}
	step := t.current
	if step.kind == core.Ask {
		return t.askVariants(step, failures)
	}
	t.noted, t.notes = true, t.notes[:0]
	defer func() { t.noted = false }()
	if err := t.try(step); err != nil {
		return err
	}
	return t.faulty(step, slices.Clone(t.notes), failures, crashes, t.current.blocked)
}

// askVariants tries a single call without and with faults.
func (t *tour) askVariants(step taken, failures int) error {
	node := t.flight(step.item).node
	if err := t.try(step); err != nil || failures <= 0 {
		return err
	}
	for fault := range node.Faults {
		failing := step
		failing.mishaps = []mishap{{call: len(t.flight(step.item).path), fault: fault, node: node}}
		if err := t.try(failing); err != nil {
			return err
		}
	}
	return nil
}

// faulty tries a reconcile with one more fault than it has, at a later call; and so on as far as the budgets go. The notes are those of
// the run so far. One that is blocked is not under way, so that it cannot be cut off by a crash.
func (t *tour) faulty(step taken, notes []callNote, failures, crashes int, blocked bool) error {
	first := 0
	if n := len(step.mishaps); n > 0 {
		first = step.mishaps[n-1].call + 1
	}
	var last *behavior.Node // that had an effect
	for call, note := range notes {
		if crashes > 0 && !blocked && call >= first && last != nil && note.effected {
			if err := t.crash(step, mishap{call: call, fault: crash, node: note.node, after: last}); err != nil {
				return err
			}
		}
		if note.effected {
			last = note.node
		}
		if failures == 0 || call < first {
			continue
		}
		for fault := range note.node.Faults {
			failing := step
			failing.mishaps = append(slices.Clip(step.mishaps), mishap{call: call, fault: fault, node: note.node})
			t.notes = t.notes[:0]
			if err := t.try(failing); err != nil {
				return err
			}
			if err := t.faulty(failing, slices.Clone(t.notes), failures-1, crashes, t.current.blocked); err != nil {
				return err
			}
		}
	}
	return nil
}

// crash tries a reconcile that a crash cuts off, with every way in which the controller may start again.
func (t *tour) crash(step taken, m mishap) error {
	step.mishaps = append(slices.Clip(step.mishaps), m)
	// Where its views can be then depends on what the run wrote.
	if _, err := t.reconcile(step.item, step.mishaps); err != nil {
		t.undo()
		return t.visitor.stopped(&step, err)
	}
	combinations := t.positions(step.actor)
	t.undo()
	for _, positions := range combinations {
		step.positions = positions
		if err := t.try(step); err != nil {
			return err
		}
	}
	return nil
}
