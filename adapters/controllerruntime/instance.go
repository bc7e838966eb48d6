package controllerruntime

import (
	"context"
	"errors"

	toolscache "k8s.io/client-go/tools/cache"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/core"
)

// instance is a controller on a manager of its own.
type instance struct {
	assembly   *assembly
	registered *registered
	blueprint  *blueprint
}

var _ core.Instance = (*instance)(nil)

// Reconcile implements [core.Instance]. An error that is terminal is logged and
// leaves no trace in the result, since such a request is not retried.
func (i *instance) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	i.assembly.current.Begin(recorder)
	item := decode(request)
	controller := i.registered.controller
	log := controller.GetLogger().WithValues("namespace", item.Namespace, "name", item.Name)
	sources := i.assembly.sources()
	result, err := controller.Reconcile(ctrllog.IntoContext(context.Background(), log), item)
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

// sameSources makes sure that no watch was added by a run, which would be deaf: only those that the set-up registers are known.
func (i *instance) sameSources(before int) {
	if i.assembly.sources() != before {
		i.assembly.current.Unmodelled("a watch that is added while controllers run", "only what the set-up watches is known: watch it from the start")
	}
}

// Handle implements [core.Instance]. Like a real informer it gives the same object
// to all handlers.
func (i *instance) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	i.assembly.current.Begin(recorder)
	before := shown(i.blueprint, event.Key, event.Old)
	after := shown(i.blueprint, event.Key, event.New)
	defer i.sameSources(i.assembly.sources())
	for _, w := range i.registered.watches.handlers {
		switch {
		case w.kind() != event.Key.Kind:
		case event.Old == nil:
			w.handler.OnAdd(after.as(w.form), event.Initial)
		case event.New == nil && event.Missed:
			name := toolscache.NewObjectName(event.Key.Namespace, event.Key.Name)
			w.handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: name.String(), Obj: before.as(w.form)})
		case event.New == nil:
			w.handler.OnDelete(before.as(w.form))
		default:
			w.handler.OnUpdate(before.as(w.form), after.as(w.form))
		}
	}
	return i.registered.queue.take()
}
