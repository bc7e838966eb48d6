package controllerruntime

import (
	"fmt"
	"sync/atomic"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// turn holds the run that is going on in an instance: what its clients ask
// belongs to it.
type turn struct {
	current atomic.Pointer[run]
}

// begin starts a run. It lasts until the next one begins, since a goroutine may
// outlive the reconcile that started it.
func (t *turn) begin(recorder core.EffectRecorder) { t.current.Store(&run{recorder: recorder}) }

// run is a reconcile, or the handling of one event.
type run struct{ recorder core.EffectRecorder }

// do sends a request and returns the answer. It may unwind the goroutine.
func (r *run) do(request *kube.Request) (*kube.Response, error) {
	answer := r.recorder.Do(request)
	response, ok := answer.(*kube.Response)
	if !ok {
		return nil, fmt.Errorf("the store of the system answered %q with a %T: controllers of controller-runtime need a kube.Server as store", request, answer)
	}
	return response, nil
}
