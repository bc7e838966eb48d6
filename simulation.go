package orrery

import (
	"context"
	"sync"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// Simulation takes steps of a system that somebody chooses, with real controller code. Each run begins anew in an
// initial state. Any number of goroutines may use it, of which one takes steps at a time.
type Simulation struct {
	mu         sync.Mutex
	simulation *explore.Simulation
}

// Simulate returns a simulation of a system under the conditions under which a report of it was made; the users of its
// findings act, too. Of the options, the limits of runs count, and the logger. The error says what to change.
func Simulate(system *core.System, report *core.Report, options Options) (*Simulation, error) {
	options, err := options.Again(report)
	if err != nil {
		return nil, err
	}
	if options, err = options.toRun(system); err != nil {
		return nil, err
	}
	for _, finding := range report.Findings {
		system = played(system, finding.Trace)
	}
	system = system.Aged(options.ages, options.turned)
	conditions, err := options.conditions(system)
	if err != nil {
		return nil, err
	}
	for _, finding := range report.Findings {
		conditions.Infer(system, finding.Trace)
		if finding.Other != nil {
			conditions.Infer(system, *finding.Other)
		}
	}
	return &Simulation{simulation: explore.NewSimulation(system, conditions, options.limits(), options.Logger)}, nil
}

// Run takes steps from the initial state of a number, from 0, and returns where they lead. The error says which step
// cannot be taken, or is that of the context if that ended before.
func (s *Simulation) Run(ctx context.Context, initial int, steps []core.Step) (*core.Position, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.simulation.Run(ctx, initial, steps)
}
