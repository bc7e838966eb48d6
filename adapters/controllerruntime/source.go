package controllerruntime

import (
	"context"
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/orrery-dev/orrery/adapters/internal/system"
)

// startSources collects the event handlers of a controller from those of its
// sources that listen to the cluster.
func (a *assembly) startSources(c *registered) error {
	// The context is that of the handlers. It ends only if a source cannot start.
	ctx, cancel := context.WithCancel(a.base)
	c.watches.failed = cancel
	a.informers.watching = &c.watches
	defer func() { a.informers.watching = nil }()
	for _, s := range *c.sources {
		if err := start(ctx, s, &c.queue); err != nil {
			cancel()
			return fmt.Errorf("controller %s: %w", c.name, err)
		}
	}
	return nil
}

func start(ctx context.Context, s source.Source, queue *queue) error {
	switch s := s.(type) {
	case source.SyncingSource:
		if err := s.Start(ctx, queue); err != nil {
			return err
		}
		return s.WaitForSync(context.Background())
	case *source.Informer:
		return s.Start(ctx, queue)
	}
	return nil
}

// surveySources starts the sources of all controllers. Of those that do not listen
// to the cluster it takes what they enqueue at once, or notes that they are not
// modelled.
func (a *assembly) surveySources() error {
	ctx, cancel := context.WithCancel(a.base)
	defer cancel()
	for _, c := range a.controllers {
		if err := a.startSources(c); err != nil {
			return err
		}
		for _, s := range *c.sources {
			if err := a.surveySource(ctx, c, s); err != nil {
				return fmt.Errorf("controller %s: %w", c.name, err)
			}
		}
	}
	return nil
}

func (a *assembly) surveySource(ctx context.Context, c *registered, s source.Source) error {
	switch s.(type) {
	case source.SyncingSource, *source.Informer:
		return nil
	case initialRequests:
		return s.Start(ctx, &c.queue)
	case source.Func:
		a.leaveOut(system.Part{Option: withoutSources, Name: c.name, Text: fmt.Sprintf("controller %s listens to a function source, and what that enqueues after it has started is not delivered", c.name), Runs: true})
		return s.Start(ctx, &c.queue)
	}
	kind := reflect.TypeOf(s)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	a.leaveOut(system.Part{Option: withoutSources, Name: c.name, Text: fmt.Sprintf("controller %s listens to a source of type %s, and nothing is delivered from it", c.name, kind), Runs: true})
	return nil
}

// background returns the sources of a controller that deliver between runs.
func (a *assembly) background(c *registered) []source.Source {
	if a.leavesOut(withoutSources, c.name) {
		return nil
	}
	var found []source.Source
	for _, s := range *c.sources {
		switch s.(type) {
		case source.SyncingSource, *source.Informer, initialRequests:
		default:
			found = append(found, s)
		}
	}
	return found
}
