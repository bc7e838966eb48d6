package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// taken is a step that a walker tries.
type taken struct {
	kind  core.StepKind
	actor *actor
	// item is what is reconciled, fired or done; view what is delivered.
	item *item
	view *view.View
	// node is the call that is answered.
	node *behavior.Node
	// mishaps go wrong on the way, and positions are where the views of a controller that starts again are then.
	mishaps   []mishap
	positions []int
	// lost are the points at which a crash cut off runs in flight.
	lost []*point
	// leaf is how a run ended in the step, nil if none did.
	leaf *behavior.Leaf
	// blocked tells that the step is not possible in the state.
	blocked bool
	// late tells that changes were waiting for the actor.
	late bool
}

// step names the step.
func (t *taken) step() core.Step {
	s := core.Step{Kind: t.kind, Item: core.Item{Strategy: t.actor.Name}}
	switch {
	case t.item != nil:
		s.Item = t.item.Item
	case t.view != nil:
		s.Item.Request = core.Request(t.view.Kind())
	}
	var details []string
	for _, m := range t.mishaps {
		details = append(details, m.String())
	}
	for _, p := range t.lost {
		if text := p.String(); text != "" {
			details = append(details, text)
		}
	}
	for i, behind := range t.positions {
		if behind > 0 {
			changes := "changes"
			if behind == 1 {
				changes = "change"
			}
			details = append(details, fmt.Sprintf("its view of %s is %d %s behind", t.actor.views[i].Kind(), behind, changes))
		}
	}
	s.Detail = strings.Join(details, ", and ")
	return s
}

// agent returns the number of the agent that takes the step.
func (t *taken) agent() int {
	switch {
	case t.item != nil:
		return t.item.agent
	case t.view != nil:
		return t.actor.deliveries[slices.Index(t.actor.views, t.view)]
	}
	return t.actor.restarts
}

// due tells whether the step is one that controllers take by themselves.
func (t *taken) due() bool {
	switch t.kind {
	case core.Fire, core.Restart, core.Intervene:
		return false
	}
	return len(t.mishaps) == 0
}

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
			if !a.crashes() {
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
		return t.attempt()
	case it.actor.user:
		if t.pending(it) {
			return t.try(taken{kind: core.Intervene, actor: it.actor, item: it})
		}
		return nil
	case it.actor.atomic || t.machine.conditions.Granularity == PerReconcile:
		if !t.pending(it) {
			return nil
		}
		t.current = taken{kind: core.Reconcile, actor: it.actor, item: it}
		return t.variants()
	}
	if p := t.flight(it); p != nil {
		if p.node.Leaf != nil {
			return t.try(taken{kind: core.Return, actor: it.actor, item: it})
		}
		t.current = taken{kind: core.Ask, actor: it.actor, item: it, node: p.node}
		return t.variants()
	}
	if t.pending(it) && t.mayBegin(it) {
		return t.try(taken{kind: core.Begin, actor: it.actor, item: it})
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
	err := t.take(s)
	if err == nil {
		err = t.account(s)
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
	if err := t.visitor.took(s); err != nil {
		return err
	}
	t.undo()
	return nil
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

// take takes a step.
func (w *walker) take(s *taken) error {
	w.acting = s.actor
	switch s.kind {
	case core.Deliver:
		if err := w.receive(s.actor, s.view); err != nil {
			return err
		}
		return w.settle()
	case core.Fire:
		w.fire(s.item)
		return nil
	case core.Restart:
		err := w.restart(s.actor, s.positions)
		s.lost = w.released
		return err
	case core.Intervene:
		return w.act(s.item)
	case core.Begin:
		return w.begin(s.item)
	case core.Return:
		leaf, err := w.land(s.item)
		s.leaf = leaf
		return err
	case core.Ask:
		fault := -1
		if len(s.mishaps) > 0 {
			fault = s.mishaps[0].fault
			w.set(w.machine.failures, w.Value(w.machine.failures)+1)
		}
		return w.ask(s.item, fault)
	}
	var leaf *behavior.Leaf
	var err error
	if len(s.mishaps) == 0 {
		leaf, err = w.finish(s.item)
	} else {
		leaf, err = w.reconcile(s.item, s.mishaps)
	}
	if err != nil {
		return err
	}
	if leaf == nil {
		s.blocked = true
		return nil
	}
	s.leaf = leaf
	for _, m := range s.mishaps {
		if m.fault != crash {
			w.set(w.machine.failures, w.Value(w.machine.failures)+1)
		}
	}
	if leaf.Failure == behavior.CutOff {
		s.leaf = nil
		return w.restart(s.actor, s.positions)
	}
	return nil
}

// variants tries the current step without and with faults, as far as the budgets go.
func (t *tour) variants() error {
	failures := t.machine.conditions.Failures - int(t.Value(t.machine.failures))
	crashes := t.machine.conditions.Crashes - int(t.Value(t.machine.crashes))
	if failures <= 0 && crashes <= 0 || t.current.actor.atomic {
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
	return t.faulty(step, slices.Clone(t.notes), failures, crashes)
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
// the run so far.
func (t *tour) faulty(step taken, notes []callNote, failures, crashes int) error {
	first := 0
	if n := len(step.mishaps); n > 0 {
		first = step.mishaps[n-1].call + 1
	}
	var wrote *behavior.Node
	for call, note := range notes {
		if crashes > 0 && call >= first && wrote != nil && note.wrote {
			if err := t.crash(step, mishap{call: call, fault: crash, node: note.node, after: wrote}); err != nil {
				return err
			}
		}
		if note.wrote {
			wrote = note.node
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
			if err := t.faulty(failing, slices.Clone(t.notes), failures-1, crashes); err != nil {
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

// queued returns the items in work queues.
func (w *walker) queued() []string {
	var items []string
	for _, it := range w.machine.items {
		if !it.standing && !it.actor.user && w.Value(it.cell)&state.Queued != 0 {
			items = append(items, it.String())
		}
	}
	return items
}
