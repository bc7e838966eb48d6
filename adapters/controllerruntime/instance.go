package controllerruntime

import (
	"context"
	"errors"
	"reflect"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/memory"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/core"
)

// instance is a controller on a manager of its own, with those that share its process.
type instance struct {
	assembly   *assembly
	registered *registered
	process    []*registered
	blueprint  *blueprint
}

var _ core.Plural = (*instance)(nil)

// Of implements [core.Plural].
func (i *instance) Of(controller string) core.Instance {
	for _, c := range i.process {
		if c.name == controller {
			return &instance{assembly: i.assembly, registered: c, process: i.process, blueprint: i.blueprint}
		}
	}
	return nil
}

// Reconcile implements [core.Instance]. An error that is terminal is logged and
// leaves no trace in the result, since such a request is not retried.
func (i *instance) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	i.assembly.begin(recorder)
	item := decode(request)
	controller := i.registered.controller
	log := system.Anew(controller.GetLogger().WithValues("namespace", item.Namespace, "name", item.Name))
	sources := i.assembly.sources()
	ctx := &identified{Context: i.assembly.current.Context(i.assembly.base)}
	result, err := controller.Reconcile(ctrllog.IntoContext(ctx, log), item)
	if asked, remedy, unknown := system.Unknown(err); unknown {
		i.assembly.current.Unmodelled(asked, remedy)
	}
	i.assembly.current.End()
	i.sameSources(sources)
	switch {
	case errors.Is(err, reconcile.TerminalError(nil)):
		log.Error(err, "Reconciler error, not retried")
		return core.Result{}
	case err != nil:
		log.Error(err, "Reconciler error")
		return core.Result{Err: err}
	case result.RequeueAfter > 0:
		return core.Result{RequeueAfter: result.RequeueAfter}
	}
	return core.Result{Requeue: result.Requeue}
}

// identified is the context of a reconcile, which has an id that nothing else has. It is drawn when it is asked for, so
// that nobody else counts as one who draws random values.
type identified struct {
	context.Context
	id types.UID
}

// Value implements [context.Context].
func (c *identified) Value(key any) any {
	const keeper, name = "sigs.k8s.io/controller-runtime/pkg/internal/controller", "reconcileIDKey"
	if t := reflect.TypeOf(key); t == nil || t.PkgPath() != keeper || t.Name() != name {
		return c.Context.Value(key)
	}
	if c.id == "" {
		c.id = uuid.NewUUID()
	}
	return c.id
}

// sameSources makes sure that no watch was added by a run, which would be deaf: only those that the set-up registers
// are known.
func (i *instance) sameSources(before int) {
	if i.assembly.sources() != before {
		i.assembly.current.Unmodelled("a watch that is added while controllers run", "only what the set-up watches is known: watch it from the start")
	}
}

// Handle implements [core.Instance].
func (i *instance) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	i.assembly.begin(recorder)
	defer i.assembly.current.End()
	defer i.sameSources(i.assembly.sources())
	i.registered.queue.handle()
	informer.Deliver(i.blueprint.server, i.blueprint.decoder, &i.assembly.loans, i.registered.watches.handlers, event)
	added, later := i.registered.queue.take()
	for _, request := range later {
		i.assembly.current.Enqueue(core.Item{Strategy: i.registered.name, Request: request}, true)
	}
	return added
}

var (
	_ core.Divided = (*instance)(nil)
	_ core.Lender  = (*instance)(nil)
	_ core.Logging = (*instance)(nil)
)

// Listen implements [core.Logging].
func (i *instance) Listen(hear func(core.LogLine)) (stop func()) {
	return i.blueprint.loggers.Listen(hear)
}

// Mutated implements [core.Lender].
func (i *instance) Mutated() string { return i.assembly.loans.Changed() }

// MemoryOf implements [core.Divided].
func (i *instance) MemoryOf(controller string) map[string]string {
	c := i.Of(controller).(*instance).registered
	return c.memory.Of(c.roots()...)
}

// Memory implements [core.Introspective]: what can be reached from the reconcilers of the process and from what they
// watch with.
func (i *instance) Memory() map[string]string {
	return i.assembly.memory.Of(i.assembly.roots(i.registered.setup)...)
}

// roots are what the memory of a process can be reached from: its controllers, and what works beside them. Where there
// are several controllers, the ways name them.
func (a *assembly) roots(setup int) []any {
	controllers := a.process(setup)
	var all []any
	for _, c := range controllers {
		for _, root := range c.roots() {
			if len(controllers) > 1 {
				root = memory.Named{Controller: c.name, Root: root}
			}
			all = append(all, root)
		}
	}
	for _, runnable := range a.runnables[setup] {
		all = append(all, runnable)
	}
	return all
}

// roots are what the memory of a controller can be reached from.
func (c *registered) roots() []any {
	var roots []any
	if do, ok := fieldOf[reconcile.Reconciler](reflect.ValueOf(c.controller).Elem(), "Do"); ok {
		roots = append(roots, *do)
	}
	for _, source := range *c.sources {
		roots = append(roots, source)
	}
	return roots
}
