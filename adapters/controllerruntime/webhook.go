package controllerruntime

import (
	"context"
	"errors"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// webhooks is the webhook server of a manager. It takes registrations and serves
// nothing: see [reviewer].
type webhooks struct {
	mux *http.ServeMux
	// registered is told of each webhook and its path.
	registered func(path string, hook http.Handler)
}

var _ webhook.Server = (*webhooks)(nil)

// NeedLeaderElection implements [webhook.Server].
func (w *webhooks) NeedLeaderElection() bool { return false }

// Register implements [webhook.Server]. It panics if the path is taken.
func (w *webhooks) Register(path string, hook http.Handler) {
	w.mux.Handle(path, hook)
	w.registered(path, hook)
}

// Start implements [webhook.Server].
func (w *webhooks) Start(context.Context) error {
	return errors.New("the webhook server of a manager under check cannot be started: leave starting it out of the set-up")
}

// StartedChecker implements [webhook.Server].
func (w *webhooks) StartedChecker() healthz.Checker { return healthz.Ping }

// WebhookMux implements [webhook.Server].
func (w *webhooks) WebhookMux() *http.ServeMux { return w.mux }
