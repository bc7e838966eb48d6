package explore

import (
	"context"
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// Simulation takes steps of a system that somebody chooses. All steps can be chosen: a search leaves out those that
// cannot matter. What controllers did once is known from then on. One goroutine at a time may use it.
type Simulation struct {
	system     *core.System
	conditions Conditions
	limits     behavior.Limits
	logger     hclog.Logger
	// space has what is known, nil before anything is.
	space *Space
}

// NewSimulation returns a simulation of a system. The logger gets each step; nil logs nothing.
func NewSimulation(system *core.System, conditions Conditions, limits behavior.Limits, logger hclog.Logger) *Simulation {
	if logger == nil {
		logger = hclog.NewNullLogger()
	}
	return &Simulation{system: system, conditions: conditions, limits: limits, logger: logger}
}

// Run takes steps from the initial state of a number, from 0, and returns where they lead. Each is run with real code,
// and again on fresh instances. The error says which step cannot be taken, or why the system cannot be run.
func (s *Simulation) Run(ctx context.Context, initial int, steps []core.Step) (*core.Position, error) {
	if initial < 0 || initial >= len(s.system.Initial) {
		return nil, fmt.Errorf("there is no initial state %d: use a number from 0 to %d", initial, len(s.system.Initial)-1)
	}
	for {
		position, err := s.run(ctx, initial, steps)
		if ctx.Err() != nil {
			s.space = nil // what was cut short is not what happens
			return nil, ctx.Err()
		}
		if !s.conditions.Expect(err) {
			return position, err
		}
		s.space = nil
	}
}

// run takes steps with what is known of controllers.
func (s *Simulation) run(ctx context.Context, initial int, steps []core.Step) (*core.Position, error) {
	if s.space == nil {
		l, err := transition.NewLearner(ctx, s.system, s.conditions, s.limits, 0)
		if err != nil {
			return nil, err
		}
		l.Logger, l.Following = s.logger, true
		s.space = newSpace(l.Machine, l, &reduction.Reductions{}, Options{Run: s.limits})
	}
	s.space.learner.Context = ctx
	w := s.space.executor
	if err := w.Start(s.system.Initial[initial]); err != nil {
		return nil, err
	}
	position := &core.Position{Trace: core.Trace{Initial: s.space.present(), Made: s.space.machine.Conditions.Made, CycleStart: -1}}
	t := newTraceBuilder(w)
	position.Trace.Memory = w.Machine.MemoryChanges(nil, w.Recollection(), nil)
	for i, step := range steps {
		w.Forget()
		traced, err := t.build(ctx, step)
		if err == nil && traced.Kind == probed {
			err = fmt.Errorf("the step %q is not possible there", step)
		}
		if err == nil {
			err = t.again(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		position.Trace.Steps = append(position.Trace.Steps, traced)
	}
	position.Objects = s.space.present()
	for _, it := range w.Machine.Items {
		if it.Standing || it.Actor.User {
			continue
		}
		if value := w.Value(it.Cell); value&state.Queued != 0 {
			position.Work = append(position.Work, it.Item)
		} else if value&state.Timed != 0 {
			position.Timers = append(position.Timers, it.Item)
		}
	}
	choices := &choices{walker: w}
	w.Forget()
	if _, err := w.Steps(choices, nil); err != nil {
		return nil, err
	}
	position.Choices = choices.found
	return position, nil
}

// present returns the objects of the state that the executor is in.
func (s *Space) present() []core.TraceObject {
	objects := []core.TraceObject{}
	for _, o := range s.executor.Look().Objects() {
		if s.machine.Matters(o) {
			objects = append(objects, traceObject(o))
		}
	}
	return objects
}

// choices collects the steps of a state.
type choices struct {
	walker *reduction.Explorer
	found  []core.Choice
}

// Took implements [transition.Visitor].
func (c *choices) Took(t *transition.Taken) error {
	choice := core.Choice{Edge: c.walker.Edge(0, t)}
	for _, change := range c.walker.Changes() {
		choice.Changes = append(choice.Changes, traceChange(change))
	}
	c.found = append(c.found, choice)
	return nil
}

// Stopped implements [transition.Visitor].
func (c *choices) Stopped(t *transition.Taken, err error) error {
	if !transition.Ends(err) {
		return err
	}
	c.found = append(c.found, core.Choice{Edge: core.Edge{Step: t.Step()}, Stopped: err.Error()})
	return nil
}
