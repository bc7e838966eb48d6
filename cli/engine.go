package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties"
)

// Engine is what the command hands systems to.
type Engine struct {
	// Check checks a system, as [orrery.Run] does.
	Check func(context.Context, *core.System, orrery.Options) (*orrery.Result, error)

	// Replay runs a recorded run of a system again, for real. It returns where the
	// run goes another way, nil if every step goes as recorded.
	Replay func(context.Context, *core.System, core.Trace, orrery.Options) (*explore.Difference, error)

	// Properties can be asked for by name, besides those that a system comes with.
	Properties []core.Property
}

// realEngine returns the engine of package orrery.
func realEngine() Engine {
	builtin := append(properties.Convergent(), properties.NoDeadlock())
	return Engine{
		Check:      orrery.Run,
		Replay:     replay,
		Properties: append(builtin, properties.Conduct()...),
	}
}

// replay replays a run with the limits on controller code that a check has.
func replay(ctx context.Context, system *core.System, trace core.Trace, options orrery.Options) (*explore.Difference, error) {
	return explore.Replay(ctx, system, trace, behavior.Limits{
		Deadline: cmp.Or(options.StepDeadline, 10*time.Second),
		Calls:    cmp.Or(options.MaxCalls, 10_000),
	})
}
