package controllerruntime

import (
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// queue is the work queue that event handlers are given. It records what they add, and what of it is to come later than
// [transport.Batch]. How much later, and with what priority, does not matter to the engine.
type queue struct {
	mu           sync.Mutex
	added, later []reconcile.Request
	// outside is given what is added while no event is handled, if it is set.
	outside  func(request reconcile.Request, later bool)
	handling bool
}

var _ priorityqueue.PriorityQueue[reconcile.Request] = (*queue)(nil)

// take returns what was added since the last call, and what of it is to come later, each request once and in
// order, and forgets it.
func (q *queue) take() (added, later []core.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handling = false
	added, later = encoded(q.added), encoded(q.later)
	q.added, q.later = nil, nil
	return added, later
}

// encoded writes requests down, each once and in order.
func encoded(all []reconcile.Request) []core.Request {
	if len(all) == 0 {
		return nil
	}
	requests := make([]core.Request, len(all))
	for i, request := range all {
		requests[i] = encode(request)
	}
	slices.Sort(requests)
	return slices.Compact(requests)
}

// Add implements [workqueue.TypedInterface].
func (q *queue) Add(request reconcile.Request) { q.AddAfter(request, 0) }

// handle tells that an event is handled, until what is added is taken.
func (q *queue) handle() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handling = true
}

// AddAfter implements [workqueue.TypedDelayingInterface]. Where nobody runs yet, there is nothing that could come
// before.
func (q *queue) AddAfter(request reconcile.Request, after time.Duration) {
	later := after > transport.Batch
	q.mu.Lock()
	if q.outside != nil && !q.handling {
		q.mu.Unlock()
		q.outside(request, later)
		return
	}
	defer q.mu.Unlock()
	if later && q.handling {
		q.later = append(q.later, request)
	} else {
		q.added = append(q.added, request)
	}
}

// AddRateLimited implements [workqueue.TypedRateLimitingInterface].
func (q *queue) AddRateLimited(request reconcile.Request) { q.Add(request) }

// AddWithOpts implements [priorityqueue.PriorityQueue].
func (q *queue) AddWithOpts(o priorityqueue.AddOpts, requests ...reconcile.Request) {
	for _, request := range requests {
		q.AddAfter(request, o.After)
	}
}

// Len implements [workqueue.TypedInterface].
func (q *queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.added)
}

// Get implements [workqueue.TypedInterface]. The engine takes the requests, so that
// for everybody else the queue is shut down.
func (q *queue) Get() (reconcile.Request, bool) { return reconcile.Request{}, true }

// GetWithPriority implements [priorityqueue.PriorityQueue].
func (q *queue) GetWithPriority() (reconcile.Request, int, bool) {
	return reconcile.Request{}, 0, true
}

// Done implements [workqueue.TypedInterface].
func (q *queue) Done(reconcile.Request) {}

// Forget implements [workqueue.TypedRateLimitingInterface].
func (q *queue) Forget(reconcile.Request) {}

// NumRequeues implements [workqueue.TypedRateLimitingInterface].
func (q *queue) NumRequeues(reconcile.Request) int { return 0 }

// ShutDown implements [workqueue.TypedInterface].
func (q *queue) ShutDown() {}

// ShutDownWithDrain implements [workqueue.TypedInterface].
func (q *queue) ShutDownWithDrain() {}

// ShuttingDown implements [workqueue.TypedInterface].
func (q *queue) ShuttingDown() bool { return false }

var _ workqueue.TypedRateLimitingInterface[reconcile.Request] = (*queue)(nil)

// encode writes a request as "namespace/name", or "name" without a namespace.
func encode(request reconcile.Request) core.Request {
	if request.Namespace == "" {
		return core.Request(request.Name)
	}
	return core.Request(request.Namespace + "/" + request.Name)
}

// decode is the inverse of [encode].
func decode(request core.Request) reconcile.Request {
	namespace, name, found := strings.Cut(string(request), "/")
	if !found {
		namespace, name = "", namespace
	}
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}
