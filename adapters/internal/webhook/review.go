package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// The patience with a webhook.
const (
	// defaultTimeout is how long an API server waits for a webhook of which nothing else is
	// said.
	defaultTimeout = 10 * time.Second
	// realDeadline bounds a review in real time. Its own timeout is in virtual time.
	realDeadline = 10 * time.Second
)

// Handle asks a webhook. The error is what a server says that got no answer.
type Handle func(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)

// Reviewer runs one webhook. Each review is made by a fresh instance, in a bubble of
// virtual time. What it reads, it reads of the store as it is when it is asked. Where it does so
// through a cached client, that is noted, see [core.Caching].
type Reviewer struct {
	server *kube.Server
	// name is what messages call the webhook.
	name string
	// remake makes the webhook anew. The calls of its clients go to the recorder.
	remake func(reads core.EffectRecorder) (Handle, error)
	// timeout is how long the API server waits for it, in virtual time.
	timeout time.Duration
	// deadline bounds a review in real time.
	deadline time.Duration
	// ignored tells that a write goes on as if the webhook had not been asked, if it
	// cannot be asked. Otherwise the write fails.
	ignored bool

	mu sync.Mutex
	// lost is why the webhook is not asked any more.
	lost error
}

// NewReviewer returns what asks a webhook, which remake makes anew for each review. Its error is about what is not
// modelled.
func NewReviewer(server *kube.Server, name string, remake func(reads core.EffectRecorder) (Handle, error)) *Reviewer {
	return &Reviewer{server: server, name: name, remake: remake, timeout: defaultTimeout, deadline: realDeadline}
}

// Review asks the webhook. An error that is no StatusError is about what is not
// modelled.
func (r *Reviewer) Review(state core.Snapshot, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost != nil {
		return nil, r.lost
	}
	var response *admissionv1.AdmissionResponse
	var failure, broken error
	reads := &storeReader{server: r.server, state: state, name: r.name}
	stopped := bubbled(r.deadline, func() {
		var handle Handle
		if handle, broken = r.remake(reads); broken == nil {
			response, failure = r.ask(handle, request)
		}
	})
	unanswered := reads.stop()
	var late *overdue
	switch {
	case errors.As(stopped, &late):
		// It may never end, so that one more is one too many.
		r.lost = stopped
		return nil, stopped
	case unanswered != nil:
		return nil, unanswered
	case stopped != nil:
		failure = stopped
	case broken != nil:
		return nil, broken
	}
	switch {
	case failure == nil:
		return response, nil
	case r.ignored:
		return &admissionv1.AdmissionResponse{Allowed: true}, nil
	}
	return nil, apierrors.NewInternalError(fmt.Errorf("failed calling webhook %q: failed to call webhook: %w", r.name, failure))
}

// ask hands the request to the webhook, and waits as long as a server does.
func (r *Reviewer) ask(handle Handle, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
	defer cancel()
	asked := time.Now()
	response, err := handle(ctx, request)
	switch {
	case err != nil:
		return nil, err
	case time.Since(asked) >= r.timeout:
		return nil, context.DeadlineExceeded
	}
	return response, nil
}

// storeReader answers the calls of a webhook from the store that it is asked about.
type storeReader struct {
	server *kube.Server
	state  core.Snapshot
	// name is that of the webhook.
	name string

	mu      sync.Mutex
	stopped bool
	// err is why calls could not be answered.
	err error
}

var _ core.EffectRecorder = (*storeReader)(nil)

// Do implements [core.EffectRecorder].
func (s *storeReader) Do(call core.Call) core.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		runtime.Goexit()
	}
	if request, ok := call.(*kube.Request); ok && call.Source() == core.Cached {
		if caching, ok := s.state.(core.Caching); ok {
			caching.ReadsCache("the webhook "+s.name, kube.KindOf(request.Kind.GroupKind()))
		}
	}
	answer, err := s.server.Answer(s.state, call)
	switch {
	case err != nil:
	case len(answer.Writes) > 0:
		err = fmt.Errorf("it makes the request %q, and a webhook that writes is not modelled: let a controller do it", call)
	default:
		return answer.Response
	}
	s.err = errors.Join(s.err, err)
	return &kube.Response{Status: &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotImplemented, Message: err.Error(),
	}}
}

// stop ends every goroutine that still asks, and returns why calls could not be
// answered.
func (s *storeReader) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	return s.err
}
