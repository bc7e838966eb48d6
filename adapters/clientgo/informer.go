package clientgo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"k8s.io/client-go/tools/cache"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/memory"
)

// later are the methods that later versions of client-go ask of an informer besides. They are further away than those
// of [informer.Synced], some of which are among them.
type later struct{ farther }

type farther struct{ cache.SharedIndexInformer }

// sharedInformer is an informer whose store is the process's view, and whose event handlers the engine calls.
type sharedInformer struct {
	later
	informer.Synced
	environment *Environment
	form        informer.Form
	scope       *informer.Scope
	transform   cache.TransformFunc
	// group tells apart informers of one form, see [Environment.group].
	group    int
	store    viewStore
	handlers []*registration
}

var _ cache.SharedIndexInformer = (*sharedInformer)(nil)

// refused returns why the API server refuses what the informer lists, nil if it does not.
func (i *sharedInformer) refused() error {
	if i.scope == nil {
		return nil
	}
	return i.environment.view.Serves(i.form, i.scope)
}

// registration is an event handler of an informer.
type registration struct {
	informer.Synced
	handler cache.ResourceEventHandler
	// owner is the number of the controller that is registered next.
	owner int
}

var _ cache.ResourceEventHandlerRegistration = (*registration)(nil)

// AddEventHandler implements [cache.SharedInformer].
func (i *sharedInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	if i.addsLate() {
		return nil, errors.New("an event handler that is added while controllers run is not modelled")
	}
	if err := i.refused(); err != nil {
		return nil, err
	}
	r := &registration{Synced: i.Synced, handler: handler, owner: len(i.environment.controllers)}
	i.handlers = append(i.handlers, r)
	return r, nil
}

// addsLate reports whether controllers run already, in which case the check ends here: an event handler is being added.
func (i *sharedInformer) addsLate() bool {
	return i.environment.current.Unmodelled(fmt.Sprintf("adding an event handler to the informer of %s", i.form.Name()), "only what the set-up watches is known: add the handler there")
}

// AddEventHandlerWithResyncPeriod implements [cache.SharedInformer]. Resyncs do not happen.
func (i *sharedInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// AddEventHandlerWithOptions implements [cache.SharedInformer].
func (i *sharedInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// RemoveEventHandler implements [cache.SharedInformer].
func (i *sharedInformer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	if i.environment.current.Unmodelled(fmt.Sprintf("removing an event handler from the informer of %s", i.form.Name()), "only what the set-up watches is known: leave the handler there") {
		return errors.New("removing an event handler while controllers run is not modelled")
	}
	i.handlers = slices.DeleteFunc(i.handlers, func(r *registration) bool { return r == handle })
	return nil
}

// GetStore implements [cache.SharedInformer].
func (i *sharedInformer) GetStore() cache.Store { return &i.store }

// GetIndexer implements [cache.SharedIndexInformer].
func (i *sharedInformer) GetIndexer() cache.Indexer { return &i.store }

// AddIndexers implements [cache.SharedIndexInformer].
func (i *sharedInformer) AddIndexers(indexers cache.Indexers) error {
	return i.store.AddIndexers(indexers)
}

// GetController implements [cache.SharedInformer]: there is nothing to control.
func (i *sharedInformer) GetController() cache.Controller { return i }

// HasSynced implements [cache.SharedInformer].
func (i *sharedInformer) HasSynced() bool {
	i.environment.awaited.Store(true)
	return true
}

// Run implements [cache.SharedInformer]. There is nothing to do for it: the engine tells the handlers. While
// controllers run it lasts as long as a real one, in a set-up nobody would end it.
func (i *sharedInformer) Run(stop <-chan struct{}) {
	i.environment.awaited.Store(true)
	if i.environment.current.Run() != nil {
		<-stop
	}
}

// RunWithContext implements [cache.SharedInformer].
func (i *sharedInformer) RunWithContext(ctx context.Context) { i.Run(ctx.Done()) }

// LastSyncResourceVersion implements [cache.SharedInformer]. There is no version of all objects of a kind here.
func (i *sharedInformer) LastSyncResourceVersion() string {
	i.environment.current.Unmodelled(fmt.Sprintf("asking how far the informer of %s has come", i.form.Name()), "there is no version of all objects of a kind: leave it out")
	return ""
}

// SetWatchErrorHandler implements [cache.SharedInformer]: watches do not fail.
func (i *sharedInformer) SetWatchErrorHandler(cache.WatchErrorHandler) error { return nil }

// SetWatchErrorHandlerWithContext implements [cache.SharedInformer].
func (i *sharedInformer) SetWatchErrorHandlerWithContext(cache.WatchErrorHandlerWithContext) error {
	return nil
}

// SetTransform implements [cache.SharedInformer].
func (i *sharedInformer) SetTransform(transform cache.TransformFunc) error {
	if i.environment.current.Run() != nil {
		return errors.New("informer has already started")
	}
	i.transform = transform
	return nil
}

// IsStopped implements [cache.SharedInformer].
func (i *sharedInformer) IsStopped() bool { return false }

// handmade returns an error if a controller holds an informer that client-go has made, or a lister of one: nobody fills
// its store, in which there would be nothing, whatever the API server has.
func (e *Environment) handmade() error {
	if at := memory.Find(unshared, e.roots()...); at != "" {
		return fmt.Errorf("%s is an informer of cache.NewInformer, NewIndexerInformer or NewInformerWithOptions, which is not modelled: have the controller take a cache.SharedIndexInformer, and pass it one of Environment.Informer or of a factory that was filled", at)
	}
	if at := memory.Find(unfed, e.roots()...); at != "" {
		return fmt.Errorf("%s is an informer, or a lister of one, that the set-up did not get from the environment: nobody would fill it. Make it by a factory that was filled "+
			"with Environment.Fill, or with Environment.Informer; one that a constructor makes by itself is taken over with Environment.TakeOverInformers", at)
	}
	return nil
}

// unshared reports whether a value is what runs an informer that nobody shares.
func unshared(v reflect.Value) bool {
	return v.Kind() == reflect.Struct && v.Type().PkgPath() == clientgoCache && v.Type().Name() == "controller"
}

// unfed reports whether a value is an informer that client-go has made, a lister that shows a store which it has made,
// or what makes such informers: a factory that was not filled.
func unfed(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
	case reflect.Func:
		of := receiver(v)
		return of.IsValid() && fromClientgo(of, "sharedIndexInformer", "controller", "Reflector")
	default:
		return false
	}
	switch at := v.Type().PkgPath(); {
	case at == clientgoCache:
		return fromClientgo(v, "sharedIndexInformer", "controller", "Reflector")
	case ofInformers(v.Type()):
		return asksUnfilled(v)
	case strings.Contains(at, "/listers"):
		for i := range v.NumField() {
			if field := v.Field(i); fromClientgo(field, "cache") || unfed(field) {
				return true
			}
		}
	}
	return false
}

// receiver returns the informer whose method a function is, such as the [cache.InformerSynced] that controllers keep;
// the zero value for all others. A method that is a value is a pointer to where it is in memory, with its receiver
// behind that. Of those of interfaces, this is one, too.
func receiver(function reflect.Value) reflect.Value {
	if function.IsNil() || !function.CanAddr() {
		return reflect.Value{}
	}
	name := runtime.FuncForPC(function.Pointer()).Name()
	of, method := strings.CutSuffix(strings.TrimPrefix(name, clientgoCache+"."), "-fm")
	if !method || !strings.HasPrefix(name, clientgoCache) {
		return reflect.Value{}
	}
	behind := unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(function.UnsafeAddr())), unsafe.Sizeof(uintptr(0)))
	of, _, _ = strings.Cut(of, ".")
	switch of {
	case "SharedIndexInformer":
		return reflect.ValueOf(*(*cache.SharedIndexInformer)(behind))
	case "SharedInformer":
		return reflect.ValueOf(*(*cache.SharedInformer)(behind))
	case "Controller":
		return reflect.ValueOf(*(*cache.Controller)(behind))
	}
	return reflect.Value{}
}

// ofInformers reports whether a type is of a package of informers: a generated one, or one that was written after
// these.
func ofInformers(t reflect.Type) bool {
	at := t.PkgPath()
	return strings.Contains(at, "/informers") || strings.HasSuffix(at, "informer")
}

// asksUnfilled reports whether a value of a package of informers gets them from a factory that was not filled: whether
// it is the factory, an informer of it, or what asks it for one.
func asksUnfilled(v reflect.Value) bool {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || !ofInformers(v.Type()) {
		return false
	}
	if made := v.FieldByName("informers"); made.IsValid() && made.Kind() == reflect.Map {
		for each := made.MapRange(); each.Next(); {
			if of := each.Value(); fromClientgo(of, "sharedIndexInformer") || asksUnfilled(of) {
				return true
			}
		}
		return made.Len() == 0 && v.FieldByName("tweakListOptions").IsValid() // else it is something else that is called so
	}
	for _, name := range []string{"informer", "factory"} {
		if field := v.FieldByName(name); field.IsValid() && (fromClientgo(field, "sharedIndexInformer") || asksUnfilled(field)) {
			return true
		}
	}
	return false
}

// fromClientgo reports whether a value, or what it points to, is of one of these types of client-go, or such a one with
// types besides, and shows what client-go puts there.
func fromClientgo(v reflect.Value, types ...string) bool {
	return ofClientgo(v, types...) && !showsView(v)
}

// ofClientgo reports whether a value, or what it points to, is of one of these types of client-go, or such a one with
// types besides.
func ofClientgo(v reflect.Value, types ...string) bool {
	v = unwrapped(v)
	return v.Kind() == reflect.Struct && v.Type().PkgPath() == clientgoCache && slices.Contains(types, v.Type().Name())
}

// unwrapped returns what a value points to, without what later versions of client-go put around it to add types.
func unwrapped(v reflect.Value) reflect.Value {
	for {
		switch {
		case v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer:
			v = v.Elem()
		case v.Kind() == reflect.Struct && v.Type().PkgPath() == clientgoCache && strings.HasPrefix(v.Type().Name(), "typed") && v.NumField() == 1:
			v = v.Field(0)
		default:
			return v
		}
	}
}

// clientgoCache is the package of informers.
const clientgoCache = "k8s.io/client-go/tools/cache"
