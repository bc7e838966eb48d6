package clientgo

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/klog/v2"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/memory"
	"github.com/orrery-dev/orrery/adapters/internal/metrics"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// setupDeadline bounds the first run of a set-up, in real time.
const setupDeadline = 10 * time.Second

// assemble runs the set-up in a fresh environment. Nothing that it started lives on where that can be helped: its
// context is over, and event broadcasters are shut down.
func (p *process) assemble(notes *system.Notes, indexes informer.Indexes) (*Environment, error) {
	synced, err := informer.NewSynced()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), p.loggers.Logger))
	defer cancel()
	e := &Environment{process: p, ctx: ctx, notes: notes, indexes: indexes, synced: synced, background: newBackground(p.loggers.Logger), collectors: metrics.New(metrics.Default())}
	e.current.Among = p.instances
	e.view = informer.View{Server: p.server, Decoder: p.decoder, Current: &e.current}
	network := &transport.Transport{Server: p.server, Current: &e.current, Idle: e.idleRequest}
	e.config = network.Config("controller")
	e.config.Transport = eventless{network, e}
	if err := caught(func() error { return p.setup(e) }); err != nil {
		return nil, err
	}
	if err := cmp.Or(e.unfilled(), e.hear()); err != nil {
		return nil, err
	}
	e.seal()
	for _, c := range e.controllers {
		p.broadcasters.shutDown(c.of)
	}
	return e, nil
}

// caught runs code of the user's, and returns a panic of it as an error.
func caught(code func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("it panicked: %v\n%s", value, debug.Stack())
		}
	}()
	return code()
}

// survey runs the set-up for the first time, to see what it registers. It gives up after the deadline.
func (p *process) survey(notes *system.Notes, indexes informer.Indexes) (*Environment, error) {
	type outcome struct {
		environment *Environment
		err         error
	}
	done := make(chan outcome, 1)
	go func() {
		ended := outcome{err: errEnded}
		defer func() { done <- ended }()
		if ended.environment, ended.err = p.assemble(notes, indexes); ended.err == nil {
			ended.environment.background.stop()
		}
	}()
	deadline := time.NewTimer(setupDeadline)
	defer deadline.Stop()
	select {
	case end := <-done:
		if end.err == nil {
			end.err = cmp.Or(end.environment.handmade(), end.environment.leftAlone())
		}
		return end.environment, end.err
	case <-deadline.C:
		return nil, fmt.Errorf("it has not returned after %s: it may only make and register controllers, not run them or wait for anything", setupDeadline)
	}
}

// strategy is one of the controllers that a set-up registers.
type strategy struct {
	process *process
	// index is the position of the controller among those of the set-up.
	index       int
	description core.Description
	// pristine is what the instances of its process remember when they are fresh, and own what they do for it.
	pristine, own map[string]string
}

var _ core.Pristine = (*strategy)(nil)

// Pristine implements [core.Pristine].
func (s *strategy) Pristine(alone bool) map[string]string {
	if alone {
		return s.own
	}
	return s.pristine
}

// Describe implements [core.Strategy].
func (s *strategy) Describe() core.Description { return s.description }

// New implements [core.Strategy]. It runs the set-up in a fresh environment.
func (s *strategy) New() (core.Instance, error) {
	e, err := s.process.assemble(&system.Notes{}, informer.Indexes{})
	if err != nil {
		return nil, fmt.Errorf("controller %s cannot be set up again, as it is for each fresh instance (what may be done only once in a process, such as to define a flag, belongs before the check): %w", s.description.Name, err)
	}
	if s.index >= len(e.controllers) || e.controllers[s.index].name != s.description.Name {
		return nil, fmt.Errorf("controller %s cannot be set up again: the set-up registers other controllers than the first time; it must do the same each time it runs", s.description.Name)
	}
	for _, c := range e.controllers {
		c.initial, _ = c.queue.take()
	}
	if !s.description.Active {
		e.background.stop()
	}
	return &instance{environment: e, controller: e.controllers[s.index]}, nil
}

// strategies returns the controllers that the set-up was found to register.
func (p *process) strategies(found *Environment) []core.Strategy {
	var names []string
	for _, c := range found.controllers {
		names = append(names, c.name)
	}
	pristine := memory.Of(found.roots()...)
	active := found.goesOn()
	var all []core.Strategy
	for i, c := range found.controllers {
		initial, _ := c.queue.take()
		found.notes.Origin(found.rootsOf(c)...)
		all = append(all, &strategy{process: p, index: i, pristine: pristine, own: memory.Of(found.rootsOf(c)...), description: core.Description{
			Name:    c.name,
			Process: system.ProcessName(names),
			Watches: informer.Kinds(found.watches(c)),
			Initial: initial,
			Workers: c.workers,
			Active:  active[i],
			Divided: true,
			Opaque:  true,
		}})
	}
	return all
}
