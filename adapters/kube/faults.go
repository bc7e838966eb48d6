package kube

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Failure is a way in which a request fails though nothing in the objects is the reason.
type Failure string

// The ways in which requests fail. Each makes a search larger, so there is one of each
// kind that a client can tell apart. An answer that is lost looks to it like a request
// that took too long, as it does with a real server.
const (
	// Conflict refuses a write that is made from a version, or that has a precondition: somebody else was there first,
	// of which those are told who watch the object. Others cannot get it, as a real server tries them again.
	Conflict Failure = "conflict"
	// Timeout gives up a request that has not done anything.
	Timeout Failure = "timeout"
	// Throttled refuses a write because there are too many requests. It is what a client
	// reports once it has tried often enough.
	Throttled Failure = "throttled"
	// InternalError is trouble of the server's own. The request has not done anything.
	InternalError Failure = "internal error"
	// AnswerLost does what a write asks for, and then says that it took too long.
	AnswerLost Failure = "committed, but the answer is lost"
)

// tookLong is what a server says of a request that it gives up.
const tookLong = "request did not complete within the allotted timeout"

// TookLong reports whether a request got no answer in time. Clients that do not wait so long give up before.
func (r *Response) TookLong() bool {
	return r.Status != nil && r.Status.Reason == metav1.StatusReasonTimeout && r.Status.Message == "Timeout: "+tookLong
}

func failures() []Failure {
	return []Failure{Conflict, Timeout, Throttled, InternalError, AnswerLost}
}

// Failures says in which ways requests may fail, where a check lets them fail at all.
// Without it these are all there are: for reads, [Timeout] and [InternalError].
func Failures(some ...Failure) Option {
	return func(s *settings) { s.failures = append([]Failure{}, some...) }
}

// chosenFailures returns the failures of the settings in their fixed order.
func (s *settings) chosenFailures() ([]Failure, error) {
	all := failures()
	if s.failures == nil {
		return all, nil
	}
	for _, f := range s.failures {
		if !slices.Contains(all, f) {
			return nil, fmt.Errorf("there is no failure %q of requests: use %q", f, all)
		}
	}
	return slices.DeleteFunc(all, func(f Failure) bool { return !slices.Contains(s.failures, f) }), nil
}

// Faults implements [core.Store] for calls of type [*Request]. What a cache answers
// cannot fail.
func (s *Server) Faults(call core.Call) []core.Fault {
	request, ok := call.(*Request)
	if !ok || request.FromCache {
		return nil
	}
	resource, err := s.registry.Find(request.Kind)
	if err != nil {
		return nil
	}
	op := &operation{server: s, request: request, resource: resource}
	var faults []core.Fault
	for _, f := range s.failures {
		if status := op.failure(f); status != nil {
			fault := core.Fault{Name: string(f), Response: refused(status), Commits: f == AnswerLost}
			if f == Conflict {
				fault.Overtaken = []core.Key{op.key(request.Name)}
			}
			faults = append(faults, fault)
		}
	}
	return faults
}

// failure is how the request fails in some way, nil if it cannot.
func (op *operation) failure(f Failure) *apierrors.StatusError {
	reads := op.request.Verb == Get || op.request.Verb == List
	switch {
	case f == Timeout, f == AnswerLost && !reads && !op.request.DryRun:
		return apierrors.NewTimeoutError(tookLong, 0)
	case f == InternalError:
		return apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
	case f == Throttled && !reads:
		return apierrors.NewGenericServerResponse(http.StatusTooManyRequests, op.method(), op.groupResource(), op.request.Name,
			"Too many requests, please try again later.", 1, true)
	case f == Conflict:
		return op.overtaken()
	}
	return nil
}

// overtaken is the refusal of a write because of somebody else's, nil if the request
// takes the object as it is.
func (op *operation) overtaken() *apierrors.StatusError {
	var refusal error
	switch op.request.Verb {
	case Update, Patch:
		if op.fromVersion() {
			refusal = op.conflict(op.request.Name, errors.New(staleMessage))
		}
	case Delete:
		other := &unstructured.Unstructured{Object: map[string]any{}}
		other.SetName(op.request.Name)
		other.SetUID("00000000-0000-0000-0000-000000000000")
		refusal = op.checkPreconditions(op.key(op.request.Name), storage.New(other.Object, 0))
	}
	var status *apierrors.StatusError
	errors.As(refusal, &status)
	return status
}

// fromVersion reports whether the body of a request says from which version of the object
// it was made.
func (op *operation) fromVersion() bool {
	if op.request.PatchType == types.JSONPatchType {
		var operations []map[string]any
		return jsontree.Decode(op.request.Body, &operations) == nil && slices.ContainsFunc(operations, func(o map[string]any) bool {
			return o["path"] == "/metadata/resourceVersion"
		})
	}
	var body metav1.PartialObjectMetadata
	// The body of a server-side apply may be YAML, and JSON is YAML.
	return yaml.Unmarshal(op.request.Body, &body) == nil && body.ResourceVersion != "" && body.ResourceVersion != "0"
}
