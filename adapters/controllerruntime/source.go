package controllerruntime

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// register learns what a controller is. Its type is internal to
// controller-runtime, so its fields are looked up by name.
func register(c controller.Controller) (*registered, error) {
	fields := reflect.ValueOf(c)
	if fields.Kind() == reflect.Pointer {
		fields = fields.Elem()
	}
	if fields.Kind() == reflect.Struct {
		name, hasName := fieldOfType[string](fields, "Name")
		workers, hasWorkers := fieldOfType[int](fields, "MaxConcurrentReconciles")
		recoverPanic, hasRecover := fieldOfType[*bool](fields, "RecoverPanic")
		if hasName && hasWorkers && hasRecover {
			*recoverPanic = ptr.To(false)
			return &registered{controller: c, name: *name, workers: *workers}, nil
		}
	}
	return nil, fmt.Errorf("%T is no controller as this adapter knows them: add the controller itself to the manager, not a wrapper around it, and use a version of controller-runtime that is supported", c)
}

// sources returns the sources that the controller was told to watch, in the order
// in which it was told. The controller would start them all at once, so that their
// handlers came in any order.
func (c *registered) sources() ([]source.Source, error) {
	const field = "startWatches"
	sources, ok := fieldOfType[[]source.Source](reflect.ValueOf(c.controller).Elem(), field)
	if !ok {
		return nil, fmt.Errorf("%T has no list %s of sources: use a version of controller-runtime that is supported", c.controller, field)
	}
	return *sources, nil
}

// fieldOfType returns the address of a field, exported or not, and false if there
// is no such field of that type.
func fieldOfType[T any](structure reflect.Value, name string) (*T, bool) {
	field := structure.FieldByName(name)
	if !field.IsValid() || field.Type() != reflect.TypeFor[T]() || !field.CanAddr() {
		return nil, false
	}
	return (*T)(field.Addr().UnsafePointer()), true
}

// startSources collects the event handlers of a controller from its sources.
func (a *assembly) startSources(c *registered) error {
	return a.eachSource(c, func(ctx context.Context, s source.Source) error {
		switch s := s.(type) {
		case source.SyncingSource:
			if err := s.Start(ctx, &c.queue); err != nil {
				return err
			}
			return s.WaitForSync(context.Background())
		case *source.Informer:
			return s.Start(ctx, &c.queue)
		}
		return nil
	})
}

// surveySources starts the sources of all controllers, and notes those that cannot
// be modelled.
func (a *assembly) surveySources() error {
	for _, c := range a.controllers {
		if err := a.startSources(c); err != nil {
			return err
		}
		err := a.eachSource(c, func(ctx context.Context, s source.Source) error {
			switch s.(type) {
			case source.SyncingSource, *source.Informer:
				return nil
			case initialRequests:
				return s.Start(ctx, &c.queue)
			case source.Func:
				a.assume("controller %s listens to a function source: what that enqueues after it has started is not modelled", c.name)
				return s.Start(ctx, &c.queue)
			}
			a.assume("controller %s listens to a %s: what that delivers is not modelled", c.name, sourceName(s))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachSource calls start with each source of a controller. Their context ends when
// one of them fails.
func (a *assembly) eachSource(c *registered, start func(context.Context, source.Source) error) error {
	sources, err := c.sources()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.watches.failed = cancel
	a.informers.watching = &c.watches
	defer func() { a.informers.watching = nil }()
	for _, s := range sources {
		if err := start(ctx, s); err != nil {
			cancel()
			return fmt.Errorf("controller %s: %w", c.name, err)
		}
	}
	return nil
}

// sourceName says what a source is.
func sourceName(s source.Source) string {
	t := reflect.TypeOf(s)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return "source of type " + t.String()
}
