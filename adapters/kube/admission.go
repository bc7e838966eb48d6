package kube

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Webhook is asked before an object is written, as admission webhooks are: it may
// change the object, or refuse the write. It is not asked about subresources.
type Webhook struct {
	// Name is what messages call it.
	Name string
	// Kind is the kind of the objects it is asked about, in the version in which it
	// gets them.
	Kind schema.GroupVersionKind
	// Operations are those it is asked about.
	Operations []admissionv1.Operation
	// Mutates tells that it may change the object. Those that do are asked before all
	// others. What others change is dropped.
	Mutates bool
	// Review answers a request. It must be a function of the request and of what it reads
	// of the store, which it may only read. An error that is an [apierrors.StatusError] is
	// the server's answer to the write, such as that the webhook could not be called; any
	// other is about what is not modelled.
	Review func(core.Snapshot, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)
}

// WithWebhooks returns a server that asks the webhooks, in their order, besides those
// that this one asks. It returns an error that says what to change if a webhook is
// about a kind that is not served.
func (s *Server) WithWebhooks(webhooks ...Webhook) (*Server, error) {
	for _, w := range webhooks {
		if _, err := s.registry.Find(w.Kind); err != nil {
			return nil, fmt.Errorf("webhook %s: %w", w.Name, err)
		}
		if w.Review == nil {
			return nil, fmt.Errorf("webhook %s cannot review anything: set Review", w.Name)
		}
	}
	with := *s
	with.webhooks = slices.Concat(s.webhooks, webhooks)
	return &with, nil
}

// review is one write as webhooks see it.
type review struct {
	server   *Server
	state    core.Snapshot
	resource *kinds.Resource
	verb     admissionv1.Operation
	key      core.Key
	dryRun   bool
}

// review prepares to ask webhooks about a write of the operation.
func (op *operation) review(verb admissionv1.Operation, key core.Key) *review {
	return &review{
		server: op.server, state: op.state, resource: op.resource,
		verb: verb, key: key, dryRun: op.request.DryRun,
	}
}

// mutate returns the object as the mutating webhooks leave it.
func (r *review) mutate(object, old *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for _, w := range r.asked(true) {
		response, err := r.ask(w, object, old)
		if err != nil {
			return nil, err
		}
		if len(response.Patch) == 0 || object == nil {
			continue
		}
		if object, err = r.patched(w, object, response.Patch); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// validate asks the other webhooks.
func (r *review) validate(object, old *unstructured.Unstructured) error {
	for _, w := range r.asked(false) {
		if _, err := r.ask(w, object, old); err != nil {
			return err
		}
	}
	return nil
}

// asked are the webhooks that are asked about the write.
func (r *review) asked(mutating bool) []Webhook {
	var found []Webhook
	for _, w := range r.server.webhooks {
		if w.Mutates == mutating && KindOf(w.Kind.GroupKind()) == r.resource.Name && slices.Contains(w.Operations, r.verb) {
			found = append(found, w)
		}
	}
	return found
}

// ask asks one webhook. A StatusError is its refusal.
func (r *review) ask(w Webhook, object, old *unstructured.Unstructured) (*admissionv1.AdmissionResponse, error) {
	resource := metav1.GroupVersionResource{Group: r.resource.Group, Version: w.Kind.Version, Resource: r.resource.Plural}
	kind := metav1.GroupVersionKind(w.Kind)
	request := &admissionv1.AdmissionRequest{
		UID:             storage.UID("", r.key, 0),
		Kind:            kind,
		Resource:        resource,
		RequestKind:     &kind,
		RequestResource: &resource,
		Name:            r.key.Name,
		Namespace:       r.key.Namespace,
		Operation:       r.verb,
		UserInfo:        authenticationv1.UserInfo{Username: "controller"},
		Object:          rawIn(w.Kind, object),
		OldObject:       rawIn(w.Kind, old),
		DryRun:          &r.dryRun,
	}
	response, err := w.Review(r.state, request)
	switch {
	case err != nil:
		return nil, fmt.Errorf("webhook %s: %w", w.Name, err)
	case !response.Allowed:
		return nil, denied(w.Name, response.Result)
	}
	return response, nil
}

// rawIn writes an object in the version of a kind. There may be none.
func rawIn(kind schema.GroupVersionKind, object *unstructured.Unstructured) runtime.RawExtension {
	if object == nil {
		return runtime.RawExtension{}
	}
	versioned := jsontree.Without(object.Object)
	versioned["apiVersion"] = kind.GroupVersion().String()
	return runtime.RawExtension{Raw: jsontree.Canonical(versioned)}
}

// patched applies what a webhook answers, and reads the outcome again.
func (r *review) patched(w Webhook, object *unstructured.Unstructured, patch []byte) (*unstructured.Unstructured, error) {
	fail := func(err error) error {
		return apierrors.NewInternalError(fmt.Errorf("failed to apply the patch of webhook %s: %w", w.Name, err))
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, fail(err)
	}
	changed, err := applyOperations(operations, rawIn(w.Kind, object).Raw)
	if err != nil {
		return nil, fail(err)
	}
	decoded, err := r.resource.Decode(changed, w.Kind.Version)
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		return nil, err
	case err != nil:
		return nil, fail(err)
	}
	return decoded, nil
}

// denied is the refusal of a webhook, in the words of a server.
func denied(name string, result *metav1.Status) error {
	status := metav1.Status{}
	if result != nil {
		status = *result.DeepCopy()
	}
	status.Status = metav1.StatusFailure
	status.Code = max(status.Code, http.StatusBadRequest)
	by := fmt.Sprintf("admission webhook %q denied the request", name)
	switch {
	case status.Message != "":
		status.Message = by + ": " + status.Message
	case status.Reason != "":
		status.Message = by + ": " + string(status.Reason)
	default:
		status.Message = by + " without explanation"
	}
	return &apierrors.StatusError{ErrStatus: status}
}
