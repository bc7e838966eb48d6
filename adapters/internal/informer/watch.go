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
	Form Form
	// Scope is that of the informer, nil for all objects.
	Scope *Scope
	// Transform is what the informer keeps of an object, nil for all of it.
	Transform cache.TransformFunc
	// Cache names the cache whose objects the handler gets, as in [Loans.Lend]. Without it objects belong to the
	// handlers of the event alone.
	Cache   any
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

// Deliver shows an event to the watches of its kind, in their order. Like a real informer it gives the same object to
// all handlers of a cache, which lends it. The server is only asked how the object looks. An object that comes into the
// scope of an informer is created for its handlers, and one that leaves it deleted.
func Deliver(server *kube.Server, decoder *Decoder, loans *Loans, watches []Watch, event core.Event) {
	before := shown(server, decoder, loans, event.Key, event.Old)
	after := shown(server, decoder, loans, event.Key, event.New)
	for _, w := range watches {
		if w.Form.Name() != event.Key.Kind {
			continue
		}
		was, is := before.in(w), after.in(w)
		switch {
		case was == nil && is == nil:
		case was == nil:
			w.Handler.OnAdd(is, event.Initial)
		case is == nil && event.Missed:
			name := cache.NewObjectName(event.Key.Namespace, event.Key.Name)
			w.Handler.OnDelete(cache.DeletedFinalStateUnknown{Key: name.String(), Obj: was})
		case is == nil:
			w.Handler.OnDelete(was)
		default:
			w.Handler.OnUpdate(was, is)
		}
	}
}

// shown prepares a version of an object to be shown to event handlers.
func shown(server *kube.Server, decoder *Decoder, loans *Loans, key core.Key, content core.Content) *shownObject {
	return &shownObject{server: server, decoder: decoder, loans: loans, key: key, content: content, objects: map[any]any{}}
}

// shownObject is one version of an object in the forms in which handlers see it.
type shownObject struct {
	server  *kube.Server
	decoder *Decoder
	loans   *Loans
	key     core.Key
	content core.Content
	// objects are by the caches, or else the forms, that show them.
	objects map[any]any
}

// in returns the object as a watch shows it, nil if it does not. A typed object has no kind, as when it comes from a
// watch.
func (o *shownObject) in(w Watch) any {
	if o.content == nil {
		return nil
	}
	name := any(w.Form)
	if w.Cache != nil {
		name = w.Cache
	}
	if object, known := o.objects[name]; known {
		return object
	}
	object, err := o.read(w.Form)
	if err != nil {
		panic(fmt.Sprintf("informer: %s cannot be shown to event handlers: %v", o.key, err))
	}
	if w.Form.As == Typed {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	kept, err := Keep(object, w.Scope, w.Transform)
	if err != nil {
		panic(fmt.Sprintf("informer: %s cannot be shown to event handlers: %v", o.key, err))
	}
	if shared, ok := kept.(client.Object); ok && w.Cache != nil {
		kept = o.loans.Lend(w.Cache, o.key.Kind, shared)
	}
	o.objects[name] = kept
	return kept
}

// Keep returns what an informer keeps of an object, nil if the object is not in its scope.
func Keep(object client.Object, scope *Scope, transform cache.TransformFunc) (any, error) {
	if !scope.selects(object) {
		return nil, nil
	}
	if transform == nil {
		return object, nil
	}
	kept, err := transform(object)
	if err != nil {
		return nil, fmt.Errorf("the transform of the informer failed: %w", err)
	}
	return kept, nil
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
