package explore

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// variants tries the current step with concurrent calls answered in all orders that matter, and without and with faults as far
// as the budgets go.
func (t *tour) variants() error {
	v := variants{tour: t}
	if t.current.actor.fallible {
		v.failures = t.machine.conditions.Failures - int(t.Value(t.machine.failures))
		v.crashes = t.machine.conditions.Crashes - int(t.Value(t.machine.crashes))
	}
	if t.current.kind == core.Ask {
		return v.ask(t.current)
	}
	t.shown = t.shown[:0]
	t.noted, t.notes = v.failures > 0 || v.crashes > 0, t.notes[:0]
	defer func() { t.noted = false }()
	step := t.current // as it is before it is taken: blocked or not, for one
	if err := t.attempt(); err != nil || !t.noted && len(t.reversed) == 0 {
		return err
	}
	return v.all(step)
}

// variants are the ways in which a step may go.
type variants struct {
	*tour
	orders            orders
	failures, crashes int
}

// all tries all variants but the first, which was just taken.
func (v *variants) all(step taken) error {
	v.orders.plans = []plan{{}}
	for i := 0; i < len(v.orders.plans); i++ {
		step.plan = v.orders.plans[i]
		if i > 0 {
			v.notes = v.notes[:0]
			if err := v.try(step); err != nil {
				return err
			}
		}
		if err := v.faulty(step); err != nil {
			return err
		}
	}
	return nil
}

// ask tries a single call without and with faults, and each of several concurrent ones.
func (v *variants) ask(step taken) error {
	p := v.flight(step.item)
	number := len(p.path)
	turns := p.node.Turns
	if len(turns) > 0 && p.orders() > v.machine.conditions.orders() {
		r := behavior.Reversal{Call: number, Turn: turns[1], First: turns[0].Call, Second: turns[1].Call}
		if err := v.raced(step.actor, behavior.Activation{Request: step.item.Request}, r); err != nil {
			return v.visitor.stopped(&step, err)
		}
		turns = nil
	}
	if len(turns) == 0 {
		turns = []*behavior.Node{p.node}
	}
	for _, node := range turns {
		step.plan = plan{}.turning(pick{call: number, node: node})
		if err := v.try(step); err != nil {
			return err
		}
		if v.failures <= 0 {
			continue
		}
		for fault := range node.Faults {
			failing := step
			failing.plan = step.plan.failing(mishap{call: number, fault: fault, node: node})
			if err := v.try(failing); err != nil {
				return err
			}
		}
	}
	return nil
}

// faulty tries the reconcile that was just taken with one more fault than it has, at a later call; and so on as far as the budgets go. One
// that is blocked is not under way, so that it cannot be cut off by a crash.
func (v *variants) faulty(step taken) error {
	if err := v.orders.add(v.walker, step.item); err != nil {
		return v.visitor.stopped(&step, err)
	}
	if !v.noted {
		return nil
	}
	notes, blocked := append([]callNote(nil), v.notes...), v.current.blocked
	if blocked && v.crashes > 0 && len(v.orders.plans) > 1 {
		if err := v.waited(step); err != nil {
			return v.visitor.stopped(&step, err)
		}
	}
	failures := v.failures - len(step.plan.mishaps)
	first := step.plan.free()
	var last *behavior.Node // that had an effect
	for call, note := range notes {
		if v.crashes > 0 && !blocked && call >= first && last != nil && note.effected {
			if err := v.crash(step, mishap{call: call, fault: crash, node: note.node, after: last}); err != nil {
				return err
			}
		}
		if note.effected {
			last = note.node
		}
		if failures <= 0 || call < first {
			continue
		}
		for fault := range note.node.Faults {
			failing := step
			failing.plan = step.plan.failing(mishap{call: call, fault: fault, node: note.node})
			v.notes = v.notes[:0]
			if err := v.try(failing); err != nil {
				return err
			}
			if blocked && v.crashes > 0 && !v.current.blocked {
				if err := v.waited(step); err != nil {
					return v.visitor.stopped(&step, err)
				}
			}
			if err := v.faulty(failing); err != nil {
				return err
			}
		}
	}
	return nil
}

// crash tries a reconcile that a crash cuts off, with every way in which the controller may start again.
func (v *variants) crash(step taken, m mishap) error {
	step.plan = step.plan.failing(m)
	// Where its views can be then depends on what the run wrote.
	if _, err := v.reconcile(step.item, step.plan); err != nil {
		v.undo()
		return v.visitor.stopped(&step, err)
	}
	combinations := v.positions(step.actor)
	v.undo()
	for _, positions := range combinations {
		step.positions = positions
		if err := v.try(step); err != nil {
			return err
		}
	}
	return nil
}
