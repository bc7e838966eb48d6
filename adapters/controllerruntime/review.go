package controllerruntime

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
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// reviewDeadline bounds a review in real time. Its own timeout is in virtual time.
const reviewDeadline = 10 * time.Second

// reviewer runs one webhook. Each review is made by a fresh instance, in a bubble of
// virtual time. What it reads, it reads of the store as it is when it is asked, also
// through a cached client.
type reviewer struct {
	blueprint *blueprint
	path      string
	// name is what messages call the webhook.
	name string
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

// review asks the webhook. An error that is no StatusError is about what is not
// modelled.
func (r *reviewer) review(state core.Snapshot, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost != nil {
		return nil, r.lost
	}
	var response *admissionv1.AdmissionResponse
	var failure, broken error
	reads := &storeReader{server: r.blueprint.server, state: state}
	stopped := bubbled(r.deadline, func() {
		var handler *admission.Webhook
		if handler, broken = r.instance(reads); broken == nil {
			response, failure = r.ask(handler, request)
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

// instance returns the webhook of a fresh manager, whose clients read from the reader.
func (r *reviewer) instance(reads *storeReader) (*admission.Webhook, error) {
	a, err := r.blueprint.assemble()
	if err != nil {
		return nil, fmt.Errorf("it cannot be set up again: %w", err)
	}
	for _, h := range a.hooks {
		if handler, runs := h.handler.(*admission.Webhook); runs && h.path == r.path {
			a.current.Begin(reads)
			return handler, nil
		}
	}
	return nil, errors.New("it cannot be set up again: the set-up registers other webhooks than the first time; it must do the same each time it runs")
}

// ask hands the request to a webhook. The error is what a server says that got no answer.
func (r *reviewer) ask(handler *admission.Webhook, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	ctx, cancel := context.WithTimeout(ctrllog.IntoContext(context.Background(), r.blueprint.logger), r.timeout)
	defer cancel()
	if handler.WithContextFunc != nil {
		sent, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://webhook.invalid"+r.path, http.NoBody)
		if err != nil {
			return nil, err
		}
		ctx = handler.WithContextFunc(ctx, sent)
	}
	asked := time.Now()
	response := handler.Handle(ctx, admission.Request{AdmissionRequest: *request})
	if time.Since(asked) >= r.timeout {
		return nil, context.DeadlineExceeded
	}
	return &response.AdmissionResponse, nil
}

// storeReader answers the calls of a webhook from the store that it is asked about.
type storeReader struct {
	server *kube.Server
	state  core.Snapshot

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
