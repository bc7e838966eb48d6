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
// Event handlers are not run: the recorded run says who works on what.
func Enact(ctx context.Context, system *core.System, trace core.Trace, world core.World, limits Limits) (*core.Deviation, error) {
	e := newEnactment(system, world, limits)
	defer e.end()
	for i, step := range trace.Steps {
		err := e.step(ctx, step)
		var different core.DeviationError
		switch {
		case errors.As(err, &different):
			return &core.Deviation{Step: i + 1, Reason: string(different)}, nil
		case err != nil:
			return nil, err
		}
	}
	return nil, nil
}

// Ending says the end of a reconcile as a trace does: nothing if it just returned.
func (l *Leaf) Ending() string {
	if text := l.String(); text != "returns" {
		return text
	}
	return ""
}
