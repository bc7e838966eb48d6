package foreign

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"
)

// Receiver is an audit webhook: an API server sends events to it, and it writes a recording of them. It may be used by
// several goroutines.
type Receiver struct {
	mu      sync.Mutex
	auditor *auditor
	failed  error
	closed  bool
	taken   int
}

// bodyLimit is how large a request may be: API servers send batches, by default of 400 events and 10 MiB at most.
const bodyLimit = 64 << 20

// NewReceiver starts a recording.
func NewReceiver(out io.Writer, options Options) (*Receiver, error) {
	a, err := newAuditor(out, time.Now(), newKinds(), options)
	if err != nil {
		return nil, err
	}
	return &Receiver{auditor: a}, nil
}

// ServeHTTP implements http.Handler. It answers when the events are recorded.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		http.Error(w, "send lists of events of audit.k8s.io/v1 with POST", http.StatusMethodNotAllowed)
		return
	}
	// API servers say what they send. A page in a browser cannot say so to another host without asking before.
	if media, _, err := mime.ParseMediaType(request.Header.Get("Content-Type")); err != nil || media != "application/json" {
		http.Error(w, "send events of audit.k8s.io/v1 as application/json", http.StatusUnsupportedMediaType)
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, request.Body, bodyLimit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, fmt.Sprintf("send %d MiB at most: set --audit-webhook-batch-max-size to less", bodyLimit>>20), http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	events, ok := eventsOf(text)
	if !ok {
		http.Error(w, "this is no list of events of audit.k8s.io/v1: set --audit-webhook-version=audit.k8s.io/v1", http.StatusBadRequest)
		return
	}
	if err := r.take(events); err != nil {
		http.Error(w, err.Error(), http.StatusInsufficientStorage)
	}
}

// take writes events, whole batches one after the other.
func (r *Receiver) take(events []auditEvent) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed && r.failed == nil {
		return errors.New("the recording has ended")
	}
	for i := range events {
		if r.failed != nil {
			break
		}
		r.failed = r.auditor.take(&events[i])
		r.taken++
	}
	if r.failed == nil {
		r.failed = r.auditor.w.Flush()
	}
	if r.failed != nil {
		return fmt.Errorf("the recording cannot be written: %w", r.failed)
	}
	return nil
}

// Events returns how many events were received.
func (r *Receiver) Events() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken
}

// Close ends the recording. It returns the error that ended it before, if one did.
func (r *Receiver) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.failed != nil {
		return r.failed
	}
	r.closed = true
	r.failed = r.auditor.end()
	return r.failed
}
