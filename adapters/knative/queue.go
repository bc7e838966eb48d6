package knative

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"knative.dev/pkg/controller"

	"github.com/orrery-dev/orrery/adapters/clientgo"
)

// errUnknownQueue says that the fields of a queue have other names or types than expected.
var errUnknownQueue = errors.New("this version of the adapter does not know how its work queue is made: use the version of knative.dev/pkg that the adapter requires")

// oneLane puts one queue in the place of both lanes of a controller's own, which is shut down.
func oneLane(e *clientgo.Environment, impl *controller.Impl) (*clientgo.Queue[types.NamespacedName], error) {
	own, err := lanesOf(impl.WorkQueue())
	if err != nil {
		return nil, err
	}
	var queue *clientgo.Queue[types.NamespacedName]
	own.atRest(func() {
		queue, err = clientgo.QueueIn[types.NamespacedName](e, impl.WorkQueue(), "TypedRateLimitingInterface")
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknownQueue, err)
	}
	own.slow.divert(queue.Untyped())
	return queue, nil
}

// lanes are the parts of a two-lane queue.
type lanes struct {
	fast, slow lane
	// merged is locked while something is put where the lanes come together.
	merged sync.Locker
}

// lane is a part of a two-lane queue. What waits in it is sent into its channel, which is closed when the lane has shut
// down.
type lane struct {
	queue *workqueue.Typed[any]
	sent  chan any
}

// lanesOf returns the parts of the queue of a controller.
func lanesOf(queue any) (*lanes, error) {
	v := reflect.ValueOf(queue)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, errUnknownQueue
	}
	q := v.Elem().FieldByName("q")
	if q.Kind() != reflect.Pointer || q.IsNil() || q.Elem().Kind() != reflect.Struct {
		return nil, errUnknownQueue
	}
	q = q.Elem()
	l := &lanes{}
	var fast, slow, merged bool
	l.fast, fast = laneOf(q, "fastLane", "fastChan")
	l.slow, slow = laneOf(q, "slowLane", "slowChan")
	both, merged := laneOf(q, "consumerQueue", "fastChan")
	if !fast || !slow || !merged {
		return nil, errUnknownQueue
	}
	l.merged = both.lock()
	return l, nil
}

// laneOf returns the lane in two fields of a two-lane queue, and false if there is none.
func laneOf(q reflect.Value, name, sent string) (lane, bool) {
	queue, channel := field[workqueue.TypedInterface[any]](q, name), field[chan any](q, sent)
	if queue == nil || channel == nil {
		return lane{}, false
	}
	typed, ok := (*queue).(*workqueue.Typed[any])
	if !ok {
		return lane{}, false
	}
	l := lane{typed, *channel}
	return l, l.inside("cond", new(*sync.Cond)) && l.inside("queue", new(workqueue.Queue[any])) && l.inside("shuttingDown", new(bool))
}

// inside reports whether the queue of a lane has a field of the type of an example.
func (l lane) inside(name string, example any) bool {
	f := reflect.ValueOf(l.queue).Elem().FieldByName(name)
	return f.IsValid() && f.Type() == reflect.TypeOf(example).Elem()
}

// lock locks the queue of the lane.
func (l lane) lock() sync.Locker {
	return (*field[*sync.Cond](reflect.ValueOf(l.queue).Elem(), "cond")).L
}

// divert has all that is added to the lane, which has shut down, go into another queue. Others still look at the lane:
// so it is changed under its lock, and not replaced.
func (l lane) divert(to workqueue.TypedInterface[any]) {
	l.lock().Lock()
	defer l.lock().Unlock()
	inside := reflect.ValueOf(l.queue).Elem()
	*field[workqueue.Queue[any]](inside, "queue") = diverted{to}
	*field[bool](inside, "shuttingDown") = false
}

// diverted is what a lane keeps its items in: another queue.
type diverted struct{ to workqueue.TypedInterface[any] }

// Push implements [workqueue.Queue].
func (d diverted) Push(item any) { d.to.Add(item) }

// Touch implements [workqueue.Queue]. The lane has had the item before.
func (d diverted) Touch(item any) { d.to.Add(item) }

// Len implements [workqueue.Queue].
func (d diverted) Len() int { return 0 }

// Pop implements [workqueue.Queue]. Nobody takes from the lane.
func (d diverted) Pop() any { return nil }

// atRest shuts the lanes down with a function. Who brings them together waits meanwhile: as long as only one of them
// has shut down, it would look at both again and again without ever waiting.
func (l *lanes) atRest(shutDown func()) {
	l.merged.Lock()
	defer l.merged.Unlock()
	for _, item := range []string{"first", "second"} {
		l.fast.queue.Add(item)
	}
	for l.fast.queue.Len() > 0 { // the second is taken from the lane when the first was sent
		runtime.Gosched()
	}
	shutDown()
	for _, sent := range []chan any{l.fast.sent, l.slow.sent} {
		for range sent {
		}
	}
}

// field returns a field of a struct, exported or not, nil if there is none of that type.
func field[T any](structure reflect.Value, name string) *T {
	f := structure.FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		return nil
	}
	return (*T)(f.Addr().UnsafePointer())
}
