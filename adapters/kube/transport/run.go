package transport

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Current holds the run that is going on in an instance: what its clients ask belongs to it. The zero value holds none.
type Current struct {
	// Among are the instances of the same system, nil if the instance is the only one.
	Among *Instances
	// number tells it from others among these.
	number atomic.Uint64
	run    atomic.Pointer[Run]
	// background is what goes on between runs, nil if nothing does.
	background atomic.Pointer[Run]
}

// Begin starts a run. It lasts until the next one begins, or until it ends where something goes on between runs.
func (c *Current) Begin(recorder core.EffectRecorder) {
	c.Among.add(c)
	c.run.Store(&Run{of: c, recorder: recorder})
}

// End ends the run that is going on.
func (c *Current) End() {
	c.Among.ends(c)
	if background := c.background.Load(); background != nil {
		c.run.Store(background)
	}
}

// Background starts what goes on between runs. It returns a context for it: what is asked with that does not belong to
// a run.
func (c *Current) Background(ctx context.Context, recorder core.EffectRecorder) context.Context {
	c.Among.add(c)
	run := &Run{of: c, recorder: recorder}
	c.background.Store(run)
	c.run.Store(run)
	return context.WithValue(ctx, runKey{}, run)
}

// runKey is the key of the run that a context belongs to.
type runKey struct{}

// Context returns a context of the run that is going on.
func (c *Current) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, runKey{}, c.Run())
}

// Run returns the run that is going on, nil if nothing has run yet.
func (c *Current) Run() *Run { return c.run.Load() }

// Of returns the run that something belongs to which is asked with a context: that of the context. What a run has left
// behind is asked between runs, and a context of none belongs to what is going on. Where the instance whose code asks
// is another one of those that this one is among, it is a run of that one.
func (c *Current) Of(ctx context.Context) *Run {
	asking := c.Among.asking(c)
	now, background := asking.run.Load(), asking.background.Load()
	if of, _ := ctx.Value(runKey{}).(*Run); background != nil && of != nil && of != now {
		return background
	}
	return now
}

// Unmodelled makes a call that is not modelled, and returns false if nothing runs that could make it.
func (c *Current) Unmodelled(asked, reason string) bool {
	run := c.Run()
	if run == nil {
		return false
	}
	run.Unmodelled(asked, reason)
	return true
}

// Enqueue puts an item into a work queue from within the run that is going on, now or later, and returns false if there
// is none.
func (c *Current) Enqueue(item core.Item, later bool) bool {
	run := c.Run()
	if run == nil {
		return false
	}
	run.Enqueue(item, later)
	return true
}

// Batch is how long event handlers have items of work queues wait at most to bring changes together. It is not taken to
// be longer than what else goes on meanwhile.
const Batch = time.Second

// Run is one run of code: a reconcile, the handling of one event, an action of a user.
type Run struct {
	of       *Current
	recorder core.EffectRecorder
}

// call makes a call, and returns the answer.
func (r *Run) call(call core.Call) core.Response {
	answer := r.recorder.Do(call)
	r.of.Among.goesOn(r.of)
	return answer
}

// Enqueue puts an item into a work queue, now or later.
func (r *Run) Enqueue(item core.Item, later bool) {
	r.call(&kube.Enqueue{Item: item, Later: later})
}

// Unmodelled makes a call that is not modelled.
func (r *Run) Unmodelled(asked, reason string) {
	r.call(&kube.Unmodelled{Asked: asked, Reason: reason})
}

// Do sends a request and returns the answer. It may unwind the goroutine.
func (r *Run) Do(request *kube.Request) (*kube.Response, error) {
	answer := r.call(request)
	response, ok := answer.(*kube.Response)
	if !ok {
		return nil, fmt.Errorf("the store of the system answered %q with a %T: controllers of Kubernetes need a kube.Server as store", request, answer)
	}
	return response, nil
}
