package controllerruntime

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/memory"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/core"
)

// strategy is one of the controllers that a set-up registers.
type strategy struct {
	blueprint *blueprint
	// index is the position of the controller among those of the set-up.
	index       int
	description core.Description
	// notReconciled are kinds that are watched and whose objects are known to name no requests.
	notReconciled []core.Kind
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

// strategies returns the controllers that a survey has found.
func (b *blueprint) strategies(found *assembly) []core.Strategy {
	all := make([]core.Strategy, len(found.controllers))
	for i, c := range found.controllers {
		found.Origin(c.roots()...)
		members := found.process(c.setup)
		s := &strategy{blueprint: b, index: i, description: c.describe(), notReconciled: c.notReconciled(), pristine: memory.Of(found.roots(c.setup)...), own: memory.Of(c.roots()...)}
		s.description.Process = processName(members)
		s.description.Active = found.active(c.setup)
		s.description.Divided = !b.mirrored(members)
		all[i] = s
	}
	return all
}

// active reports whether anything goes on between the runs of what a set-up has registered.
func (a *assembly) active(setup int) bool {
	return len(a.runnables[setup]) > 0 || slices.ContainsFunc(a.process(setup), func(c *registered) bool { return len(a.background(c)) > 0 })
}

// processName is what the process of some controllers is called.
func processName(members []*registered) string {
	var names []string
	for _, c := range members {
		names = append(names, c.name)
	}
	return system.ProcessName(names)
}

func (c *registered) describe() core.Description {
	initial, _ := c.queue.take()
	return core.Description{
		Name:    c.name,
		Watches: informer.Kinds(c.watches.handlers),
		Initial: initial,
		Workers: c.workers,
		Merging: c.merging,
		Opaque:  true,
	}
}

// notReconciled returns the kinds of which it is known that no request is named by an object: each handler of a watch
// of theirs is one that maps objects to others, and there is another kind whose handler enqueues the object itself, as
// that of For does. The handler of a watch is in a field that is not exported: of one that is not found there, nothing
// is known.
func (c *registered) notReconciled() []core.Kind {
	itself, unknown := false, map[core.Kind]bool{}
	var kinds []core.Kind
	for _, w := range c.watches.handlers {
		switch name := handlerName(w.Handler); {
		case strings.HasPrefix(name, "TypedEnqueueRequestForObject["):
			itself, unknown[w.Form.Name()] = true, true
		case strings.HasPrefix(name, "enqueueRequestForOwner["), strings.HasPrefix(name, "enqueueRequestsFromMapFunc["):
			kinds = append(kinds, w.Form.Name())
		default:
			unknown[w.Form.Name()] = true
		}
	}
	if !itself {
		return nil
	}
	return slices.DeleteFunc(kinds, func(kind core.Kind) bool { return unknown[kind] })
}

// handlerName names the type of the handler of a watch, if it is one of controller-runtime's.
func handlerName(of any) string {
	v := reflect.Indirect(reflect.ValueOf(of))
	if v.Kind() != reflect.Struct {
		return ""
	}
	field := v.FieldByName("handler")
	if !field.IsValid() || field.Kind() != reflect.Interface || field.IsNil() {
		return ""
	}
	t := field.Elem().Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() != reflect.TypeFor[handler.EnqueueRequestForObject]().PkgPath() {
		return ""
	}
	return t.Name()
}

// Reconciles reports whether requests may be named by objects of a kind.
func (s *strategy) Reconciles(kind core.Kind) bool {
	return slices.Contains(s.description.Watches, kind) && !slices.Contains(s.notReconciled, kind)
}

// Describe implements [core.Strategy].
func (s *strategy) Describe() core.Description { return s.description }

// New implements [core.Strategy]. It runs the set-up on a fresh manager.
func (s *strategy) New() (core.Instance, error) {
	i, err := s.instance()
	if err != nil {
		return nil, err
	}
	if s.blueprint.mirrored(i.process) {
		return &mirror{strategy: s, fresh: i}, nil
	}
	return i, nil
}

// instance returns a fresh instance.
func (s *strategy) instance() (*instance, error) {
	a, err := s.blueprint.assemble()
	if err != nil {
		return nil, fmt.Errorf("controller %s cannot be set up again, as it is for each fresh instance (what may be done only once in a process, such as to define a flag, belongs before the check): %w", s.description.Name, err)
	}
	if s.index >= len(a.controllers) || a.controllers[s.index].name != s.description.Name {
		return nil, fmt.Errorf("controller %s cannot be set up again: the set-up registers other controllers than the first time; it must do the same each time it runs", s.description.Name)
	}
	c := a.controllers[s.index]
	process := a.process(c.setup)
	for _, member := range process {
		if err := a.startSources(member); err != nil {
			return nil, err
		}
	}
	return &instance{assembly: a, registered: c, process: process, blueprint: s.blueprint}, nil
}

// registered is a controller on its manager.
type registered struct {
	controller controller.Controller
	name       string
	workers    int
	// merging tells that its work queue is the one with priorities, which has one entry for each request.
	merging bool
	// setup is the number of the set-up that registers it.
	setup int
	// sources are what the controller was told to watch so far, in that order.
	sources *[]source.Source

	queue   queue
	watches watches
	memory  memory.Reader
}

// register learns what a controller is. The type of controllers is internal to
// controller-runtime, so their fields are looked up by name. The list of sources is
// not exported; a controller would start them all at once, so that their handlers
// came in any order.
func register(c controller.Controller) (*registered, error) {
	r := &registered{controller: c}
	if v := reflect.ValueOf(c); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		name, hasName := fieldOf[string](v.Elem(), "Name")
		workers, hasWorkers := fieldOf[int](v.Elem(), "MaxConcurrentReconciles")
		recovers, hasRecovers := fieldOf[*bool](v.Elem(), "RecoverPanic")
		sources, hasSources := fieldOf[[]source.Source](v.Elem(), "startWatches")
		if hasName && hasWorkers && hasRecovers && hasSources {
			*recovers = ptr.To(false) // panics are for the engine
			r.name, r.workers, r.sources, r.merging = *name, *workers, sources, merges(v.Elem())
			return r, nil
		}
	}
	return nil, fmt.Errorf("a %T is not a controller as this version of the adapter knows them: add the controller itself to the manager, not a wrapper around it, and use a supported version of controller-runtime", c)
}

// merges reports whether a controller makes the queue with priorities. Which one it makes is up to a function that only
// makes it, but the limit of its rate is another one then, unless the program has one of its own.
func merges(controller reflect.Value) bool {
	limiter, known := fieldOf[workqueue.TypedRateLimiter[reconcile.Request]](controller, "RateLimiter")
	if !known {
		return false
	}
	_, exponential := (*limiter).(*workqueue.TypedItemExponentialFailureRateLimiter[reconcile.Request])
	return exponential
}

// fieldOf returns the address of a field, exported or not, and false if there is no
// such field of that type.
func fieldOf[T any](structure reflect.Value, name string) (*T, bool) {
	field := structure.FieldByName(name)
	if !field.IsValid() || field.Type() != reflect.TypeFor[T]() {
		return nil, false
	}
	return (*T)(field.Addr().UnsafePointer()), true
}
