package observe

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/record/live"
)

// observedCache records what is read from a cache, and the events that its informers hand to controllers.
type observedCache struct {
	cache.Cache
	recorder *Recorder
	scheme   *runtime.Scheme
}

// Get implements client.Reader.
func (c *observedCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return observedReader{c.Cache, c.recorder, c.scheme, alwaysCached}.Get(ctx, key, o, options...)
}

// List implements client.Reader.
func (c *observedCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return observedReader{c.Cache, c.recorder, c.scheme, alwaysCached}.List(ctx, list, options...)
}

// GetInformer implements cache.Informers.
func (c *observedCache) GetInformer(ctx context.Context, o client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := c.Cache.GetInformer(ctx, o, options...)
	return c.observe(ctx, informer), err
}

// GetInformerForKind implements cache.Informers.
func (c *observedCache) GetInformerForKind(ctx context.Context, kind schema.GroupVersionKind, options ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := c.Cache.GetInformerForKind(ctx, kind, options...)
	return c.observe(ctx, informer), err
}

// observe returns an informer that records what it hands to the controller that asks for it. Others get theirs as it
// is.
func (c *observedCache) observe(ctx context.Context, informer cache.Informer) cache.Informer {
	name, _ := ctx.Value(controllerKey{}).(string)
	if informer == nil || name == "" {
		return informer
	}
	return &observedInformer{informer, c.recorder, c.scheme, name}
}

// observedInformer wraps the handlers of a controller.
type observedInformer struct {
	cache.Informer
	recorder   *Recorder
	scheme     *runtime.Scheme
	controller string
}

// AddEventHandler implements cache.Informer.
func (i *observedInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandler(&observedHandler{h, i.recorder, i.scheme, i.controller})
}

// AddEventHandlerWithResyncPeriod implements cache.Informer.
func (i *observedInformer) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandlerWithResyncPeriod(&observedHandler{h, i.recorder, i.scheme, i.controller}, period)
}

// AddEventHandlerWithOptions implements cache.Informer.
func (i *observedInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandlerWithOptions(&observedHandler{h, i.recorder, i.scheme, i.controller}, options)
}

// observedHandler records the events that a handler gets.
type observedHandler struct {
	toolscache.ResourceEventHandler
	recorder   *Recorder
	scheme     *runtime.Scheme
	controller string
}

// OnAdd implements toolscache.ResourceEventHandler.
func (h *observedHandler) OnAdd(o any, initial bool) {
	defer h.happens(live.Event{Type: live.Added, Initial: initial}, o)()
	h.ResourceEventHandler.OnAdd(o, initial)
}

// OnUpdate implements toolscache.ResourceEventHandler.
func (h *observedHandler) OnUpdate(old, o any) {
	defer h.happens(live.Event{Type: live.Updated}, o, old)()
	h.ResourceEventHandler.OnUpdate(old, o)
}

// OnDelete implements toolscache.ResourceEventHandler.
func (h *observedHandler) OnDelete(o any) {
	event := live.Event{Type: live.Deleted}
	last := o
	if unknown, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		event.Missed, last = true, unknown.Obj
	}
	defer h.happens(event, last)()
	h.ResourceEventHandler.OnDelete(o)
}

// happens records an event, and until the returned function is called, that it is being handled.
func (h *observedHandler) happens(event live.Event, objects ...any) (handled func()) {
	handled = func() {}
	defer h.recorder.contain()
	if !h.recorder.on.Load() {
		return handled
	}
	sampled := false
	all := make([]client.Object, len(objects))
	for i, o := range objects {
		object, ok := o.(client.Object)
		if !ok {
			return handled
		}
		all[i] = object
		sampled = sampled || h.recorder.samples(object.GetNamespace(), object.GetName())
	}
	event.Controller = h.controller
	d := &dispatch{record: func() uint64 {
		shown := make([]version, len(all))
		for i, object := range all {
			shown[i] = h.recorder.version(h.scheme, object, true)
		}
		return h.recorder.next(shown, body{}, func(n uint64, now time.Duration) live.Entry {
			event.N, event.At = n, now
			return event
		})
	}}
	if sampled {
		d.event()
	}
	return h.recorder.current.begin(d)
}
