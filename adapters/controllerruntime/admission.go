package controllerruntime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery/adapters/internal/webhook"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// webhooks is the webhook server of a manager. It takes registrations and serves
// nothing: see package webhook.
type webhooks struct {
	mux *http.ServeMux
	// registered is told of each webhook and its path.
	registered func(path string, hook http.Handler)
}

var _ ctrlwebhook.Server = (*webhooks)(nil)

// NeedLeaderElection implements [ctrlwebhook.Server].
func (w *webhooks) NeedLeaderElection() bool { return false }

// Register implements [ctrlwebhook.Server]. It panics if the path is taken.
func (w *webhooks) Register(path string, hook http.Handler) {
	w.mux.Handle(path, hook)
	w.registered(path, hook)
}

// Start implements [ctrlwebhook.Server].
func (w *webhooks) Start(context.Context) error {
	return errors.New("the webhook server of a manager under check cannot be started: leave starting it out of the set-up")
}

// StartedChecker implements [ctrlwebhook.Server].
func (w *webhooks) StartedChecker() healthz.Checker { return healthz.Ping }

// WebhookMux implements [ctrlwebhook.Server].
func (w *webhooks) WebhookMux() *http.ServeMux { return w.mux }

// webhooks returns the webhooks that a survey has found and that can be run. What they
// are asked about is said by the configurations, if there are any. Otherwise it is
// what the webhooks themselves tell: the defaulter or the validator of a kind is asked
// about creations and updates, which is what kubebuilder configures.
func (b *blueprint) webhooks(found *assembly) ([]kube.Webhook, error) {
	if len(b.configurations) > 0 {
		var registered []webhook.Registered
		for _, h := range found.hooks {
			r := webhook.Registered{Path: h.path}
			if _, runs := h.handler.(*admission.Webhook); runs {
				r.Make = b.remake(h.path)
			}
			registered = append(registered, r)
		}
		return webhook.Configured(b.server, b.configurations, registered, found)
	}
	paths := b.webhookPaths()
	var all []kube.Webhook
	for _, h := range found.hooks {
		about, known := b.subject(h.handler)
		if !known {
			about, known = paths[h.path]
		}
		if _, runs := h.handler.(*admission.Webhook); !runs || !known {
			found.unasked(h.path, "give what asks it with WebhookConfigurations, or leave it out of the set-up")
			continue
		}
		found.Assume("The webhook at %s is asked about creations and updates.", h.path)
		all = append(all, kube.Webhook{
			Name:       h.path,
			Kind:       about.kind,
			Operations: []admissionv1.Operation{admissionv1.Create, admissionv1.Update},
			Mutates:    about.mutates,
			Review:     webhook.NewReviewer(b.server, h.path, b.remake(h.path)).Review,
		})
	}
	slices.SortStableFunc(all, func(a, b kube.Webhook) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// remake returns what makes the webhook at a path anew: that of a fresh manager, whose clients read from the recorder.
func (b *blueprint) remake(path string) func(core.EffectRecorder) (webhook.Handle, error) {
	return func(reads core.EffectRecorder) (webhook.Handle, error) {
		a, err := b.assemble()
		if err != nil {
			return nil, fmt.Errorf("it cannot be set up again: %w", err)
		}
		for _, h := range a.hooks {
			if handler, runs := h.handler.(*admission.Webhook); runs && h.path == path {
				a.current.Begin(reads)
				return b.handle(handler, b.served(a), path), nil
			}
		}
		return nil, errors.New("it cannot be set up again: the set-up registers other webhooks than the first time; it must do the same each time it runs")
	}
}

// served returns what the contexts of requests are made of that a webhook server gets. Older versions of
// controller-runtime make them of nothing.
func (b *blueprint) served(a *assembly) context.Context {
	if b.basesWebhooks {
		return a.base
	}
	return context.Background()
}

// valued has the values of one context, and for the rest is another one.
type valued struct {
	context.Context

	values context.Context
}

// Value implements [context.Context].
func (v valued) Value(key any) any {
	if value := v.Context.Value(key); value != nil {
		return value
	}
	return v.values.Value(key)
}

// handle asks a webhook of controller-runtime, whose server makes contexts of one.
func (b *blueprint) handle(handler *admission.Webhook, served context.Context, path string) webhook.Handle {
	return func(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
		ctx = ctrllog.IntoContext(valued{ctx, served}, b.loggers.Logger)
		if handler.WithContextFunc != nil {
			sent, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://webhook.invalid"+path, http.NoBody)
			if err != nil {
				return nil, err
			}
			ctx = handler.WithContextFunc(ctx, sent)
		}
		response := handler.Handle(ctx, admission.Request{AdmissionRequest: *request})
		return &response.AdmissionResponse, nil
	}
}

// admissionSubject is what a webhook is about.
type admissionSubject struct {
	kind    schema.GroupVersionKind
	mutates bool
}

// subject returns what a webhook is about that controller-runtime has made of a
// defaulter or a validator, and false if it is not such a one, or for a kind that is not
// served. The types of these are internal to controller-runtime, so they are told by
// their names, and asked for an object of their kind, which they can make.
func (b *blueprint) subject(handler http.Handler) (admissionSubject, bool) {
	var none admissionSubject
	hook, ok := handler.(*admission.Webhook)
	if !ok {
		return none, false
	}
	v := reflect.ValueOf(hook.Handler)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct || v.Elem().Type().PkgPath() != reflect.TypeFor[admission.Webhook]().PkgPath() {
		return none, false
	}
	name, _, _ := strings.Cut(v.Elem().Type().Name(), "[")
	if name != "defaulterForType" && name != "validatorForType" {
		return none, false
	}
	field := v.Elem().FieldByName("new")
	if !field.IsValid() || field.Kind() != reflect.Func || field.Type().NumIn() != 0 || field.Type().NumOut() != 1 {
		return none, false
	}
	made := reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem().Call(nil)
	object, ok := made[0].Interface().(runtime.Object)
	if !ok {
		return none, false
	}
	kind, err := apiutil.GVKForObject(object, b.scheme)
	if err != nil || b.server.Serves(kind) != nil {
		return none, false
	}
	return admissionSubject{kind: kind, mutates: name == "defaulterForType"}, true
}

// webhookPaths are the paths that controller-runtime gives to the webhooks of the kinds
// of the scheme that the API server serves. A handler of one's own is often at one of
// them.
func (b *blueprint) webhookPaths() map[string]admissionSubject {
	paths := map[string]admissionSubject{}
	for kind := range b.scheme.AllKnownTypes() {
		if b.server.Serves(kind) != nil {
			continue
		}
		name := strings.ReplaceAll(kind.Group, ".", "-") + "-" + kind.Version + "-" + strings.ToLower(kind.Kind)
		paths["/mutate-"+name] = admissionSubject{kind: kind, mutates: true}
		paths["/validate-"+name] = admissionSubject{kind: kind}
	}
	return paths
}

// conversionPath is where controller-runtime registers its conversion webhook. A request that needs it is refused by
// the API server as not modelled.
const conversionPath = "/convert"

// unasked notes a webhook that is not run.
func (a *assembly) unasked(path, advice string) {
	if path == conversionPath {
		a.Assume("The webhook at %s is not run: a request that needs it makes the check inconclusive.", path)
		return
	}
	a.Doubt("the webhook at %s is not run: %s", path, advice)
}
