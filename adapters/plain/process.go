package plain

import (
	"errors"
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// Process is somebody who takes steps: by guarded actions, by receiving messages,
// or both. It has at least one of them.
type Process struct {
	// Name tells the process apart within its model.
	Name string

	// Actions are what the process can do at any time, each wherever its
	// requirements hold.
	Actions []Action

	// Receive handles one message, which is consumed by that. Where a requirement
	// does not hold the message stays where it is, and can be received later.
	// [Inbox.Receive] makes one for typed messages.
	Receive func(*World, core.Request)

	// Messages are in the inbox at start. [Inbox.Holding] makes them.
	Messages []core.Request

	// Unfair lifts the assumption that an action or a message that stays enabled
	// is eventually taken.
	Unfair bool
}

// Action is one guarded atomic action.
type Action struct {
	// Name tells the action apart within its process, as what the process does:
	// "take the left fork".
	Name string
	// Do reads, requires and writes. When it returns, that was a step.
	Do func(*World)
}

func (p Process) validate() error {
	var errs []error
	fail := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("process %q "+format, append([]any{p.Name}, args...)...))
	}
	if len(p.Actions) == 0 && p.Receive == nil {
		fail("does nothing: give it actions, or Receive")
	}
	if len(p.Messages) > 0 && p.Receive == nil {
		fail("has messages but does not receive any: set Receive")
	}
	names := map[string]bool{}
	for i, a := range p.Actions {
		switch {
		case a.Name == "":
			fail("has a nameless action: name number %d", i+1)
		case names[a.Name]:
			fail("has two actions called %q: give each its own name", a.Name)
		case a.Do == nil:
			fail("has an action %q that does nothing: set Do", a.Name)
		}
		names[a.Name] = true
	}
	for _, m := range p.Messages {
		if names[string(m)] {
			fail("has an action and a message that are both %q: rename one", m)
		}
	}
	return errors.Join(errs...)
}

// process is a [Process] as a [core.Strategy]. It has no memory, so it is its own
// and only instance.
type process struct {
	description core.Description
	actions     map[core.Request]func(*World)
	receive     func(*World, core.Request)
}

func (p Process) strategy() *process {
	s := &process{
		description: core.Description{
			Name:       p.Name,
			Initial:    p.Messages,
			Messages:   p.Receive != nil,
			Unfair:     p.Unfair,
			Sequential: true,
		},
		actions: make(map[core.Request]func(*World), len(p.Actions)),
		receive: p.Receive,
	}
	for _, a := range p.Actions {
		s.description.Standing = append(s.description.Standing, core.Request(a.Name))
		s.actions[core.Request(a.Name)] = a.Do
	}
	return s
}

func (s *process) Describe() core.Description { return s.description }

func (s *process) New() (core.Instance, error) { return s, nil }

func (s *process) Handle(core.EffectRecorder, core.Event) []core.Request { return nil }

func (s *process) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	w := &World{recorder: recorder}
	return w.run(func() core.Result {
		if act, ok := s.actions[request]; ok {
			act(w)
		} else {
			s.receive(w, request)
		}
		return core.Result{}
	})
}
