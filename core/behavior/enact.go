package behavior

import (
	"context"
	"errors"
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// World is somewhere outside of the search where calls can be carried out for real.
type World interface {
	// Do carries out a call in the way that it was recorded: a read through a view that was behind is answered as that
	// view would, and what the world chooses by chance, it chooses as recorded. The error is for calls
	// that could not be carried out at all, or a [Difference]; what the world refuses is a response.
	Do(context.Context, core.Call, Recorded) (core.Response, error)

	// Shows tells how the world differs from what a recorded change says is there
	// after it, empty if it does not.
	Shows(context.Context, core.TraceChange) (string, error)
}

// Recorded is a call as it was recorded.
type Recorded struct {
	core.TraceCall
	// Changes are what the step of the call changed, all calls together.
	Changes []core.TraceChange
}

// Parting is where a run in a [World] went another way than recorded.
type Parting struct {
	// Step is the number of the step, from 1.
	Step int
	// Reason says what is different.
	Reason string
}

// Difference is an error that says what is different about a run in a [World]: it ends the run, and has not failed.
type Difference string

// Error implements error.
func (d Difference) Error() string { return string(d) }

func differing(format string, args ...any) error { return Difference(fmt.Sprintf(format, args...)) }

// Enact runs the steps of a recorded run of a system in a world: the same strategies work on the
// same requests in the same order, users act where they did, and their calls are carried out for real. What
// went wrong goes wrong again: calls fail, views are behind, controllers crash. It
// returns where the world answered differently, nil if it did not.
//
// Event handlers are not run: the recorded run says who works on what.
func Enact(ctx context.Context, system *core.System, trace core.Trace, world World, limits Limits) (*Parting, error) {
	e := newEnactment(system, world, limits)
	defer e.end()
	for i, step := range trace.Steps {
		err := e.step(ctx, step)
		var difference Difference
		switch {
		case errors.As(err, &difference):
			return &Parting{Step: i + 1, Reason: string(difference)}, nil
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
