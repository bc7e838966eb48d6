package explore

import (
	"context"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// Tell tells a run in full, step by step. Every step is run again for real, on fresh
// instances, before it is told: an error means that it did not happen again. The
// run starts in the state start; the item after, if not nil, is run at its end.
func (s *Space) Tell(ctx context.Context, start core.StateID, run core.Run, after *core.Item) (core.Trace, error) {
	trace := core.Trace{CycleStart: -1, Initial: s.Objects(start)}
	at := start
	for _, edge := range run {
		told, row, err := s.tellStep(ctx, at, edge.Step)
		if err != nil {
			return core.Trace{}, err
		}
		r, known := s.visited.find(uint32(s.scholar.fingerprint.Lo), row)
		if !known || s.arena.number(r) != edge.To {
			return core.Trace{}, fmt.Errorf("the step %q led to another state when it was run again", edge.Step)
		}
		told.To = edge.To
		trace.Steps = append(trace.Steps, told)
		at = edge.To
	}
	if after != nil {
		told, _, err := s.tellStep(ctx, at, core.Step{Kind: core.Reconcile, Item: *after})
		if err != nil {
			return core.Trace{}, err
		}
		told.To = at
		trace.Steps = append(trace.Steps, told)
	}
	return trace, nil
}

// Objects returns the objects of a state, in the order of their keys.
func (s *Space) Objects(id core.StateID) []core.TraceObject {
	objects := []core.TraceObject{}
	if int(id) >= s.States() {
		return objects // no start could be stored
	}
	for _, o := range s.look(s.row(id)).Objects() {
		if s.machine.matters(o) {
			objects = append(objects, traceObject(o))
		}
	}
	return objects
}

func traceObject(o core.Object) core.TraceObject {
	return core.TraceObject{Kind: o.Key.Kind, Namespace: o.Key.Namespace, Name: o.Key.Name, Fields: o.Content.Fields()}
}

// tellStep takes a step from a state, tells it, and returns the row it leads to,
// which is valid until the next step.
func (s *Space) tellStep(ctx context.Context, from core.StateID, step core.Step) (core.TraceStep, []byte, error) {
	w := s.scholar
	w.load(s.row(from))
	t := &teller{walker: w}
	w.listener = t
	defer func() { w.listener = nil }()
	told, err := t.tell(step)
	if err != nil {
		return core.TraceStep{}, nil, err
	}
	told.From = from
	if err := t.again(ctx, s.learner.limits); err != nil {
		return core.TraceStep{}, nil, err
	}
	w.buffer = w.vector.AppendRow(w.buffer[:0])
	return told, w.buffer, nil
}

// teller listens to a walker and tells what it does.
type teller struct {
	walker *walker
	calls  []core.TraceCall
	runs   []ranAs
}

// ranAs is a run of an actor within a step.
type ranAs struct {
	actor      *actor
	activation behavior.Activation
	path       behavior.Path
	leaf       *behavior.Leaf
}

func (t *teller) called(a *actor, activation behavior.Activation, answered *behavior.Answered) {
	call := core.TraceCall{
		Call:     answered.Edge.From.Call.String(),
		Response: answered.Edge.Response.String(),
		Wrote:    len(answered.Writes) > 0,
	}
	if activation.Event != nil {
		call.Handler = a.Name
	}
	t.calls = append(t.calls, call)
}

func (t *teller) ended(a *actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf) {
	t.runs = append(t.runs, ranAs{actor: a, activation: activation, path: slices.Clone(path), leaf: leaf})
}

// tell takes the step.
func (t *teller) tell(step core.Step) (core.TraceStep, error) {
	w := t.walker
	told := core.TraceStep{Controller: step.Item.Strategy, Request: step.Item.Request}
	a, err := w.machine.actor(step.Item.Strategy)
	if err != nil {
		return told, err
	}
	it := w.machine.item(a, step.Item.Request)
	before := t.pending()
	switch step.Kind {
	case core.Fire:
		told.Kind = "fire"
		w.fire(it)
	default:
		switch {
		case it.standing:
			told.Kind = "act"
		case w.pending(it):
			told.Kind = "reconcile"
		default:
			told.Kind = "probe"
		}
		leaf, err := w.reconcile(it)
		switch {
		case leaf != nil:
			told.Result = leaf.Ending()
		case len(t.runs) > 0 && t.runs[len(t.runs)-1].leaf.Failure.Stuck():
			// Nothing of the step remains, but how it got stuck is worth telling.
			told.Result = t.runs[len(t.runs)-1].leaf.String()
		case err != nil:
			told.Result = err.Error()
		default:
			return told, fmt.Errorf("the step %q is not enabled any more", step)
		}
	}
	told.Calls = t.calls
	for _, change := range w.changes() {
		told.Changes = append(told.Changes, traceChange(change))
	}
	for _, item := range t.pending() {
		if !slices.Contains(before, item) {
			told.Enqueued = append(told.Enqueued, item)
		}
	}
	return told, nil
}

// pending returns the items in work queues.
func (t *teller) pending() []string {
	var items []string
	for _, it := range t.walker.machine.items {
		if !it.standing && t.walker.Value(it.cell)&state.Queued != 0 {
			items = append(items, it.String())
		}
	}
	return items
}

// again runs what was listened to for real, on fresh instances.
func (t *teller) again(ctx context.Context, limits behavior.Limits) error {
	for _, r := range t.runs {
		if r.leaf.Failure.Stuck() {
			continue // running it again would only get stuck again
		}
		if t.walker.learn.fickle(r.actor) {
			continue // that it may do something else is known; it did this once
		}
		instance, err := behavior.NewInstance(r.actor.strategy, limits.Deadline)
		if err != nil {
			return err
		}
		divergence, err := behavior.Start(instance, r.actor.Sequential, r.activation, limits).Audit(ctx, r.path, r.leaf)
		if err != nil {
			return err
		}
		if divergence != nil {
			return fmt.Errorf("controller %q did something else when the step was run again: first %q, then %q", r.actor.Name, divergence.Recorded, divergence.Observed)
		}
	}
	return nil
}

func traceChange(c core.Change) core.TraceChange {
	told := core.TraceChange{Kind: c.Key.Kind, Namespace: c.Key.Namespace, Name: c.Key.Name}
	var before, after any
	switch {
	case c.Before == nil:
		told.Verb = "created"
		after = c.After.Fields()
	case c.After == nil:
		told.Verb = "deleted"
		return told
	default:
		told.Verb = "changed"
		before, after = c.Before.Fields(), c.After.Fields()
	}
	told.Fields = core.DiffFields(before, after)
	return told
}
