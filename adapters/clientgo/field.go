package clientgo

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/orrery-dev/orrery/adapters/internal/memory"
)

// fieldNamed returns a field of a struct, exported or not, as one that can be read and set; the zero Value if there is
// none.
func fieldNamed(structure reflect.Value, name string) reflect.Value {
	field := structure.FieldByName(name)
	if !field.IsValid() || !field.CanAddr() {
		return reflect.Value{}
	}
	return reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem()
}

// place is a field that holds a work queue, with what is to be put there.
type place struct {
	name  string
	field reflect.Value
	queue reflect.Value
}

var errNoPlace = errors.New("no field that holds a work queue with items")

// placesOf returns the fields of a controller that can hold a queue: those named, or all that can without a name.
func placesOf[T comparable](of any, queue *Queue[T], names []string) ([]place, error) {
	v := reflect.ValueOf(of)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("a %T has no fields that can be set: pass the pointer to the controller", of)
	}
	v = v.Elem()
	var places []place
	for _, name := range names {
		field := fieldNamed(v, name)
		if !field.IsValid() {
			return nil, fmt.Errorf("%T has no field %s", of, name)
		}
		fitting, ok := queue.fitting(field.Type())
		if !ok {
			return nil, fmt.Errorf("field %s of %T is a %s: a queue with items of type %s cannot be put there", name, of, field.Type(), reflect.TypeFor[T]())
		}
		places = append(places, place{name, field, fitting})
	}
	if len(names) > 0 {
		return places, nil
	}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		field := fieldNamed(v, name)
		if !field.IsValid() || field.Kind() != reflect.Interface || !field.Type().Implements(reflect.TypeFor[shutDowner]()) {
			continue
		}
		if fitting, ok := queue.fitting(field.Type()); ok {
			places = append(places, place{name, field, fitting})
		}
	}
	if len(places) == 1 {
		return places, nil
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("%T has %w of type %s: pass the queue where the controller takes one, or take over the one that it has made with clientgo.TakeOver", of, errNoPlace, reflect.TypeFor[T]())
	}
	var found []string
	for _, p := range places {
		found = append(found, p.name)
	}
	return nil, fmt.Errorf("%T has several fields that can hold a work queue, %s: name those that hold this one", of, strings.Join(found, ", "))
}

// madeWithin returns the work queues of client-go that a controller leads to, also through interfaces, and that still
// work by themselves: a library makes them for it.
func madeWithin(controller any) []shutDowner {
	var found []shutDowner
	memory.Find(func(v reflect.Value) bool {
		if working(v) {
			found = append(found, reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Interface().(shutDowner))
		}
		return false // there may be more
	}, controller)
	return found
}

// shutDowner is what all interfaces of work queues have.
type shutDowner interface{ ShutDown() }

// fitting returns the queue as a value of the type of a field, and false if it cannot be one. Queues of older code have
// items of any type.
func (q *Queue[T]) fitting(field reflect.Type) (reflect.Value, bool) {
	for _, queue := range []any{workqueue.TypedRateLimitingInterface[T](q), q.Untyped()} {
		if v := reflect.ValueOf(queue); v.Type().AssignableTo(field) {
			return v, true
		}
	}
	return reflect.Value{}, false
}

// QueueIn puts a queue in the place of the one that a controller has made for itself, which is shut down: into the
// field of that name, exported or not, or into several that hold the same queue. Without a name it is the only field
// that can hold it, or else the only rate-limiting queue of client-go in what its fields hold, such as that of the
// factory of library-go. The controller is given as a pointer. What else holds the queue that was there, such as an
// event handler that was made with it, gets the new one as well if it is a rate-limiting one, see [TakeOver].
func QueueIn[T comparable](e *Environment, controller any, fields ...string) (*Queue[T], error) {
	queue, err := NewQueue[T](e)
	if err != nil {
		return nil, err
	}
	places, err := placesOf(controller, queue, fields)
	if errors.Is(err, errNoPlace) {
		if made := madeWithin(controller); len(made) == 1 {
			if err := queue.takeOver(made[0]); err != nil {
				return nil, err
			}
			return queue, nil
		}
	}
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		if was, ok := p.field.Interface().(shutDowner); ok && !p.field.IsNil() {
			if queue.takeOver(was) != nil { // which only rate-limiting ones can be
				was.ShutDown()
			}
		}
		p.field.Set(p.queue)
	}
	return queue, nil
}

// TakeOver puts a queue inside of a rate-limiting one that client-go has made, and which a constructor has handed out,
// to event handlers and others. All of them use the new one from then on, wherever they keep it.
func TakeOver[T comparable](e *Environment, made interface{ ShutDown() }) (*Queue[T], error) {
	queue, err := NewQueue[T](e)
	if err != nil {
		return nil, err
	}
	if err := queue.takeOver(made); err != nil {
		return nil, err
	}
	return queue, nil
}

// takeOver shuts down a rate-limiting queue that client-go has made, and puts the queue inside of it: in the place of
// the queue below it, and without a limit.
func (q *Queue[T]) takeOver(made shutDowner) error {
	v := reflect.ValueOf(made)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct || !ofWorkqueue(v.Elem().Type()) {
		return unlike(made)
	}
	below, limiter := fieldNamed(v.Elem(), "TypedDelayingInterface"), fieldNamed(v.Elem(), "rateLimiter")
	if v.Elem().NumField() != 2 || below.Kind() != reflect.Interface || limiter.Kind() != reflect.Interface {
		return unlike(made)
	}
	queue, fits := q.fitting(below.Type())
	every := periodOf[T](limiter)
	for _, none := range []any{unlimited[T]{every, q}, unlimited[any]{every, untyped[T]{q}}} {
		if without := reflect.ValueOf(none); fits && without.Type().AssignableTo(limiter.Type()) {
			q.period = every
			made.ShutDown()
			below.Set(queue)
			limiter.Set(without)
			return nil
		}
	}
	return fmt.Errorf("a %T cannot hold a queue with items of type %s", made, reflect.TypeFor[T]())
}

// ofWorkqueue reports whether a type is one of client-go's package of work queues.
func ofWorkqueue(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[workqueue.Type]().PkgPath()
}

// leftAlone returns an error if a controller holds a work queue that client-go has made, and that still works by
// itself. What is added to it would be lost, or be handed out in real time, from outside of the run that waits for it,
// which ends the process. Background work, which was stopped, takes a moment to shut its queue down.
func (e *Environment) leftAlone() error {
	const moment = 5 * time.Second
	at := memory.Find(working, e.roots()...)
	for began := time.Now(); at != "" && time.Since(began) < moment; at = memory.Find(working, e.roots()...) {
		time.Sleep(time.Millisecond)
	}
	if at != "" {
		return fmt.Errorf("%s is a work queue that client-go has made, and that was not replaced: what is added to it would be lost. Put another one in its place with clientgo.QueueIn, and register what works on it with "+
			"clientgo.Run or clientgo.Sync; one that nobody needs is shut down in the set-up", at)
	}
	return nil
}

// working reports whether a value is a work queue of client-go that nobody has shut down, and into which no other one
// was put.
func working(v reflect.Value) bool {
	if v.Kind() != reflect.Struct || !v.CanAddr() || !ofWorkqueue(v.Type()) {
		return false
	}
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer())
	queue, is := v.Interface().(interface{ ShuttingDown() bool })
	if !is {
		return false
	}
	for _, name := range []string{"TypedDelayingInterface", "queue"} {
		inside := fieldNamed(v.Elem(), name)
		for inside.IsValid() && (inside.Kind() == reflect.Interface || inside.Kind() == reflect.Pointer) {
			inside = inside.Elem()
		}
		if inside.IsValid() && inside.Type().PkgPath() != "" && !ofWorkqueue(inside.Type()) {
			return false
		}
	}
	return !queue.ShuttingDown()
}

// unlike is the error that a queue cannot be taken over.
func unlike(made any) error {
	return fmt.Errorf("a %T is no rate-limiting queue that client-go has made, as far as this version of the adapter knows them: pass a queue of NewQueue to the constructor, or use QueueIn", made)
}

// periodOf returns how long a limiter of rates has items wait if it is always as long, which is how a controller polls;
// 0 if it holds back more the more often an item has failed.
func periodOf[T comparable](limiter reflect.Value) time.Duration {
	const short = time.Second
	var first, second time.Duration
	switch l := limiter.Interface().(type) {
	case workqueue.TypedRateLimiter[T]:
		var none T
		first, second = l.When(none), l.When(none)
		l.Forget(none)
	case workqueue.TypedRateLimiter[any]:
		first, second = l.When(""), l.When("")
		l.Forget("")
	}
	if first < short || first != second {
		return 0
	}
	return first
}

// unlimited is a limiter of rates that lets everything pass, or has everything wait as long: the order of items is left
// to the engine. It counts what the queue counts.
type unlimited[T comparable] struct {
	period time.Duration
	queue  interface {
		count(T)
		Forget(T)
		NumRequeues(T) int
	}
}

var _ workqueue.TypedRateLimiter[string] = unlimited[string]{}

// When implements [workqueue.TypedRateLimiter].
func (u unlimited[T]) When(item T) time.Duration {
	u.queue.count(item)
	return u.period
}

// Forget implements [workqueue.TypedRateLimiter].
func (u unlimited[T]) Forget(item T) { u.queue.Forget(item) }

// NumRequeues implements [workqueue.TypedRateLimiter].
func (u unlimited[T]) NumRequeues(item T) int { return u.queue.NumRequeues(item) }
