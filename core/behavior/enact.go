package behavior

import (
	"context"
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// World is somewhere outside of the search where calls can be carried out for real.
type World interface {
	// Do carries out a call. The error is for calls that could not be carried out at
	// all; what the world refuses is a response.
	Do(context.Context, core.Call) (core.Response, error)

	// Shows tells how the world differs from what a recorded change says is there
	// after it, empty if it does not.
	Shows(context.Context, core.TraceChange) (string, error)
}

// Parting is where a run in a [World] went another way than recorded.
type Parting struct {
	// Step is the number of the step, from 1.
	Step int
	// Reason says what is different.
	Reason string
}

// Enact runs the steps of a recorded run in a world: the same strategies work on the
// same requests in the same order, and their calls are carried out for real. It
// returns where the world answered differently, nil if it did not.
//
// Event handlers are not run: the recorded run says who works on what.
func Enact(ctx context.Context, strategies []core.Strategy, trace core.Trace, world World, limits Limits) (*Parting, error) {
	byName := map[string]core.Strategy{}
	for _, s := range strategies {
		byName[s.Describe().Name] = s
	}
	for i, step := range trace.Steps {
		if step.Kind == "fire" {
			continue // only a work queue changes
		}
		strategy, known := byName[step.Controller]
		if !known {
			return &Parting{Step: i + 1, Reason: fmt.Sprintf("there is no controller %q any more", step.Controller)}, nil
		}
		reason, err := enactStep(ctx, strategy, step, world, limits)
		if err != nil || reason != "" {
			return &Parting{Step: i + 1, Reason: reason}, err
		}
	}
	return nil, nil
}

// enactStep runs one step and says what is different about it, empty if nothing is.
func enactStep(ctx context.Context, strategy core.Strategy, step core.TraceStep, world World, limits Limits) (string, error) {
	instance, err := NewInstance(strategy, limits.Deadline)
	if err != nil {
		return "", err
	}
	session := Start(instance, strategy.Describe().Sequential, Activation{Request: step.Request}, limits)
	defer session.Abort()
	for _, recorded := range step.Calls {
		if recorded.Handler != "" {
			continue
		}
		call, leaf, err := session.Next(ctx)
		switch {
		case err != nil:
			return "", err
		case call == nil:
			return fmt.Sprintf("%s %s, where it was to %s", step.Controller, leaf, recorded.Call), nil
		case call.String() != recorded.Call:
			return fmt.Sprintf("%s goes on to %s, where it was to %s", step.Controller, call, recorded.Call), nil
		}
		response, err := world.Do(ctx, call)
		if err != nil {
			return "", fmt.Errorf("%s: %w", call, err)
		}
		if response.String() != recorded.Response {
			return fmt.Sprintf("to %q the answer is %q, where it was %q", call, response, recorded.Response), nil
		}
		session.Answer(response)
	}
	call, leaf, err := session.Next(ctx)
	switch {
	case err != nil:
		return "", err
	case call != nil:
		return fmt.Sprintf("%s goes on to %s", step.Controller, call), nil
	case leaf.Ending() != step.Result:
		return fmt.Sprintf("%s ends with %q, where it was %q", step.Controller, leaf.Ending(), step.Result), nil
	}
	for _, change := range step.Changes {
		difference, err := world.Shows(ctx, change)
		if err != nil || difference != "" {
			return difference, err
		}
	}
	return "", nil
}

// Ending says the end of a reconcile as a trace does: nothing if it just returned.
func (l *Leaf) Ending() string {
	if text := l.String(); text != "returns" {
		return text
	}
	return ""
}
