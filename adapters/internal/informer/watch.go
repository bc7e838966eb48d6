package informer

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Watch is an event handler with what it listens to.
type Watch struct {
	Form    Form
	Handler cache.ResourceEventHandler
}

// Kinds are the kinds that watches listen to, in order.
func Kinds(watches []Watch) []core.Kind {
	var kinds []core.Kind
	for _, w := range watches {
		kinds = append(kinds, w.Form.Name())
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Deliver shows an event to the watches of its kind, in their order. Like a real informer it gives the same object
// to all handlers. The server is only asked how the object looks.
func Deliver(server *kube.Server, decoder *Decoder, watches []Watch, event core.Event) {
	before := shown(server, decoder, event.Key, event.Old)
	after := shown(server, decoder, event.Key, event.New)
	for _, w := range watches {
		switch {
		case w.Form.Name() != event.Key.Kind:
		case event.Old == nil:
			w.Handler.OnAdd(after.as(w.Form), event.Initial)
		case event.New == nil && event.Missed:
			name := cache.NewObjectName(event.Key.Namespace, event.Key.Name)
			w.Handler.OnDelete(cache.DeletedFinalStateUnknown{Key: name.String(), Obj: before.as(w.Form)})
		case event.New == nil:
			w.Handler.OnDelete(before.as(w.Form))
		default:
			w.Handler.OnUpdate(before.as(w.Form), after.as(w.Form))
		}
	}
}

// shown prepares a version of an object to be shown to event handlers.
func shown(server *kube.Server, decoder *Decoder, key core.Key, content core.Content) *shownObject {
	return &shownObject{server: server, decoder: decoder, key: key, content: content, objects: map[Form]client.Object{}}
}

// shownObject is one version of an object in the forms in which handlers see it.
type shownObject struct {
	server  *kube.Server
	decoder *Decoder
	key     core.Key
	content core.Content
	objects map[Form]client.Object
}

// as returns the object in a form. A typed object has no kind, as when it comes
// from a watch.
func (o *shownObject) as(of Form) client.Object {
	if object, known := o.objects[of]; known {
		return object
	}
	object, err := o.read(of)
	if err != nil {
		panic(fmt.Sprintf("informer: %s cannot be shown to event handlers: %v", o.key, err))
	}
	if of.As == Typed {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	o.objects[of] = object
	return object
}

// read asks the server for the object as a client would, of a world in which there
// is only this version of this object.
func (o *shownObject) read(of Form) (client.Object, error) {
	answer, err := o.server.Answer(lone{o.key, o.content}, &kube.Request{
		Verb:      kube.Get,
		Kind:      of.Kind,
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
	return o.decoder.Decode(of, response.Object)
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

// Held implements [core.Snapshot].
func (l lone) Held(core.Key) []core.Content { return nil }

// List implements [core.Snapshot].
func (l lone) List(kind core.Kind, namespace string) []core.Object {
	if kind != l.Key.Kind || (namespace != "" && namespace != l.Key.Namespace) {
		return nil
	}
	return []core.Object{core.Object(l)}
}

// Synced says, in whatever ways the client-go at hand asks, that the initial list
// was delivered: the engine does that before controllers run. A populated queue of
// client-go has all these ways.
type Synced struct{ *cache.FIFO }

// NewSynced returns such a queue.
func NewSynced() (Synced, error) {
	queue := cache.NewFIFO(cache.MetaNamespaceKeyFunc)
	return Synced{queue}, queue.Replace(nil, "")
}
