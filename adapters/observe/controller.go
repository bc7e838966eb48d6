package observe

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/record/live"
)

// RequestType is a type of requests that controllers may have, see [RequestsOf].
type RequestType struct {
	// observe returns what is to be started in place of a controller of such requests, and nil for anything else.
	observe func(*Recorder, manager.Runnable) (manager.Runnable, error)
}

// RequestsOf returns the type of requests of typed controllers, for [Options.Requests].
func RequestsOf[R comparable]() RequestType { return RequestType{observed[R]} }

// ordinary is the type of requests of all other controllers.
func ordinary() RequestType { return RequestsOf[reconcile.Request]() }

type (
	ratedQueue[R comparable]  = workqueue.TypedRateLimitingInterface[R]
	queueMaker[R comparable]  = func(string, workqueue.TypedRateLimiter[R]) ratedQueue[R]
	warmable                  interface{ Warmup(context.Context) error }
	controllerKey             struct{} // of the name of a controller in a context
	runKey                    struct{} // of a *run in a context
	reconciling[R comparable] struct {
		recorder   *Recorder
		controller string
		inner      reconcile.TypedReconciler[R]
		causes     *causes[R]
	}
	observedController[R comparable] struct {
		controller.TypedController[R]
		name string
	}
)

// observed puts the recorder between a controller and its reconciler, and between it and its queue. Both stand in
// fields of the controller, whose type is internal to controller-runtime: so the fields are looked up by name, and
// where they are not what they are expected to be, that is an error.
func observed[R comparable](recorder *Recorder, runnable manager.Runnable) (manager.Runnable, error) {
	c, ok := runnable.(controller.TypedController[R])
	if !ok {
		return nil, nil
	}
	name, do, newQueue := field[string](c, "Name"), field[reconcile.TypedReconciler[R]](c, "Do"), field[queueMaker[R]](c, "NewQueue")
	if name == nil || do == nil || newQueue == nil || *do == nil || *newQueue == nil {
		return nil, fmt.Errorf("%T is not a controller of controller-runtime as this version of Orrery knows it: reconciles are not recorded", runnable)
	}
	causes := newCauses[R](recorder, *name)
	makeQueue := *newQueue
	*newQueue = func(name string, limiter workqueue.TypedRateLimiter[R]) ratedQueue[R] {
		return causes.observe(makeQueue(name, limiter))
	}
	*do = &reconciling[R]{recorder, *name, *do, causes}
	return &observedController[R]{c, *name}, nil
}

// field returns a pointer to a field of a controller, nil if there is no such field of this type.
func field[T any](c any, name string) *T {
	pointer := reflect.ValueOf(c)
	if pointer.Kind() != reflect.Pointer || pointer.IsNil() || pointer.Elem().Kind() != reflect.Struct {
		return nil
	}
	value := pointer.Elem().FieldByName(name)
	if !value.IsValid() || !value.CanSet() || value.Type() != reflect.TypeFor[T]() {
		return nil
	}
	address, _ := value.Addr().Interface().(*T)
	return address
}

// Start starts the controller under a context that says which one it is: its sources ask the cache for informers with
// it.
func (c *observedController[R]) Start(ctx context.Context) error {
	return c.TypedController.Start(context.WithValue(ctx, controllerKey{}, c.name))
}

// Warmup is part of the protocol between managers and controllers.
func (c *observedController[R]) Warmup(ctx context.Context) error {
	if inner, ok := c.TypedController.(warmable); ok {
		return inner.Warmup(context.WithValue(ctx, controllerKey{}, c.name))
	}
	return nil
}

// NeedLeaderElection is part of the protocol between managers and controllers.
func (c *observedController[R]) NeedLeaderElection() bool {
	if inner, ok := c.TypedController.(manager.LeaderElectionRunnable); ok {
		return inner.NeedLeaderElection()
	}
	return true
}

// run is a reconcile that is going on, in its context.
type run struct {
	recorder *Recorder
	// number is that of its Begin, 0 if the reconcile is not recorded.
	number uint64
}

// Reconcile implements reconcile.TypedReconciler.
func (r *reconciling[R]) Reconcile(ctx context.Context, request R) (result reconcile.Result, err error) {
	number := r.begin(ctx, request)
	returned := false
	defer func() { r.done(request, number, result, err, returned) }() // without a recover: panics are not ours
	result, err = r.inner.Reconcile(context.WithValue(ctx, runKey{}, &run{r.recorder, number}), request)
	returned = true
	return result, err
}

// begin records that a reconcile begins. It returns its number, 0 if it is not recorded.
func (r *reconciling[R]) begin(ctx context.Context, request R) uint64 {
	defer r.recorder.contain()
	reasons := r.causes.taken(request)
	if !r.recorder.on.Load() || !r.recorder.samplesRequest(request) {
		return 0
	}
	return r.recorder.next(nil, body{}, func(n uint64, now time.Duration) live.Entry {
		begin := live.Begin{
			N: n, At: now, Controller: r.controller, Request: textOf(request),
			Causes: reasons.causes, MoreCauses: reasons.more, ID: string(controller.ReconcileIDFromContext(ctx)),
		}
		if len(reasons.causes) > 0 {
			begin.Waited = now - reasons.since
		}
		return begin
	})
}

// done records that a reconcile returned.
func (r *reconciling[R]) done(request R, number uint64, result reconcile.Result, err error, returned bool) {
	defer r.recorder.contain()
	if number == 0 {
		return
	}
	done := live.Done{Reconcile: number, Panicked: !returned}
	ending := ending{number: number, failed: !returned}
	switch {
	case err != nil:
		done.Error, done.Terminal = err.Error(), errors.Is(err, reconcile.TerminalError(nil))
		ending.failed, ending.again = true, !done.Terminal
	case result.RequeueAfter > 0:
		done.After, ending.again = result.RequeueAfter, true
	case result.Requeue:
		done.Requeue, ending.again = true, true
	case !returned:
		ending.again = true
	}
	if ending.again {
		r.causes.ends(request, ending)
	}
	r.recorder.next(nil, body{}, func(n uint64, now time.Duration) live.Entry {
		done.N, done.At = n, now
		return done
	})
}

// textOf returns how a request is written down.
func textOf(request any) string {
	if r, ok := request.(fmt.Stringer); ok {
		return r.String()
	}
	return fmt.Sprintf("%+v", request)
}

// samplesRequest reports whether reconciles of a request are recorded. A request of another type is that of an object
// if it reads like one; otherwise its text decides.
func (r *Recorder) samplesRequest(request any) bool {
	if ordinary, ok := request.(reconcile.Request); ok {
		return r.samples(ordinary.Namespace, ordinary.Name)
	}
	if r.options.Share == 0 {
		return true
	}
	text := textOf(request)
	if namespace, name, err := toolscache.SplitMetaNamespaceKey(text); err == nil {
		return r.samples(namespace, name)
	}
	return r.samples("", text)
}

// isController reports whether a runnable looks like a controller, of whatever requests.
func isController(runnable manager.Runnable) (name string, ok bool) {
	t := reflect.TypeOf(runnable)
	_, reconciles := t.MethodByName("Reconcile")
	_, watches := t.MethodByName("Watch")
	if known := field[string](runnable, "Name"); known != nil {
		name = *known
	}
	return name, reconciles && watches
}

// asPriority returns a queue as one with priorities.
func asPriority[R comparable](q ratedQueue[R]) (priorityqueue.PriorityQueue[R], bool) {
	p, ok := q.(priorityqueue.PriorityQueue[R])
	return p, ok
}
