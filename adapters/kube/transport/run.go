package transport

import (
	"fmt"
	"sync/atomic"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Current holds the run that is going on in an instance: what its clients ask belongs to it. The zero value holds none.
type Current struct{ run atomic.Pointer[Run] }

// Begin starts a run. It lasts until the next one begins.
func (c *Current) Begin(recorder core.EffectRecorder) { c.run.Store(&Run{recorder: recorder}) }

// Run returns the run that is going on, nil if nothing has run yet.
func (c *Current) Run() *Run { return c.run.Load() }

// Unmodelled makes a call that is not modelled, and returns false if nothing runs that could make it.
func (c *Current) Unmodelled(asked, reason string) bool {
	run := c.Run()
	if run == nil {
		return false
	}
	run.recorder.Do(&kube.Unmodelled{Asked: asked, Reason: reason})
	return true
}

// Enqueue puts an item into a work queue from within the run that is going on, and returns false if there is none.
func (c *Current) Enqueue(item core.Item) bool {
	run := c.Run()
	if run == nil {
		return false
	}
	run.recorder.Do(&kube.Enqueue{Item: item})
	return true
}

// Run is one run of code: a reconcile, the handling of one event, an action of a user.
type Run struct{ recorder core.EffectRecorder }

// Do sends a request and returns the answer. It may unwind the goroutine.
func (r *Run) Do(request *kube.Request) (*kube.Response, error) {
	answer := r.recorder.Do(request)
	response, ok := answer.(*kube.Response)
	if !ok {
		return nil, fmt.Errorf("the store of the system answered %q with a %T: controllers of Kubernetes need a kube.Server as store", request, answer)
	}
	return response, nil
}
