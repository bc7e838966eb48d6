package explore

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// visitor is shown the steps of a state.
type visitor interface {
	// took is called with the walker behind the step. It is taken back afterwards, unless there is an error: that ends the visit.
	took(*taken) error
	// stopped is called when a step cannot be taken to its end. A nil error goes on with the next.
	stopped(*taken, error) error
}

// tour is a visit of the steps of a state.
type tour struct {
	*walker
	visitor visitor
	// only are the agents that are followed, by number; nil if all are.
	only    []bool
	current taken
	// due counts the steps that controllers take by themselves, those included that could not be taken to their ends.
	due int
	// shown is where the current step leads in the orders of concurrent calls that were shown, if there are several.
	shown []ending
}

// steps shows a visitor all steps from the state that the walker is in, in their fixed order, or those of some agents
// only. It returns whether the state is
// quiescent: controllers do nothing there but wait for timers.
func (w *walker) steps(visitor visitor, only []bool) (quiescent bool, err error) {
	t := &w.tour
	*t = tour{walker: w, visitor: visitor, only: only}
	if w.machine.lags {
		if err := t.deliveries(); err != nil {
			return false, err
		}
	}
	for _, it := range w.machine.items {
		if !t.follows(it.agent) {
			continue
		}
		if err := t.work(it); err != nil {
			return false, err
		}
	}
	if only != nil {
		return false, nil // at least one of those that are followed is due
	}
	if t.due == 0 {
		for _, it := range w.machine.items {
			if !w.timed(it) {
				continue
			}
			if err := t.try(taken{kind: core.Fire, actor: it.actor, item: it}); err != nil {
				return true, err
			}
		}
	}
	quiescent = t.due == 0
	if int(w.Value(w.machine.crashes)) < w.machine.conditions.Crashes {
		for _, a := range w.machine.actors {
			if !a.fallible {
				continue
			}
			for _, positions := range w.positions(a) {
				if err := t.try(taken{kind: core.Restart, actor: a, positions: positions}); err != nil {
					return quiescent, err
				}
			}
		}
	}
	return quiescent, nil
}

// follows tells whether the steps of an agent are shown.
func (t *tour) follows(agent int) bool { return t.only == nil || t.only[agent] }

// deliveries tries what waits for views.
func (t *tour) deliveries() error {
	for _, a := range t.machine.actors {
		for i, v := range a.views {
			if v.Waiting(t.Value(v.Cell())) == 0 || !t.follows(a.deliveries[i]) {
				continue
			}
			if err := t.try(taken{kind: core.Deliver, actor: a, view: v}); err != nil {
				return err
			}
		}
	}
	return nil
}

// work tries what can be done for an item.
func (t *tour) work(it *item) error {
	switch {
	case it.standing:
		t.current = taken{kind: core.Act, actor: it.actor, item: it}
		return t.variants()
	case it.actor.user:
		if !t.pending(it) {
			return nil
		}
		t.current = taken{kind: core.Intervene, actor: it.actor, item: it}
		return t.variants()
	case it.actor.atomic || t.machine.conditions.Granularity == PerReconcile:
		if !t.pending(it) {
			return nil
		}
		t.current = taken{kind: core.Reconcile, actor: it.actor, item: it}
		return t.variants()
	}
	if p := t.flight(it); p != nil && !p.blocked {
		if p.node.Leaf != nil {
			return t.try(taken{kind: core.Return, actor: it.actor, item: it})
		}
		t.current = taken{kind: core.Ask, actor: it.actor, item: it, node: p.node}
		return t.variants()
	}
	begin := taken{kind: core.Begin, actor: it.actor, item: it}
	may, err := t.mayBegin(it)
	switch {
	case err != nil:
		t.due++
		return t.visitor.stopped(&begin, err)
	case may:
		return t.try(begin)
	}
	return nil
}

// try takes a step, shows it to the visitor, and takes it back.
func (t *tour) try(step taken) error {
	t.current = step
	return t.attempt()
}

// attempt tries the current step.
func (t *tour) attempt() error {
	s := &t.current
	s.late = t.machine.lags && t.late(s.actor) && s.kind != core.Deliver && s.kind != core.Restart
	if t.learn != nil {
		t.learn.where.step = s
		t.learn.fresh = false
	}
	if t.listener != nil {
		t.listener.began()
	}
	t.reversed = t.reversed[:0]
	var err error
	if t.mirror != nil {
		err = t.reflected(s)
	}
	if err == nil {
		err = t.take(s)
	}
	if err == nil {
		err = t.account(s)
	}
	if err == nil && len(t.reversed) > 0 {
		err = t.branches(s)
	}
	if err != nil {
		t.undo()
		if s.due() {
			t.due++
		}
		return t.visitor.stopped(s, err)
	}
	if s.blocked {
		return nil
	}
	if s.due() {
		t.due++
	}
	if !t.again(s) {
		if err := t.visitor.took(s); err != nil {
			return err
		}
	}
	t.undo()
	return nil
}

// ending is where a step leads, and how.
type ending struct {
	row    []byte
	wrote  bool
	failed string
	again  bool
}

// equal reports whether two endings are the same.
func (e ending) equal(other ending) bool {
	return bytes.Equal(e.row, other.row) && e.wrote == other.wrote && e.failed == other.failed && e.again == other.again
}

// again tells whether another order of concurrent calls was shown before in which the step is the same.
func (t *tour) again(s *taken) bool {
	if len(s.plan.mishaps) > 0 || s.leaf == nil || len(s.plan.turns) == 0 && len(t.reversed) == 0 {
		return false
	}
	e := ending{row: t.vector.AppendRow(nil), wrote: t.wrote, failed: failed(s.leaf), again: s.leaf.Result.Requeue}
	if slices.ContainsFunc(t.shown, e.equal) {
		return true
	}
	t.shown = append(t.shown, e)
	return false
}

// reflected makes sure that a step is the same with names exchanged, if states are merged.
func (t *tour) reflected(s *taken) error {
	switch {
	case s.kind != core.Reconcile && s.kind != core.Act || t.mirror.knows(s.item, t.vector):
		return nil
	case t.learn == nil:
		return errUnknown
	}
	where := t.learn.where
	defer func() { t.learn.where = where }()
	return t.mirror.check(s.item, t.vector)
}

// branches makes sure that no states are merged where concurrent calls are answered in several orders: with names exchanged, another
// order comes first.
func (t *tour) branches(s *taken) error {
	switch {
	case t.machine.symmetry == nil:
		return nil
	case t.learn == nil:
		return errUnknown
	}
	return apart(fmt.Sprintf("%s makes calls at the same time whose order matters", s.actor.Name))
}

// account takes note of what a step touched, if it is to be known.
func (t *tour) account(s *taken) error {
	f := t.machine.footprints
	switch {
	case !t.machine.reduces || s.kind == core.Fire || s.kind == core.Restart || f.covers(t.walker, s):
		return nil
	case t.learn == nil:
		return errUnknown
	}
	f.note(t.walker, s)
	return nil
}
