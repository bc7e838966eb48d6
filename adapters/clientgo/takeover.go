package clientgo

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/memory"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// takenInformer is an informer that code has made by itself, with the one of the process that stands behind it: whoever
// has the first one, its store or a lister of it sees what the second one shows.
type takenInformer struct {
	// made is a struct of client-go.
	made   reflect.Value
	behind *sharedInformer
	// ticks counts how often a handler was added.
	ticks time.Duration
	// heard is how many of the handlers are those of the process's informer.
	heard int
}

// TakeOverInformers takes over the informers that constructors have made by themselves, such as with a factory that
// nobody else gets: all that can be reached from the fields of what is given, which are pointers to controllers. From
// then on their stores, and listers of them, are the process's view of the cluster, and the engine runs the event
// handlers that are added. It comes before handlers are added, so right after the constructor. What an informer lists
// is asked of it: its kind, namespace and selectors.
//
// A controller that makes informers while it runs, or of which only functions have the informers that they use, cannot
// be helped so: see [Environment.Fill] and [Environment.Informer].
func (e *Environment) TakeOverInformers(of ...any) error {
	made := madeIn(of)
	if len(made) == 0 {
		return fmt.Errorf("no shared informer that client-go has made can be reached from %s: pass pointers to what keeps the informers (those of cache.NewInformer, which nobody shares, are not modelled: have the controller take a cache.SharedIndexInformer of Environment.Informer)", typesIn(of))
	}
	for _, informer := range made {
		if err := e.takeOverInformer(informer); err != nil {
			return fmt.Errorf("the informer of %v cannot be taken over: %w", describe(informer), err)
		}
	}
	return nil
}

// typesIn names the types of values.
func typesIn(values []any) []string {
	var names []string
	for _, v := range values {
		names = append(names, fmt.Sprintf("%T", v))
	}
	return names
}

// describe says what an informer of client-go has objects of.
func describe(made reflect.Value) string {
	example, known := held[runtime.Object](made, "objectType")
	if !known {
		return "an unknown type"
	}
	return fmt.Sprintf("%T", example)
}

// madeIn returns the informers of client-go that can be reached, each once and in the order in which they are met, as
// structs that can be changed.
func madeIn(of []any) []reflect.Value {
	var found []reflect.Value
	seen := map[uintptr]bool{}
	add := func(v reflect.Value) {
		if at := v.UnsafeAddr(); !seen[at] {
			seen[at] = true
			found = append(found, reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem())
		}
	}
	memory.Find(func(v reflect.Value) bool {
		for _, informer := range informersIn(v) {
			add(informer)
		}
		return false
	}, of...)
	return found
}

// informersIn returns the informers that a struct is, or that one of a package of informers has.
func informersIn(v reflect.Value) []reflect.Value {
	v = unwrapped(v)
	switch {
	case v.Kind() != reflect.Struct:
		return nil
	case ofClientgo(v, "sharedIndexInformer"):
		if !v.CanAddr() {
			return nil
		}
		return []reflect.Value{v}
	case !ofInformers(v.Type()):
		return nil
	}
	var all []reflect.Value
	for _, name := range []string{"informer", "factory"} {
		if field := v.FieldByName(name); field.IsValid() {
			all = append(all, informersIn(field)...)
		}
	}
	if made := v.FieldByName("informers"); made.IsValid() && made.Kind() == reflect.Map {
		keys := made.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			all = append(all, informersIn(made.MapIndex(key))...)
		}
	}
	return all
}

// takeOverInformer puts an informer of the process behind one that client-go has made.
func (e *Environment) takeOverInformer(made reflect.Value) error {
	if slices.ContainsFunc(e.taken, func(t *takenInformer) bool { return t.made.Addr().UnsafePointer() == made.Addr().UnsafePointer() }) {
		return nil
	}
	lists, ok := held[cache.ListerWatcher](made, "listerWatcher")
	if !ok {
		return errors.New("it lists nothing")
	}
	example, _ := held[runtime.Object](made, "objectType")
	form, scope, err := e.listed(lists, example)
	if err != nil {
		return err
	}
	if err := e.view.Serves(form, scope); err != nil {
		return err
	}
	t := &takenInformer{made: made}
	if handlers, err := t.listeners(); err != nil || len(handlers) > 0 {
		return cmp.Or(err, errors.New("it has event handlers already: take it over before they are added, or fill the factory that it is from"))
	}
	transform, _ := held[cache.TransformFunc](made, "transform")
	t.behind = e.informer(form, scope, transform, e.group())
	if err := t.putBehind(); err != nil {
		return err
	}
	e.taken = append(e.taken, t)
	return nil
}

// errUnknownInformer is the error for an informer of a version of client-go in which it has other parts.
var errUnknownInformer = errors.New("this version of the adapter does not know its parts: fill the factory that it is from, or make it with Environment.Informer")

// putBehind connects the two informers.
func (t *takenInformer) putBehind() error {
	indexer, ok := held[cache.Indexer](t.made, "indexer")
	if !ok {
		return errUnknownInformer
	}
	if err := t.behind.AddIndexers(withoutNamespaces(indexer.GetIndexers())); err != nil {
		return err
	}
	store := unwrapped(reflect.ValueOf(indexer))
	if !ofClientgo(store, "cache") {
		return errUnknownInformer
	}
	storage := fieldNamed(store, "cacheStorage")
	ticking, controller := fieldNamed(t.made, "clock"), fieldNamed(t.made, "controller")
	if !canHold[cache.ThreadSafeStore](storage) || !canHold[clock.Clock](ticking) || !canHold[cache.Controller](controller) {
		return errUnknownInformer
	}
	for _, name := range []string{"resyncCheckPeriod", "defaultEventHandlerResyncPeriod"} { // so that listeners note when they were made
		period := fieldNamed(t.made, name)
		if !canHold[time.Duration](period) {
			return errUnknownInformer
		}
		period.SetInt(0)
	}
	storage.Set(reflect.ValueOf(storageBehind{view: &t.behind.store}))
	ticking.Set(reflect.ValueOf(handlerClock{clock.RealClock{}, t}))
	controller.Set(reflect.ValueOf(t.behind))
	if synced, ok := held[chan struct{}](t.made, "synced"); ok { // of later versions
		close(synced)
	}
	return nil
}

// held returns what a field of a struct holds, and false if there is no such field, or it holds nothing of the kind.
func held[T any](structure reflect.Value, name string) (T, bool) {
	field := fieldNamed(structure, name)
	if !field.IsValid() {
		var none T
		return none, false
	}
	value, ok := field.Interface().(T)
	return value, ok
}

// canHold reports whether a field holds what is used as a T.
func canHold[T any](field reflect.Value) bool {
	return field.IsValid() && field.Type() == reflect.TypeFor[T]()
}

// withoutNamespaces are the indexers but that by namespace, which all informers of the process have.
func withoutNamespaces(indexers cache.Indexers) cache.Indexers {
	rest := cache.Indexers{}
	for name, extract := range indexers {
		if name != cache.NamespaceIndex {
			rest[name] = extract
		}
	}
	return rest
}

// listed finds out what an informer has objects of, by having it list them.
func (e *Environment) listed(lists cache.ListerWatcher, example runtime.Object) (form informer.Form, scope *informer.Scope, err error) {
	asked := &question{}
	e.probe = transport.New(e.process.server, asked)
	defer func() { e.probe = nil }()
	_, answer := cache.ToListerWatcherWithContext(lists).ListWithContext(e.ctx, metav1.ListOptions{})
	list, ok := asked.of.(*kube.Request)
	switch {
	case asked.of == nil:
		return form, nil, fmt.Errorf("it lists what is not on the API server that the configuration of the environment leads to (%w)", answer)
	case !ok || list.Verb != kube.List:
		return form, nil, fmt.Errorf("where it lists its objects, it asks to %s: make it with Environment.Informer", asked.of)
	}
	form.Kind = list.Kind
	switch shown := example.(type) {
	case runtime.Unstructured:
		form.As = informer.Untyped
	case *metav1.PartialObjectMetadata:
		form.As = informer.MetadataOnly
	default:
		known, err := e.process.server.Scheme().New(list.Kind)
		if err != nil || shown != nil && reflect.TypeOf(known) != reflect.TypeOf(shown) {
			return form, nil, fmt.Errorf("it shows %s as %T, which is not what the scheme has for it: make it with Environment.Duck", list.Kind.Kind, shown)
		}
	}
	scope, err = informer.NewScope(list.Namespace, metav1.ListOptions{LabelSelector: list.LabelSelector, FieldSelector: list.FieldSelector})
	return form, scope, err
}

// question is a recorder that answers the first call with a refusal, and keeps it.
type question struct{ of core.Call }

// Do implements [core.EffectRecorder].
func (q *question) Do(call core.Call) core.Response {
	if q.of == nil {
		q.of = call
	}
	return &kube.Response{Status: &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonServiceUnavailable, Message: "nothing runs yet"}}
}

// listeners returns the event handlers that were added to the informer of client-go, in the order in which they were.
func (t *takenInformer) listeners() ([]cache.ResourceEventHandler, error) {
	processor := fieldNamed(t.made, "processor")
	if processor.Kind() != reflect.Pointer || processor.IsNil() {
		return nil, errUnknownInformer
	}
	all := mapNamed(processor.Elem(), "listeners")
	if !all.IsValid() {
		return nil, errUnknownInformer
	}
	type added struct {
		handler cache.ResourceEventHandler
		when    time.Time
	}
	var found []added
	for each := all.MapRange(); each.Next(); {
		listener := each.Key().Elem()
		handler, known := held[cache.ResourceEventHandler](listener, "handler")
		made, dated := held[time.Time](listener, "nextResync")
		if !known || !dated {
			return nil, errUnknownInformer
		}
		found = append(found, added{handler, made})
	}
	slices.SortFunc(found, func(a, b added) int { return a.when.Compare(b.when) })
	var handlers []cache.ResourceEventHandler
	for _, f := range found {
		handlers = append(handlers, f.handler)
	}
	return handlers, nil
}

// hear makes the handlers that were added to informers that were taken over since the last time those of the controller
// that is registered next.
func (e *Environment) hear() error {
	for _, t := range e.taken {
		handlers, err := t.listeners()
		if err != nil {
			return err
		}
		for _, handler := range handlers[min(t.heard, len(handlers)):] {
			if _, err := t.behind.AddEventHandler(handler); err != nil {
				return err
			}
		}
		t.heard = len(handlers)
	}
	return nil
}

// seal ends the set-up for the informers that were taken over. They count as started, so that nobody who runs them
// begins to list and watch.
func (e *Environment) seal() {
	for _, t := range e.taken {
		if started := fieldNamed(t.made, "started"); started.IsValid() && started.Kind() == reflect.Bool {
			started.SetBool(true)
		}
	}
}

// handlerClock is the clock of an informer that was taken over. It is looked at when a handler is added, and tells
// which one was first.
type handlerClock struct {
	clock.RealClock
	of *takenInformer
}

var _ clock.Clock = handlerClock{}

// Now implements [clock.PassiveClock].
func (c handlerClock) Now() time.Time {
	behind := c.of.behind
	behind.addsLate()
	c.of.ticks += time.Second
	return time.Unix(0, 0).Add(c.of.ticks)
}
