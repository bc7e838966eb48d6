package knative

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"knative.dev/pkg/apis"
	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/injection"

	"github.com/orrery-dev/orrery/adapters/clientgo"
)

// inject puts into a context all that is registered for injection, in the order of
// [injection.Interface.SetupInformers].
func inject(ctx context.Context, e *clientgo.Environment, configured *configuration) (context.Context, error) {
	all := injection.Default
	for _, client := range all.GetClients() {
		ctx = client(ctx, configured.of(e.Config()))
	}
	for _, factory := range all.GetInformerFactories() {
		before := ctx
		ctx = factory(ctx)
		for _, made := range put(before, ctx) {
			if err := e.Fill(made.value); err != nil {
				return nil, err
			}
		}
	}
	for _, ducks := range all.GetDucks() {
		before := ctx
		ctx = ducks(ctx)
		for _, made := range put(before, ctx) {
			of, err := duckOf(made.value)
			if err != nil {
				return nil, err
			}
			ctx = context.WithValue(ctx, made.key, duck.InformerFactory(&duck.CachedInformerFactory{Delegate: &ducksOf{e, of}}))
		}
	}
	for _, informers := range all.GetFilteredInformers() {
		ctx, _ = informers(ctx)
	}
	for _, informer := range all.GetInformers() {
		ctx, _ = informer(ctx)
	}
	return ctx, nil
}

// entry is a value that a context has.
type entry struct{ key, value any }

// put returns what was put into a context, from one on that it was made of. Who is registered for injection keeps its
// keys to itself.
func put(before, after context.Context) []entry {
	var all []entry
	for after != before {
		v := reflect.ValueOf(after)
		if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
			break
		}
		v = v.Elem()
		parent, key, value := v.FieldByName("Context"), v.FieldByName("key"), v.FieldByName("val")
		if !parent.IsValid() || !key.IsValid() || !value.IsValid() {
			break
		}
		inside := func(f reflect.Value) any { return *(*any)(f.Addr().UnsafePointer()) }
		all = append(all, entry{inside(key), inside(value)})
		after = parent.Interface().(context.Context)
	}
	return all
}

// duckOf returns the duck type that the informers of a factory are for.
func duckOf(factory any) (apis.Listable, error) {
	switch f := factory.(type) {
	case *duck.CachedInformerFactory:
		return duckOf(f.Delegate)
	case *duck.EnqueueInformerFactory:
		return nil, fmt.Errorf("a %T with an event handler is not known to this version of the adapter", f)
	case *duck.TypedInformerFactory:
		return f.Type, nil
	}
	return nil, fmt.Errorf("a %T is not known to this version of the adapter", factory)
}

// ducksOf makes informers of a duck type.
type ducksOf struct {
	environment *clientgo.Environment
	of          apis.Listable
}

var _ duck.InformerFactory = (*ducksOf)(nil)

// Get implements [duck.InformerFactory].
func (d *ducksOf) Get(_ context.Context, resource schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	kind, err := d.environment.RESTMapper().KindFor(resource)
	if err != nil {
		return nil, nil, err
	}
	informer, err := d.environment.Duck(kind, d.of)
	if err != nil {
		return nil, nil, err
	}
	return informer, cache.NewGenericLister(informer.GetIndexer(), resource.GroupResource()), nil
}
