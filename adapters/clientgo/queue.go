package clientgo

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/orrery-dev/orrery/adapters/internal/memory"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// Queue takes the place of a controller's work queue. What is added while nothing is worked on, by event handlers, by
// the set-up or in the background, is enqueued, and from within the sync of an item, the same item at its end, and
// another one at once. Where an item is to come later (AddAfter, and AddRateLimited of a queue that had items wait for
// the same second or more each time), a timer is set that fires when nothing else can happen: also if the item is added
// before, which is then worked on twice. What event handlers have wait for a second at most is enqueued at once. Order,
// rate limits and the number of retries are left to the engine, which tries every order.
type Queue[T comparable] struct {
	environment *Environment
	form        form[T]
	// controller is who works on the items, nil before it is registered.
	controller *Controller
	// period is how long AddRateLimited has items wait, 0 if it only holds back those that fail.
	period time.Duration

	mu sync.Mutex
	// requeues are how often items were added by AddRateLimited since they were forgotten, and most is what is counted
	// to. It is nil in a queue that does not count.
	requeues memory.Requeues
	most     int
	// added is what was added while nothing was worked on, and later what event handlers have added that is to come
	// later.
	added, later []core.Request
	// run is the sync that is going on, nil if there is none.
	run *turn[T]
}

var _ workqueue.TypedRateLimitingInterface[string] = (*Queue[string])(nil)

// turn is the sync of an item.
type turn[T comparable] struct {
	item T
	// again tells that the item was added, and after is how much later it is to come, if that is positive.
	again bool
	after time.Duration

	// What follows is for a controller that takes the item with Get. stop ends its run, and stopped tells everybody who
	// waits for an item.
	stop         func()
	stopped      <-chan struct{}
	patience     time.Duration
	handed, done bool
	panicked     *workerPanic
	// back is when the worker has asked for the next item, the zero time before.
	back time.Time
}

// NewQueue returns a queue for a controller that takes one. The items are of a type that can be written down: a text, a
// name ([k8s.io/apimachinery/pkg/types.NamespacedName], [k8s.io/client-go/tools/cache.ObjectName],
// [reconcile.Request]), or a struct that is the same after it was written as JSON. See [QueueIn] and [TakeOver] for a
// controller that makes its own.
//
// [reconcile.Request]: https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/reconcile#Request
func NewQueue[T comparable](e *Environment) (*Queue[T], error) {
	f, err := formOf[T]()
	if err != nil {
		return nil, err
	}
	return &Queue[T]{environment: e, form: f}, nil
}

// CountRequeues has the queue count how often an item was added with AddRateLimited since the controller has last told
// it to forget the item, up to a number, so that NumRequeues tells a controller that gives up after some retries when
// to. The counts belong to what the controller keeps in memory, and each is a state of its own: where the number of
// retries is a setting of the controller, make it a small one. Without this, NumRequeues is 0, and a controller goes on
// for ever with what it cannot do. It returns the queue.
func (q *Queue[T]) CountRequeues(most int) *Queue[T] {
	q.requeues, q.most = memory.Requeues{}, most
	return q
}

// counted returns the counts, nil if there are none.
func (q *Queue[T]) counted() memory.Requeues { return q.requeues }

// count counts that an item is put back.
func (q *Queue[T]) count(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if request := string(q.encode(item)); q.requeues != nil && q.requeues[request] < q.most {
		q.requeues[request]++
	}
}

// Untyped returns the queue for a controller whose queue has items of any type.
func (q *Queue[T]) Untyped() workqueue.TypedRateLimitingInterface[any] { return untyped[T]{q} }

// encode writes an item down. An item that cannot be written is a mistake of the set-up.
func (q *Queue[T]) encode(item T) core.Request {
	request, err := q.form.encode(item)
	if err != nil {
		panic(fmt.Sprintf("clientgo: %v", err))
	}
	return request
}

// take returns what was added since the last call, and what of it is to come later, each item once and in order, and
// forgets it.
func (q *Queue[T]) take() (added, later []core.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	added, later = q.added, q.later
	q.added, q.later = nil, nil
	slices.Sort(added)
	slices.Sort(later)
	return slices.Compact(added), slices.Compact(later)
}

// begin begins the sync of an item.
func (q *Queue[T]) begin(item T) *turn[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.run = &turn[T]{item: item}
	return q.run
}

// end ends the sync that is going on, with the error that it returned. An item that comes again at once, and was added
// for later as well, comes twice.
func (q *Queue[T]) end(err error) core.Result {
	run := q.over()
	if run.after > 0 && (run.again || err != nil) {
		q.environment.current.Enqueue(core.Item{Request: q.encode(run.item)}, true)
	}
	return core.Result{Err: err, Requeue: run.again, RequeueAfter: run.after}
}

// over ends the sync that is going on, and returns it.
func (q *Queue[T]) over() *turn[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	run := q.run
	q.run = nil
	return run
}

// Add implements [workqueue.TypedInterface].
func (q *Queue[T]) Add(item T) { q.AddAfter(item, 0) }

// AddRateLimited implements [workqueue.TypedRateLimitingInterface].
func (q *Queue[T]) AddRateLimited(item T) {
	q.count(item)
	q.AddAfter(item, q.period)
}

// AddAfter implements [workqueue.TypedDelayingInterface].
func (q *Queue[T]) AddAfter(item T, after time.Duration) {
	request := q.encode(item)
	if q.environment.handling != nil && after <= transport.Batch {
		after = 0
	}
	if q.addedHere(item, request, after) {
		return
	}
	to := core.Item{Request: request}
	switch q.controller {
	case nil:
		q.environment.current.Unmodelled("adding "+string(request)+" to a work queue that no controller was registered with", "register who works on it with clientgo.Sync or clientgo.Run")
		return
	case q.environment.working.Load():
	default:
		to.Strategy = q.controller.name
	}
	q.environment.current.Enqueue(to, after > 0)
}

// addedHere notes what is added, and returns false for what is to be enqueued by a call: another item than the one that
// is worked on.
func (q *Queue[T]) addedHere(item T, request core.Request, after time.Duration) bool {
	q.environment.runs() // or waits until then
	q.mu.Lock()
	defer q.mu.Unlock()
	switch run := q.run; {
	case run.stage() == idle:
		return false
	case run.stage() == starting:
		return slices.Contains(q.controller.initial, request) // which is so at the start of the process only
	case run != nil && item == run.item && after <= 0:
		run.again = true
	case run != nil && item == run.item:
		if run.after <= 0 || after < run.after {
			run.after = after
		}
	case !q.environment.collects() || q.ofAnother():
		return false
	case after > 0 && q.environment.handling != nil:
		q.later = append(q.later, request)
	default:
		q.added = append(q.added, request)
	}
	return true
}

// ofAnother reports whether an event handler of another controller is being called.
func (q *Queue[T]) ofAnother() bool {
	handling := q.environment.handling
	return handling != nil && q.controller != handling
}

// Len implements [workqueue.TypedInterface]. How long the queue is belongs to the engine.
func (q *Queue[T]) Len() int { return 0 }

// Get implements [workqueue.TypedInterface]. Of a run it hands out the one item that is to be processed. Who asks for
// more, or has another queue, waits for the end of the run, which comes when the item is done and its worker asks for
// the next. Where there is no run to wait for, the queue is shut down.
func (q *Queue[T]) Get() (item T, shutDown bool) {
	stopped := q.stopped()
	if stopped != nil {
		if item, handed := q.next(); handed {
			return item, false
		}
	} else if working := q.environment.working.Load(); working != nil {
		stopped = working.queue.stopped()
	}
	if stopped != nil {
		<-stopped
	}
	return item, true
}

// stopped returns what the end of the run can be waited for with, nil if there is none.
func (q *Queue[T]) stopped() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.run == nil {
		return nil
	}
	return q.run.stopped
}

// next hands out the item of the run, if that is not done yet.
func (q *Queue[T]) next() (item T, handed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch run := q.run; {
	case run == nil:
	case run.done && run.back.IsZero():
		run.back = time.Now()
	case !run.done && !run.handed:
		run.handed = true
		return run.item, true
	}
	return item, false
}

// Done implements [workqueue.TypedInterface]. Controllers defer it: then it is here that a panic of their worker can be
// seen, which would end the whole program otherwise.
func (q *Queue[T]) Done(item T) { q.finish(item, recover()) }

// How long, on the virtual clock, a run goes on after its item is done: an instant, for its worker to come back, and
// the first one of all a good while, for what else goes on to show itself. What an instance remembers from one item to
// the next is older by that.
const (
	instant  = time.Nanosecond
	patience = time.Hour
)

// stage is how far a run is whose worker takes the item with Get.
type stage int

const (
	// starting runs have not handed out the item.
	starting stage = iota
	// underway is all in between.
	underway
	// idle is a run whose worker has asked for the next item some time ago.
	idle
)

// stage returns how far the run is that is going on.
func (q *Queue[T]) stage() stage {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.run.stage()
}

func (t *turn[T]) stage() stage {
	switch {
	case t == nil || t.stopped == nil:
		return underway
	case !t.handed:
		return starting
	case !t.back.IsZero() && time.Since(t.back) > 0:
		return idle
	}
	return underway
}

func (q *Queue[T]) finish(item T, panicked any) {
	place := ""
	if panicked != nil {
		place = placeOfPanic()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	run := q.run
	if run == nil || run.stopped == nil || item != run.item || run.done {
		if panicked != nil {
			panic(panicked)
		}
		return
	}
	run.done = true
	if panicked != nil {
		run.panicked = &workerPanic{panicked, place}
		run.stop()
		return
	}
	time.AfterFunc(run.patience, run.stop)
}

// Forget implements [workqueue.TypedRateLimitingInterface].
func (q *Queue[T]) Forget(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.requeues, string(q.encode(item)))
}

// NumRequeues implements [workqueue.TypedRateLimitingInterface].
func (q *Queue[T]) NumRequeues(item T) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.requeues[string(q.encode(item))]
}

// ShutDown implements [workqueue.TypedInterface]. A controller shuts its queue down when it ends.
func (q *Queue[T]) ShutDown() {}

// ShutDownWithDrain implements [workqueue.TypedInterface].
func (q *Queue[T]) ShutDownWithDrain() {}

// ShuttingDown implements [workqueue.TypedInterface].
func (q *Queue[T]) ShuttingDown() bool { return false }

// untyped is a queue whose items may be of any type as far as the controller knows.
type untyped[T comparable] struct{ queue *Queue[T] }

var _ workqueue.TypedRateLimitingInterface[any] = untyped[string]{}

// item returns an item as what it has to be.
func (u untyped[T]) item(item any) T {
	typed, ok := item.(T)
	if !ok {
		panic(fmt.Sprintf("clientgo: an item of type %T is added to a queue that was made for items of type %T: make it for the other type", item, typed))
	}
	return typed
}

// Add implements [workqueue.TypedInterface].
func (u untyped[T]) Add(item any) { u.queue.Add(u.item(item)) }

// AddRateLimited implements [workqueue.TypedRateLimitingInterface].
func (u untyped[T]) AddRateLimited(item any) { u.queue.AddRateLimited(u.item(item)) }

// AddAfter implements [workqueue.TypedDelayingInterface].
func (u untyped[T]) AddAfter(item any, after time.Duration) { u.queue.AddAfter(u.item(item), after) }

// count counts that an item is put back.
func (u untyped[T]) count(item any) { u.queue.count(u.item(item)) }

// Len implements [workqueue.TypedInterface].
func (u untyped[T]) Len() int { return u.queue.Len() }

// Get implements [workqueue.TypedInterface].
func (u untyped[T]) Get() (item any, shutDown bool) {
	typed, shutDown := u.queue.Get()
	if shutDown {
		return nil, true
	}
	return typed, false
}

// Done implements [workqueue.TypedInterface].
func (u untyped[T]) Done(item any) { u.queue.finish(u.item(item), recover()) }

// Forget implements [workqueue.TypedRateLimitingInterface].
func (u untyped[T]) Forget(item any) { u.queue.Forget(u.item(item)) }

// NumRequeues implements [workqueue.TypedRateLimitingInterface].
func (u untyped[T]) NumRequeues(item any) int { return u.queue.NumRequeues(u.item(item)) }

// ShutDown implements [workqueue.TypedInterface].
func (u untyped[T]) ShutDown() {}

// ShutDownWithDrain implements [workqueue.TypedInterface].
func (u untyped[T]) ShutDownWithDrain() {}

// ShuttingDown implements [workqueue.TypedInterface].
func (u untyped[T]) ShuttingDown() bool { return false }
