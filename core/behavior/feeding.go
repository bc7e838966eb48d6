package behavior

import (
	"context"

	"github.com/orrery-dev/orrery/core"
)

// handle has event handlers get what they got before a call of the step: those of controllers that keep memory, which
// handlers may change.
func (e *enactment) handle(ctx context.Context, step core.TraceStep, call int) error {
	for len(e.events) > 0 && e.events[0].Calls <= call {
		told := e.events[0]
		e.events = e.events[1:]
		session, remembers := e.processes[e.process(told.Controller)]
		if !remembers {
			continue
		}
		if err := e.handleOne(ctx, session, told, step); err != nil {
			return err
		}
	}
	return nil
}

// handleOne runs the event handlers of an instance for one event.
func (e *enactment) handleOne(ctx context.Context, session *Session, told core.TraceEvent, step core.TraceStep) error {
	who := "the event handler of " + told.Controller
	if session.over {
		return differing("%s gets %s, but %s does not come back from what it did before", who, told.Key(), told.Controller)
	}
	event, err := e.world.Event(ctx, told)
	if err != nil {
		return err
	}
	if e.strategies[told.Controller] == nil {
		return differing("there is no longer a controller %q", told.Controller)
	}
	activation := e.activation(told.Controller)
	activation.Event = &event
	session.Begin(activation)
	for at := told.Calls; ; at++ {
		call, leaf, err := session.Next(ctx)
		switch {
		case err != nil:
			return err
		case leaf != nil && leaf.Ending() != told.Result:
			return differing("%s ends with %q for %s, where it was %q", who, leaf.Ending(), told.Key(), told.Result)
		case leaf != nil:
			return nil
		case at >= len(step.Calls) || step.Calls[at].Handler != told.Controller:
			return differing("%s also makes the call %s", who, call)
		}
		if err := e.makes(ctx, session, who, step, step.Calls[at]); err != nil {
			return err
		}
	}
}

// Reconciled returns the request that a run reconciles, empty if it does something else.
func (a Activation) Reconciled() core.Request {
	if a.Event != nil || a.Own != Asked {
		return ""
	}
	return a.Request
}
