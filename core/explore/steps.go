package explore

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/view"
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
	if t.monitor != nil {
		err = t.monitor.before(s)
	}
	if err == nil {
		err = t.take(s)
	}
	if err == nil && t.monitor != nil {
		err = t.monitor.after(s)
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

// taken is a step that a walker tries.
type taken struct {
	kind  core.StepKind
	actor *actor
	// item is what is reconciled, fired or done; view what is delivered.
	item *item
	view *view.View
	// node is the call that is answered.
	node *behavior.Node
	// plan is what is chosen on the way, and positions are where the views of a controller that starts again are then.
	plan      plan
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
	var order []string
	for _, turn := range t.plan.turns {
		order = append(order, turn.String())
	}
	s.Order = strings.Join(order, ", and ")
	var details []string
	for _, m := range t.plan.mishaps {
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
	return len(t.plan.mishaps) == 0
}

// crashes tells whether the run of the step is cut off by a crash.
func (t *taken) crashes() bool {
	return slices.ContainsFunc(t.plan.mishaps, func(m mishap) bool { return m.fault == crash })
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
		return w.act(s.item, s.plan)
	case core.Begin:
		return w.begin(s.item)
	case core.Return:
		leaf, err := w.land(s.item)
		s.leaf = leaf
		return err
	case core.Ask:
		if len(s.plan.mishaps) > 0 {
			w.set(w.machine.failures, w.Value(w.machine.failures)+1)
		}
		return w.ask(s.item, s.plan)
	}
	var leaf *behavior.Leaf
	var err error
	if len(s.plan.turns)+len(s.plan.mishaps) == 0 {
		leaf, err = w.finish(s.item)
	} else {
		leaf, err = w.reconcile(s.item, s.plan)
	}
	if err != nil {
		return err
	}
	if leaf == nil {
		s.blocked = true
		return nil
	}
	s.leaf = leaf
	for _, m := range s.plan.mishaps {
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

// errChosen ends the visit of a chooser.
var errChosen = errors.New("the step is chosen")

// chooser takes one step out of all.
type chooser struct {
	want   core.Step
	chosen *taken
	err    error
}

// took implements [visitor].
func (c *chooser) took(t *taken) error {
	if t.step() != c.want {
		return nil
	}
	chosen := *t
	c.chosen = &chosen
	return errChosen
}

// stopped implements [visitor].
func (c *chooser) stopped(t *taken, err error) error {
	if t.step() != c.want {
		return nil
	}
	c.err = err
	return errChosen
}

// choose takes the step of that name, and returns nil if there is none. The error is why it cannot be taken to its end.
func (w *walker) choose(step core.Step) (*taken, error) {
	c := &chooser{want: step}
	if _, err := w.steps(c, nil); err != nil && !errors.Is(err, errChosen) {
		return nil, err
	}
	return c.chosen, c.err
}

// probe runs a request that nothing asks for, and returns nil if it is not possible.
func (w *walker) probe(step core.Step) (*taken, error) {
	if step.Kind != core.Reconcile || step.Detail != "" {
		return nil, nil
	}
	a, err := w.machine.actor(step.Item.Strategy)
	if err != nil {
		return nil, err
	}
	var chosen *taken
	err = w.eachOrder(w.machine.item(a, step.Item.Request), func(t *taken) bool {
		if t.step().Order == step.Order {
			chosen = t
		}
		return chosen == nil
	})
	return chosen, err
}

// failed returns the error that a run ended with, empty if none.
func failed(leaf *behavior.Leaf) string {
	switch {
	case leaf.Failure != behavior.None:
		return leaf.String()
	case leaf.Result.Err != nil:
		return leaf.Result.Err.Error()
	}
	return ""
}
