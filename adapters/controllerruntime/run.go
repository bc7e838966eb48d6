package controllerruntime

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

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
func (t *turn) begin(recorder core.EffectRecorder) {
	t.current.Store(&run{recorder: recorder, writes: map[written]int{}})
}

// run is a reconcile, or the handling of one event.
type run struct {
	recorder core.EffectRecorder

	// mu is never held while a call waits for its answer.
	mu     sync.Mutex
	writes map[written]int
}

// written names an object that the run has written. An empty name stands for all
// objects of the kind.
type written struct {
	kind            schema.GroupKind
	namespace, name string
}

// do sends a request and returns the answer. It may unwind the goroutine.
func (r *run) do(request *kube.Request) (*kube.Response, error) {
	request.Ordinal = r.ordinal(request)
	answer := r.recorder.Do(request)
	response, ok := answer.(*kube.Response)
	if !ok {
		return nil, fmt.Errorf("the store of the system answered %q with a %T: controllers of controller-runtime need a kube.Server as store", request, answer)
	}
	if response.Status == nil {
		r.count(request, response)
	}
	return response, nil
}

// ordinal returns how many earlier writes of the run concern the object that the
// request is about.
func (r *run) ordinal(request *kube.Request) int {
	if !writes(request) {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := subject(request, request.Body)
	ordinal := r.writes[written{kind: of.kind}]
	if of.name != "" {
		ordinal += r.writes[of]
	}
	return ordinal
}

// count remembers a write that succeeded.
func (r *run) count(request *kube.Request, response *kube.Response) {
	if !writes(request) || request.DryRun {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes[subject(request, response.Object)]++
}

func writes(request *kube.Request) bool {
	return request.Verb != kube.Get && request.Verb != kube.List
}

// subject names the object that a request writes. A create carries the name in
// the object, and after a generateName only the answer has it.
func subject(request *kube.Request, object []byte) written {
	of := written{kind: request.Kind.GroupKind()}
	if request.Verb == kube.DeleteCollection {
		return of
	}
	of.namespace, of.name = request.Namespace, request.Name
	if of.name == "" {
		var named struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if json.Unmarshal(object, &named) == nil {
			of.name = named.Metadata.Name
		}
	}
	return of
}
