package controllerruntime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// reviewer runs the webhooks of an assembly. What they read, they read of the store
// as it is when they are asked, also through a cached client.
type reviewer struct {
	blueprint *blueprint
	assembly  *assembly
	// mu is held while a webhook runs.
	mu sync.Mutex
}

// webhooks returns the webhooks that a survey has found and that can be run: those at
// the paths that controller-runtime gives to the defaulter and the validator of a
// kind. What they are asked about is said in the configuration of a cluster, which is
// not known here: creations and updates are what kubebuilder configures.
func (b *blueprint) webhooks(found *assembly) []kube.Webhook {
	r := &reviewer{blueprint: b, assembly: found}
	paths := b.webhookPaths()
	var all []kube.Webhook
	for _, h := range found.hooks {
		of, known := paths[h.path]
		handler, runs := h.handler.(*admission.Webhook)
		if !known || !runs {
			found.assume("The webhook at %s is not run: objects are taken to be as it would leave them.", h.path)
			continue
		}
		found.assume("The webhook at %s is asked about creations and updates.", h.path)
		all = append(all, kube.Webhook{
			Name:       h.path,
			Kind:       of.kind,
			Operations: []admissionv1.Operation{admissionv1.Create, admissionv1.Update},
			Mutates:    of.mutates,
			Review: func(state core.Snapshot, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
				return r.review(state, handler, request)
			},
		})
	}
	slices.SortStableFunc(all, func(a, b kube.Webhook) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// admissionPath is what controller-runtime's path for a webhook says about it.
type admissionPath struct {
	kind    schema.GroupVersionKind
	mutates bool
}

// webhookPaths are the paths for the webhooks of the kinds of the scheme that the API
// server serves.
func (b *blueprint) webhookPaths() map[string]admissionPath {
	paths := map[string]admissionPath{}
	for kind := range b.scheme.AllKnownTypes() {
		if b.server.Serves(kind) != nil {
			continue
		}
		name := strings.ReplaceAll(kind.Group, ".", "-") + "-" + kind.Version + "-" + strings.ToLower(kind.Kind)
		paths["/mutate-"+name] = admissionPath{kind: kind, mutates: true}
		paths["/validate-"+name] = admissionPath{kind: kind}
	}
	return paths
}

// review asks one webhook.
func (r *reviewer) review(state core.Snapshot, handler *admission.Webhook, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reads := &storeReader{server: r.blueprint.server, state: state}
	r.assembly.turn.begin(reads)
	var response admission.Response
	err := caught(func() error {
		ctx := ctrllog.IntoContext(context.Background(), r.blueprint.logger)
		response = handler.Handle(ctx, admission.Request{AdmissionRequest: *request})
		return nil
	})
	if err := errors.Join(err, reads.err); err != nil {
		return nil, err
	}
	return &response.AdmissionResponse, nil
}

// storeReader answers the calls of a webhook from the store that it is asked about.
type storeReader struct {
	server *kube.Server
	state  core.Snapshot
	// err is why a call could not be answered.
	err error
}

var _ core.EffectRecorder = (*storeReader)(nil)

// Do implements [core.EffectRecorder].
func (s *storeReader) Do(call core.Call) core.Response {
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
