package controllerruntime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
)

// viewCache is the cache of a manager. It holds nothing: what is read from it is
// asked of the controller's own view of the cluster, which may be stale.
type viewCache struct {
	scheme    *runtime.Scheme
	mapper    meta.RESTMapper
	current   *transport.Current
	informers *informers
	indexes   indexes
}

var _ cache.Cache = (*viewCache)(nil)

// Get implements [client.Reader].
func (c *viewCache) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	of, err := formOf(into, c.scheme)
	if err != nil {
		return err
	}
	run, namespaced, err := c.reading(of)
	if err != nil {
		return err
	}
	if !namespaced {
		key.Namespace = ""
	}
	response, err := run.Do(&kube.Request{
		Verb:      kube.Get,
		Kind:      of.kind,
		Namespace: key.Namespace,
		Name:      key.Name,
		FromCache: true,
	})
	if err != nil {
		return err
	}
	if err := response.Err(); err != nil {
		if apierrors.IsNotFound(err) {
			return apierrors.NewNotFound(of.groupResource(), key.Name)
		}
		return err
	}
	object, err := of.decode(response.Object, c.scheme)
	if err != nil {
		return err
	}
	found, target := reflect.ValueOf(object), reflect.ValueOf(into)
	if !found.Type().AssignableTo(target.Type()) {
		return fmt.Errorf("cache had type %s, but %s was asked for", found.Type(), target.Type())
	}
	target.Elem().Set(found.Elem())
	return nil
}

// List implements [client.Reader].
func (c *viewCache) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	of, err := formOf(into, c.scheme)
	if err != nil {
		return err
	}
	chosen := client.ListOptions{}
	chosen.ApplyOptions(options)
	if chosen.Continue != "" {
		return errors.New("continue list option is not supported by the cache")
	}
	var indexed choice
	if chosen.FieldSelector != nil {
		if indexed, err = c.indexes.choose(of, chosen.FieldSelector); err != nil {
			return err
		}
	}
	objects, err := c.list(of, &chosen, indexed.selector)
	if err != nil {
		return err
	}
	if len(objects) > 0 && indexed.missing != nil {
		return indexed.missing
	}
	if chosen.Limit > 0 {
		objects = objects[:min(chosen.Limit, int64(len(objects)))]
	}
	items := make([]runtime.Object, len(objects))
	for i, object := range objects {
		items[i] = object
	}
	if err := meta.SetList(into, items); err != nil {
		return err
	}
	into.SetContinue("continue-not-supported")
	return nil
}

// list returns the objects of the view that are in the namespace, match the labels, and
// are found in the indexes.
func (c *viewCache) list(of form, options *client.ListOptions, indexed string) ([]client.Object, error) {
	run, namespaced, err := c.reading(of)
	if err != nil {
		return nil, err
	}
	if !namespaced && options.Namespace != "" {
		return nil, nil
	}
	request := &kube.Request{Verb: kube.List, Kind: of.kind, Namespace: options.Namespace, FieldSelector: indexed, FromCache: true}
	if labels := options.LabelSelector; labels != nil {
		if _, selectable := labels.Requirements(); !selectable {
			return nil, nil
		}
		request.LabelSelector = labels.String()
	}
	response, err := run.Do(request)
	if err != nil {
		return nil, err
	}
	if err := response.Err(); err != nil {
		return nil, err
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(response.Object, &list); err != nil {
		return nil, err
	}
	objects := make([]client.Object, len(list.Items))
	for i, item := range list.Items {
		if objects[i], err = of.decode(item, c.scheme); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// reading returns the run that reads, and whether the kind has namespaces.
func (c *viewCache) reading(of form) (*transport.Run, bool, error) {
	mapping, err := c.mapper.RESTMapping(of.kind.GroupKind(), of.kind.Version)
	if err != nil {
		return nil, false, err
	}
	run := c.current.Run()
	if run == nil {
		return nil, false, &cache.ErrCacheNotStarted{}
	}
	return run, mapping.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// GetInformer implements [cache.Informers].
func (c *viewCache) GetInformer(_ context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	of, err := formOf(object, c.scheme)
	if err != nil {
		return nil, c.informers.fail(err)
	}
	return c.informer(of)
}

// GetInformerForKind implements [cache.Informers].
func (c *viewCache) GetInformerForKind(_ context.Context, kind schema.GroupVersionKind, _ ...cache.InformerGetOption) (cache.Informer, error) {
	return c.informer(form{kind, typed})
}

func (c *viewCache) informer(of form) (cache.Informer, error) {
	if _, err := of.empty(c.scheme); err != nil {
		return nil, c.informers.fail(err)
	}
	if _, err := c.mapper.RESTMapping(of.kind.GroupKind(), of.kind.Version); err != nil {
		return nil, c.informers.fail(fmt.Errorf("%w: add its custom resource definition with CRDs, or its Go type to the scheme", err))
	}
	return &informer{synced: c.informers.synced, form: of, informers: c.informers}, nil
}

// RemoveInformer implements [cache.Informers].
func (c *viewCache) RemoveInformer(context.Context, client.Object) error {
	c.current.Unmodelled("removing an informer from the cache", "a cache keeps what it has: leave the informer there")
	return errors.New("removing an informer is not modelled")
}

// Start implements [cache.Informers].
func (c *viewCache) Start(context.Context) error {
	return errors.New("the cache of a manager under check cannot be started: leave starting it out of the set-up")
}

// WaitForCacheSync implements [cache.Informers]: there is nothing to wait for.
func (c *viewCache) WaitForCacheSync(context.Context) bool { return true }

// IndexField implements [client.FieldIndexer].
func (c *viewCache) IndexField(_ context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	of, err := formOf(object, c.scheme)
	if err != nil {
		return err
	}
	c.current.Unmodelled("adding the index "+field, "only indexes that the set-up adds are known: add it there")
	return c.indexes.add(of, field, extract)
}

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
