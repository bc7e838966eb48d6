package orrery

import (
	"context"
	"fmt"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// Replay runs a recorded run of a system again, with real controller code from its
// first step to its last. It returns where the run goes another way than recorded,
// nil if it does not. The conditions among the options must be those under which it was recorded, see
// [Options.Again]. The error is for what cannot be run at all, and says what to change.
func Replay(ctx context.Context, system *core.System, trace core.Trace, options Options) (*core.Deviation, error) {
	options, err := options.toRun(system)
	if err != nil {
		return nil, err
	}
	conditions, err := options.conditions(system)
	if err != nil {
		return nil, err
	}
	return explore.Replay(ctx, played(system, trace).Aged(options.ages, options.turned), conditions, trace, options.limits(), options.Logger)
}

// toRun completes the options for one run of a system, which it validates.
func (o Options) toRun(system *core.System) (Options, error) {
	o, err := o.complete()
	if err != nil {
		return o, err
	}
	if system == nil {
		return o, fmt.Errorf("there is no system to run: it is nil")
	}
	return o, system.Validate()
}
