package main

import (
	"encoding/json"
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/jobset/pkg/webhooks"

	"github.com/orrery-dev/orrery/examples/jobset/operator"
)

// TestWebhooksAgree asks the webhooks of JobSet, which are not run in the check, about
// the JobSets that it starts with: one would change nothing, and the other refuse
// nothing.
func TestWebhooksAgree(t *testing.T) {
	hooks := webhooksByPath(t)
	for _, of := range []size{{groups: 2, replicas: 1}, {groups: 1, replicas: 2, restarts: 3}} {
		js, err := json.Marshal(operator.NewJobSet("js1", of.groups, of.replicas, of.restarts))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/mutate-jobset-x-k8s-io-v1alpha2-jobset", "/validate-jobset-x-k8s-io-v1alpha2-jobset"} {
			hook := hooks[path]
			if hook == nil {
				t.Fatalf("there is no webhook at %s", path)
			}
			response := hook.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Operation: admissionv1.Create,
				Object:    kuberuntime.RawExtension{Raw: js},
			}})
			if !response.Allowed {
				t.Errorf("%s refuses a JobSet of size %+v: %s", path, of, response.Result.Message)
			}
			if len(response.Patches) > 0 {
				t.Errorf("%s changes a JobSet of size %+v: %v", path, of, response.Patches)
			}
		}
	}
}

// webhooksByPath returns the webhooks that JobSet registers.
func webhooksByPath(t *testing.T) map[string]*admission.Webhook {
	t.Helper()
	scheme, err := operator.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	hooks := registrations{Server: webhook.NewServer(webhook.Options{}), byPath: map[string]*admission.Webhook{}}
	mgr, err := ctrl.NewManager(&rest.Config{}, ctrl.Options{
		Scheme:        scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: hooks,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return meta.NewDefaultRESTMapper(nil), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := webhooks.Setup(mgr); err != nil {
		t.Fatal(err)
	}
	return hooks.byPath
}

// registrations is a webhook server that is never started, and remembers what is registered.
type registrations struct {
	webhook.Server
	byPath map[string]*admission.Webhook
}

func (r registrations) Register(path string, hook http.Handler) {
	if hook, ok := hook.(*admission.Webhook); ok {
		r.byPath[path] = hook
	}
}
