package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
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
