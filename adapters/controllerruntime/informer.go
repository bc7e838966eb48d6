package controllerruntime

import (
	"errors"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// informers collects the event handlers that are added to a manager's cache.
type informers struct {
	synced synced
	// watching is the controller whose sources are being started, nil while none
	// are.
	watching *watches
	// stray is told of handlers that belong to no controller.
	stray func(form)
}

// watches are the event handlers of one controller, in the order of its sources.
type watches struct {
	handlers []watch
	// failed is told of an informer that cannot be had, since sources would try
	// for ever.
	failed func()
}

// watch is an event handler with what it listens to.
type watch struct {
	form    form
	handler toolscache.ResourceEventHandler
}

// fail reports that an informer cannot be had, and returns why.
func (i *informers) fail(err error) error {
	if i.watching != nil {
		i.watching.failed()
	}
	return err
}

// informer is the place where handlers for a form are added. Its events come from
// the engine.
type informer struct {
	synced
	form      form
	informers *informers
}

var _ cache.Informer = (*informer)(nil)

// AddEventHandler implements [cache.Informer].
func (i *informer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	if w := i.informers.watching; w != nil {
		w.handlers = append(w.handlers, watch{i.form, handler})
	} else {
		i.informers.stray(i.form)
	}
	return i.synced, nil
}

// AddEventHandlerWithResyncPeriod implements [cache.Informer]. Resyncs do not
// happen.
func (i *informer) AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler, _ time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// AddEventHandlerWithOptions implements [cache.Informer].
func (i *informer) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// RemoveEventHandler implements [cache.Informer].
func (i *informer) RemoveEventHandler(toolscache.ResourceEventHandlerRegistration) error {
	return errors.New("removing an event handler is not modelled")
}

// AddIndexers implements [cache.Informer].
func (i *informer) AddIndexers(toolscache.Indexers) error {
	return errors.New("indexers of an informer are not modelled: register the field with the manager's GetFieldIndexer().IndexField")
}

// IsStopped implements [cache.Informer].
func (i *informer) IsStopped() bool { return false }

// synced says, in whatever ways the client-go at hand asks, that the initial list
// was delivered: the engine does that before controllers run. A populated queue of
// client-go has all these ways.
type synced struct{ *toolscache.FIFO }

func newSynced() (synced, error) {
	queue := toolscache.NewFIFO(toolscache.MetaNamespaceKeyFunc)
	return synced{queue}, queue.Replace(nil, "")
}
