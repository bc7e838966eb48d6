package controllerruntime

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/kube"
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
	i.assembly.turn.begin(recorder)
	item := decode(request)
	controller := i.registered.controller
	log := controller.GetLogger().WithValues("namespace", item.Namespace, "name", item.Name)
	result, err := controller.Reconcile(ctrllog.IntoContext(context.Background(), log), item)
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
	return core.Result{Requeue: result.Requeue} //nolint:staticcheck // deprecated, and still used by many
}

// Handle implements [core.Instance]. Like a real informer it gives the same object
// to all handlers.
func (i *instance) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	i.assembly.turn.begin(recorder)
	before := i.shown(event.Key, event.Old)
	after := i.shown(event.Key, event.New)
	for _, w := range i.registered.watches.handlers {
		switch {
		case w.kind() != event.Key.Kind:
		case event.Old == nil:
			w.handler.OnAdd(after.as(w.form), false)
		case event.New == nil:
			w.handler.OnDelete(before.as(w.form))
		default:
			w.handler.OnUpdate(before.as(w.form), after.as(w.form))
		}
	}
	return i.registered.queue.take()
}

// shown prepares a version of an object to be shown to event handlers.
func (i *instance) shown(key core.Key, content core.Content) *shownObject {
	return &shownObject{blueprint: i.blueprint, key: key, content: content, objects: map[form]client.Object{}}
}

// shownObject is one version of an object in the forms in which handlers see it.
type shownObject struct {
	blueprint *blueprint
	key       core.Key
	content   core.Content
	objects   map[form]client.Object
}

// as returns the object in a form. A typed object has no kind, as when it comes
// from a watch.
func (o *shownObject) as(of form) client.Object {
	if object, known := o.objects[of]; known {
		return object
	}
	object, err := o.read(of)
	if err != nil {
		panic(fmt.Sprintf("controllerruntime: %s cannot be shown to event handlers: %v", o.key, err))
	}
	if of.as == typed {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	o.objects[of] = object
	return object
}

// read asks the server for the object as a client would, of a world in which there
// is only this version of this object.
func (o *shownObject) read(of form) (client.Object, error) {
	answer, err := o.blueprint.server.Answer(lone{o.key, o.content}, &kube.Request{
		Verb:      kube.Get,
		Kind:      of.kind,
		Namespace: o.key.Namespace,
		Name:      o.key.Name,
	})
	if err != nil {
		return nil, err
	}
	response, ok := answer.Response.(*kube.Response)
	if !ok {
		return nil, fmt.Errorf("the answer is a %T", answer.Response)
	}
	if err := response.Err(); err != nil {
		return nil, err
	}
	return of.decode(response.Object, o.blueprint.scheme)
}

// lone is a store with a single object.
type lone core.Object

var _ core.Snapshot = lone{}

// Get implements [core.Snapshot].
func (l lone) Get(key core.Key) core.Content {
	if key != l.Key {
		return nil
	}
	return l.Content
}

// List implements [core.Snapshot].
func (l lone) List(kind core.Kind, namespace string) []core.Object {
	if kind != l.Key.Kind || (namespace != "" && namespace != l.Key.Namespace) {
		return nil
	}
	return []core.Object{core.Object(l)}
}
