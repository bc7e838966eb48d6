package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
)

// viewCache is the cache of a manager. It keeps nothing: what is read from it is
// asked of the controller's own view of the cluster.
type viewCache struct {
	view      informer.View
	informers *informers
	indexes   informer.Indexes
	// loans are those of the run that is going on, for reads that make no copies.
	loans *informer.Loans
	// holds tells what is shown.
	holds *holdings
}

var _ cache.Cache = (*viewCache)(nil)

// holding returns what the cache holds of a form.
func (c *viewCache) holding(of informer.Form) (h holding, namespaced bool, err error) {
	namespaced, err = c.view.Namespaced(of)
	return c.holds.of(of.Kind, namespaced), namespaced, err
}

// Get implements [client.Reader].
func (c *viewCache) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	of, err := informer.Of(into, c.view.Server.Scheme())
	if err != nil {
		return err
	}
	holding, namespaced, err := c.holding(of)
	if err != nil {
		return err
	}
	if !namespaced {
		key.Namespace = ""
	}
	from, err := holding.section(key.Namespace)
	if err != nil {
		return fmt.Errorf("unable to get: %v because of %w", key, err)
	}
	object, err := c.view.Get(ctx, of, key)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	var kept any
	if err == nil {
		if kept, err = from.keep(of, object); err != nil {
			return err
		}
	}
	if kept == nil {
		// The cache names a kind in its errors by the kind itself.
		return apierrors.NewNotFound(schema.GroupResource{Group: of.Kind.Group, Resource: of.Kind.Kind}, key.Name)
	}
	chosen := client.GetOptions{}
	chosen.ApplyOptions(options)
	shown, err := c.show(of, from, kept, chosen.UnsafeDisableDeepCopy)
	if err != nil {
		return err
	}
	found, target := reflect.ValueOf(shown), reflect.ValueOf(into)
	if !found.Type().AssignableTo(target.Type()) {
		return fmt.Errorf("cache had type %s, but %s was asked for", found.Type(), target.Type())
	}
	target.Elem().Set(found.Elem())
	return nil
}

// keep returns what a section of the cache holds of an object of the view, nil if the object is not in it.
func (s section) keep(of informer.Form, object client.Object) (any, error) {
	if of.As == informer.Typed {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as it comes from a watch
	}
	return informer.Keep(object, s.scope, s.transform)
}

// show returns what a read is answered with for what a section of the cache holds: the very same object where it is
// lent, or else a copy, which says what it is.
func (c *viewCache) show(of informer.Form, from section, kept any, lends *bool) (client.Object, error) {
	object, ok := kept.(client.Object)
	if !ok {
		return nil, fmt.Errorf("cache contained %T, which is not an Object", kept)
	}
	if from.lends || ptr.Deref(lends, false) {
		return c.loans.Lend(cached{of, from.namespace}, of.Name(), object), nil
	}
	object.GetObjectKind().SetGroupVersionKind(of.Kind)
	return object, nil
}

// cached names the informer of a section of the cache, whose objects are its own.
type cached struct {
	form      informer.Form
	namespace string
}

// List implements [client.Reader].
func (c *viewCache) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	of, err := informer.Of(into, c.view.Server.Scheme())
	if err != nil {
		return err
	}
	chosen := client.ListOptions{}
	chosen.ApplyOptions(options)
	if chosen.Continue != "" {
		return errors.New("continue list option is not supported by the cache")
	}
	holding, namespaced, err := c.holding(of)
	if err != nil {
		return err
	}
	namespace := chosen.Namespace
	if !namespaced {
		namespace = ""
	}
	sections, err := holding.in(namespace)
	if err != nil {
		return fmt.Errorf("unable to list: %v because of %w", namespace, err)
	}
	items := []runtime.Object{}
	for _, from := range sections {
		found, err := c.list(ctx, of, from, chosen)
		if err != nil {
			return err
		}
		items = append(items, found...)
	}
	if chosen.Limit > 0 {
		items = items[:min(chosen.Limit, int64(len(items)))]
	}
	if err := meta.SetList(into, items); err != nil {
		return err
	}
	into.SetContinue("continue-not-supported")
	return nil
}

// list returns what a section of the cache shows of what is chosen.
func (c *viewCache) list(ctx context.Context, of informer.Form, from section, chosen client.ListOptions) ([]runtime.Object, error) {
	var indexed choice
	if chosen.FieldSelector != nil {
		var err error
		if indexed, err = choose(c.indexes, of, chosen.FieldSelector); err != nil {
			return nil, err
		}
	}
	which := informer.Selection{Namespace: chosen.Namespace, Indexes: indexed.selector}
	if from.transform == nil { // which may change labels
		which.Labels = chosen.LabelSelector
	}
	which, some := from.scope.Select(which)
	if !some {
		return nil, nil
	}
	objects, err := c.view.List(ctx, of, which)
	if err != nil {
		return nil, err
	}
	var items []runtime.Object
	for _, object := range objects {
		kept, err := from.keep(of, object)
		if err != nil {
			return nil, err
		}
		if kept == nil {
			continue
		}
		shown, err := c.show(of, from, kept, chosen.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, err
		}
		if chosen.LabelSelector == nil || chosen.LabelSelector.Matches(labels.Set(shown.GetLabels())) {
			items = append(items, shown)
		}
	}
	if len(items) > 0 && indexed.missing != nil {
		return nil, indexed.missing
	}
	return items, nil
}

// choice is what a field selector asks of the indexes.
type choice struct {
	// selector is as much of it as there are indexes for.
	selector string
	// missing is the error if what that selects is looked for in an index that is not
	// there, nil if all are.
	missing error
}

// choose reads the field selector of a list. The errors are those of the real cache,
// which looks into one index after the other as long as anything is found.
func choose(x informer.Indexes, of informer.Form, selector fields.Selector) (choice, error) {
	requirements := transport.Requirements(selector)
	inexact := func(r fields.Requirement) bool {
		return r.Operator != selection.Equals && r.Operator != selection.DoubleEquals
	}
	if len(requirements) == 0 || slices.ContainsFunc(requirements, inexact) {
		return choice{}, errors.New("non-exact field matches are not supported by the cache")
	}
	var terms []string
	for i, r := range requirements {
		name := informer.Index{Form: of, Field: r.Field}
		if _, known := x[name]; !known {
			if i == 0 {
				return choice{}, fmt.Errorf("Index with name field:%s does not exist", r.Field) //nolint:staticcheck // the words of the real cache
			}
			return choice{strings.Join(terms, ","), fmt.Errorf("index with name field:%s does not exist", r.Field)}, nil
		}
		terms = append(terms, name.Term(r.Value))
	}
	return choice{selector: strings.Join(terms, ",")}, nil
}

// GetInformer implements [cache.Informers].
func (c *viewCache) GetInformer(_ context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	of, err := informer.Of(object, c.view.Server.Scheme())
	if err != nil {
		return nil, c.informers.fail(err)
	}
	return c.informer(of)
}

// GetInformerForKind implements [cache.Informers].
func (c *viewCache) GetInformerForKind(_ context.Context, kind schema.GroupVersionKind, _ ...cache.InformerGetOption) (cache.Informer, error) {
	return c.informer(informer.Form{Kind: kind, As: informer.Typed})
}

func (c *viewCache) informer(of informer.Form) (cache.Informer, error) {
	if err := c.view.Serves(of, nil); err != nil {
		return nil, c.informers.fail(err)
	}
	holding, _, err := c.holding(of)
	if err != nil {
		return nil, c.informers.fail(err)
	}
	for _, s := range holding.sections {
		if err := c.view.Serves(of, s.scope); err != nil {
			return nil, c.informers.fail(err)
		}
	}
	if c.informers.watching != nil {
		c.view.Watch(of)
	}
	return &registration{Synced: c.informers.synced, form: of, sections: holding.sections, informers: c.informers}, nil
}

// RemoveInformer implements [cache.Informers].
func (c *viewCache) RemoveInformer(context.Context, client.Object) error {
	c.view.Current.Unmodelled("removing an informer from the cache", "a cache keeps what it has: leave the informer there")
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
	of, err := informer.Of(object, c.view.Server.Scheme())
	if err != nil {
		return err
	}
	c.view.Current.Unmodelled("adding the index "+field, "only indexes that the set-up adds are known: add it there")
	holding, _, err := c.holding(of)
	if err != nil {
		return err
	}
	return c.indexes.Add(of, field, func(object client.Object) ([]string, error) {
		from, err := holding.section(object.GetNamespace())
		if err != nil {
			return nil, nil //nolint:nilerr // the cache does not have it
		}
		kept, err := informer.Keep(object, from.scope, from.transform)
		if err != nil || kept == nil {
			return nil, err
		}
		held, ok := kept.(client.Object)
		if !ok {
			return nil, fmt.Errorf("the cache holds a %T, which is not an object", kept)
		}
		return extract(held), nil
	})
}

// informers collects the event handlers that are added to a manager's cache.
type informers struct {
	synced informer.Synced
	// watching is the controller whose sources are being started, nil while none
	// are.
	watching *watches
	// stray is told of handlers that belong to no controller, and several of those that listen to more than one
	// informer.
	stray, several func(informer.Form)
}

// watches are the event handlers of one controller, in the order of its sources.
type watches struct {
	handlers []informer.Watch
	// failed is told of an informer that cannot be had, since sources would try
	// for ever.
	failed func()
}

// fail reports that an informer cannot be had, and returns why.
func (i *informers) fail(err error) error {
	if i.watching != nil {
		i.watching.failed()
	}
	return err
}

// registration is the place where handlers for a form are added. Its events come from
// the engine.
type registration struct {
	informer.Synced
	form      informer.Form
	sections  []section
	informers *informers
}

var _ cache.Informer = (*registration)(nil)

// AddEventHandler implements [cache.Informer].
func (i *registration) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	if w := i.informers.watching; w != nil {
		if len(i.sections) > 1 {
			i.informers.several(i.form)
		}
		for _, s := range i.sections {
			w.handlers = append(w.handlers, informer.Watch{Form: i.form, Scope: s.scope, Transform: s.transform, Cache: cached{i.form, s.namespace}, Handler: handler})
		}
	} else {
		i.informers.stray(i.form)
	}
	return i.Synced, nil
}

// AddEventHandlerWithResyncPeriod implements [cache.Informer]. Resyncs do not
// happen.
func (i *registration) AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler, _ time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// AddEventHandlerWithOptions implements [cache.Informer].
func (i *registration) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// RemoveEventHandler implements [cache.Informer].
func (i *registration) RemoveEventHandler(toolscache.ResourceEventHandlerRegistration) error {
	return errors.New("removing an event handler is not modelled")
}

// AddIndexers implements [cache.Informer].
func (i *registration) AddIndexers(toolscache.Indexers) error {
	return errors.New("indexers of an informer are not modelled: register the field with the manager's GetFieldIndexer().IndexField")
}

// IsStopped implements [cache.Informer].
func (i *registration) IsStopped() bool { return false }
