package behavior

import (
	"context"
	"errors"
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// differing returns a [core.DeviationError].
func differing(format string, args ...any) error {
	return core.DeviationError(fmt.Sprintf(format, args...))
}

// Enact runs the steps of a recorded run of a system in a world: the same strategies work on the
// same requests in the same order, users act where they did, and their calls are carried out for real. What
// went wrong goes wrong again: calls fail, views are behind, controllers crash. It
// returns where the world answered differently, nil if it did not.
//
// A controller that keeps memory is one instance from its start to its crash, with the event handlers that feed the
// memory. Any other reconcile runs on an instance of its own, and event handlers are not run: the recorded run says who
// works on what.
func Enact(ctx context.Context, system *core.System, trace core.Trace, world core.World, limits Limits) (*core.Deviation, error) {
	e := newEnactment(system, world, limits)
	defer e.end()
	if deviation, err := deviates(0, e.begins(ctx, trace)); deviation != nil || err != nil {
		return deviation, err
	}
	for i, step := range trace.Steps {
		if deviation, err := deviates(i+1, e.step(ctx, step)); deviation != nil || err != nil {
			return deviation, err
		}
	}
	return nil, nil
}

// deviates returns what is different about a step if that is what an error says.
func deviates(step int, err error) (*core.Deviation, error) {
	var different core.DeviationError
	if errors.As(err, &different) {
		return &core.Deviation{Step: step, Reason: string(different)}, nil
	}
	return nil, err
}

// Ending says the end of a reconcile as a trace does: nothing if it just returned.
func (l *Leaf) Ending() string {
	if text := l.String(); text != "returns" {
		return text
	}
	return ""
}
