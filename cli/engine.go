package cli

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// Engine is what the command hands systems to.
type Engine struct {
	// Check checks a system, as [orrery.Run] does.
	Check func(context.Context, *core.System, orrery.Options) (*orrery.Result, error)

	// Climb checks a system under one condition after the other, as [orrery.Climb] does.
	Climb func(context.Context, *core.System, orrery.Options) (*orrery.Ladder, error)

	// Replay runs a recorded run of a system again, for real. It returns where the
	// run goes another way, nil if every step goes as recorded.
	Replay func(context.Context, *core.System, core.Trace, orrery.Options) (*core.Deviation, error)

	// Simulate returns what takes steps of a system under the conditions of a report, as [orrery.Simulate] does.
	Simulate func(*core.System, *core.Report, orrery.Options) (page.Simulator, error)

	// Confirm runs a recorded run of a system on a real API server. Progress goes to the
	// logger.
	Confirm func(ctx context.Context, system *core.System, trace core.Trace, logger hclog.Logger) (Confirmed, error)

	// Properties can be asked for by name, besides those that a system comes with.
	Properties []core.Property
}

// realEngine returns the engine of package orrery.
func realEngine() Engine {
	return Engine{
		Check:      orrery.Run,
		Climb:      orrery.Climb,
		Replay:     orrery.Replay,
		Simulate:   simulate,
		Confirm:    confirm,
		Properties: properties.Catalogue(),
	}
}

func simulate(system *core.System, report *core.Report, options orrery.Options) (page.Simulator, error) {
	simulation, err := orrery.Simulate(system, report, options)
	if err != nil {
		return nil, err
	}
	return simulation, nil
}
