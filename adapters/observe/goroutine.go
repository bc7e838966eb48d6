package observe

import (
	"sync"
	"sync/atomic"

	"github.com/orrery-dev/orrery/internal/goroutine"
)

// dispatches are the events that are being handled, by the goroutine that does it: what a handler adds to a queue, it
// adds in that goroutine. There is nothing else that tells one handler of a controller from another one: they share the
// queue, and it gets no context. While it handles an event, a goroutine is pinned: there are many events, and to ask
// for the number of a goroutine takes long.
type dispatches struct {
	count  atomic.Int64
	events sync.Map // from the number of a pinned goroutine to the dispatch
}

// dispatch is an event that is being handled. It is used by one goroutine.
type dispatch struct {
	// record records the event and returns its number. An event about an object that is not sampled is recorded if it
	// queues a request that is.
	record func() uint64
	number uint64
}

// event returns the number of the event, which is recorded if it was not yet; 0 if it cannot be.
func (d *dispatch) event() uint64 {
	if d == nil {
		return 0
	}
	if d.record != nil {
		d.number, d.record = d.record(), nil
	}
	return d.number
}

// begin notes that this goroutine handles an event, until it calls the returned function.
func (d *dispatches) begin(event *dispatch) (end func()) {
	number := goroutine.Pin()
	outer, nested := d.events.Swap(number, event)
	d.count.Add(1)
	return func() {
		d.count.Add(-1)
		if nested {
			d.events.Store(number, outer)
		} else {
			d.events.Delete(number)
		}
		goroutine.Unpin()
	}
}

// here returns the event that this goroutine handles, nil if there is none.
func (d *dispatches) here() *dispatch {
	if d.count.Load() == 0 {
		return nil
	}
	number := goroutine.Pin()
	defer goroutine.Unpin()
	found, _ := d.events.Load(number)
	event, _ := found.(*dispatch)
	return event
}

// goroutineNumber returns the number of this goroutine.
func goroutineNumber() uint64 {
	number, _ := goroutine.Current()
	return number
}
