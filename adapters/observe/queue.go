package observe

import (
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/orrery-dev/orrery/record/live"
)

// causesLimit is how many causes of one reconcile are recorded.
const causesLimit = 16

// causes knows why requests are in the queue of one controller.
type causes[R comparable] struct {
	recorder   *Recorder
	controller string
	// merges tells that a request is in the queue once, and not once more for each time until which it was to wait.
	merges bool

	mu sync.Mutex
	// waiting has an entry for each request in the queue whose adding was recorded.
	waiting map[R]*reasons
	// processed are the reasons of requests that a worker took out and has not begun to reconcile, for a moment.
	processed map[R]reasons
	// ended are the requests whose reconcile has returned and asked to be run again, and whose worker has not told the
	// queue yet, for a moment.
	ended map[R]ending
}

func newCauses[R comparable](r *Recorder, controller string) *causes[R] {
	return &causes[R]{recorder: r, controller: controller, waiting: map[R]*reasons{}, processed: map[R]reasons{}, ended: map[R]ending{}}
}

// reasons are why a request waits.
type reasons struct {
	causes []live.Cause
	// due are the times at which the causes would have the request reconciled at the latest, as far as they are known.
	due   []time.Duration
	more  int
	since time.Duration
}

// ending is how a reconcile ended that is to be run again.
type ending struct {
	number        uint64
	failed, again bool
}

// observe returns a queue that tells why requests are in it.
func (c *causes[R]) observe(q ratedQueue[R]) ratedQueue[R] {
	if p, ok := asPriority(q); ok {
		c.merges = true
		return &observedPriorityQueue[R]{p, c}
	}
	return &observedQueue[R]{q, c}
}

// ends notes that the reconcile of a request asked to be run again.
func (c *causes[R]) ends(request R, e ending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended[request] = e
}

// adds notes that a request is about to be added: it must be known before a worker can take it.
func (c *causes[R]) adds(request R, after time.Duration, limited bool) {
	defer c.recorder.contain()
	if !c.recorder.on.Load() {
		return
	}
	handled := c.recorder.current.here()
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.recorder.now()
	if end, ok := c.ended[request]; ok && handled == nil && (limited || after > 0) {
		delete(c.ended, request)
		by := live.ByResult
		if end.failed {
			by = live.ByFailure
		}
		c.add(request, live.Cause{By: by, N: end.number}, now, now+after)
		return
	}
	if !c.recorder.samplesRequest(request) {
		return
	}
	event := handled.event()
	n := c.recorder.next(nil, body{}, func(n uint64, now time.Duration) live.Entry {
		return live.Queued{N: n, At: now, Controller: c.controller, Event: event, Request: textOf(request), After: after, Limited: limited}
	})
	switch {
	case event != 0:
		c.add(request, live.Cause{By: live.ByEvent, N: event}, now, now+after)
	case n != 0:
		c.add(request, live.Cause{By: live.ByCode, N: n}, now, now+after)
	}
}

// add adds a cause. The caller holds the lock.
func (c *causes[R]) add(request R, cause live.Cause, now, due time.Duration) {
	why := c.waiting[request]
	if why == nil {
		why = &reasons{since: now}
		c.waiting[request] = why
	}
	switch {
	case slices.Contains(why.causes, cause):
	case len(why.causes) < causesLimit:
		why.causes, why.due = append(why.causes, cause), append(why.due, due)
	default:
		why.more++
	}
}

// taken returns why a request was in the queue, for the reconcile that begins. What is added from now on is for the
// next one.
func (c *causes[R]) taken(request R) reasons {
	c.mu.Lock()
	defer c.mu.Unlock()
	why := c.processed[request]
	delete(c.processed, request)
	return why
}

// gets notes that a worker takes a request.
func (c *causes[R]) gets(request R, shutdown bool) {
	defer c.recorder.contain()
	if shutdown {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ended, request)
	why := c.waiting[request]
	delete(c.waiting, request)
	if why == nil {
		return
	}
	taken := reasons{more: why.more, since: why.since}
	later := &reasons{since: why.since}
	for i, cause := range why.causes {
		to := &taken
		if !c.merges && why.due[i] > c.recorder.now() {
			to = later // it waits for its own time
		}
		to.causes, to.due = append(to.causes, cause), append(to.due, why.due[i])
	}
	if len(later.causes) > 0 {
		c.waiting[request] = later
	}
	c.processed[request] = taken
}

// finishes notes that a worker is done with a request.
func (c *causes[R]) finishes(request R) {
	defer c.recorder.contain()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ended, request)
	delete(c.processed, request)
}

// observedQueue is a queue without priorities.
type observedQueue[R comparable] struct {
	ratedQueue[R]
	causes *causes[R]
}

// Add implements workqueue.TypedInterface.
func (q *observedQueue[R]) Add(request R) {
	q.causes.adds(request, 0, false)
	q.ratedQueue.Add(request)
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *observedQueue[R]) AddAfter(request R, after time.Duration) {
	q.causes.adds(request, after, false)
	q.ratedQueue.AddAfter(request, after)
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *observedQueue[R]) AddRateLimited(request R) {
	q.causes.adds(request, 0, true)
	q.ratedQueue.AddRateLimited(request)
}

// Get implements workqueue.TypedInterface.
func (q *observedQueue[R]) Get() (request R, shutdown bool) {
	request, shutdown = q.ratedQueue.Get()
	q.causes.gets(request, shutdown)
	return request, shutdown
}

// Done implements workqueue.TypedInterface.
func (q *observedQueue[R]) Done(request R) {
	q.causes.finishes(request)
	q.ratedQueue.Done(request)
}

// observedPriorityQueue is a queue with priorities.
type observedPriorityQueue[R comparable] struct {
	priorityqueue.PriorityQueue[R]
	causes *causes[R]
}

// Add implements workqueue.TypedInterface.
func (q *observedPriorityQueue[R]) Add(request R) {
	q.causes.adds(request, 0, false)
	q.PriorityQueue.Add(request)
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *observedPriorityQueue[R]) AddAfter(request R, after time.Duration) {
	q.causes.adds(request, after, false)
	q.PriorityQueue.AddAfter(request, after)
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *observedPriorityQueue[R]) AddRateLimited(request R) {
	q.causes.adds(request, 0, true)
	q.PriorityQueue.AddRateLimited(request)
}

// AddWithOpts implements priorityqueue.PriorityQueue.
func (q *observedPriorityQueue[R]) AddWithOpts(o priorityqueue.AddOpts, requests ...R) {
	for _, request := range requests {
		q.causes.adds(request, o.After, o.RateLimited)
	}
	q.PriorityQueue.AddWithOpts(o, requests...)
}

// Get implements workqueue.TypedInterface.
func (q *observedPriorityQueue[R]) Get() (request R, shutdown bool) {
	request, shutdown = q.PriorityQueue.Get()
	q.causes.gets(request, shutdown)
	return request, shutdown
}

// GetWithPriority implements priorityqueue.PriorityQueue.
func (q *observedPriorityQueue[R]) GetWithPriority() (request R, priority int, shutdown bool) {
	request, priority, shutdown = q.PriorityQueue.GetWithPriority()
	q.causes.gets(request, shutdown)
	return request, priority, shutdown
}

// Done implements workqueue.TypedInterface.
func (q *observedPriorityQueue[R]) Done(request R) {
	q.causes.finishes(request)
	q.PriorityQueue.Done(request)
}
