package controllerruntime

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// TestWebhookThatIsBusyForEver asks a webhook that waits for what no clock brings. It
// must be given up in real time, and not be asked again.
func TestWebhookThatIsBusyForEver(t *testing.T) {
	server, err := kube.NewServer(runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	outside := make(chan int) // not of the bubble, so that nobody can tell that it stays silent
	defer close(outside)
	asked := 0
	r := &reviewer{
		path: "/own", name: "own", timeout: reviewTimeout, deadline: 100 * time.Millisecond, ignored: true,
		blueprint: &blueprint{
			scheme: server.Scheme(), server: server, mapper: server.RESTMapper(), logger: logr.Discard(),
			setups: []func(ctrl.Manager) error{func(mgr ctrl.Manager) error {
				asked++
				mgr.GetWebhookServer().Register("/own", &admission.Webhook{
					Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
						<-outside
						return admission.Allowed("")
					}),
				})
				return nil
			}},
		},
	}
	for range 2 {
		_, err = r.review(nil, &admissionv1.AdmissionRequest{})
		if err == nil || !strings.Contains(err.Error(), "it has not returned within 100ms of real time") {
			t.Fatalf("got %v", err)
		}
	}
	if asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
}

// TestWebhookThatIsNotSetUpAgain asks a webhook that the set-up registers but once.
func TestWebhookThatIsNotSetUpAgain(t *testing.T) {
	server, err := kube.NewServer(runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	r := &reviewer{
		path: "/own", name: "own", timeout: reviewTimeout, deadline: reviewDeadline, ignored: true,
		blueprint: &blueprint{scheme: server.Scheme(), server: server, mapper: server.RESTMapper(), logger: logr.Discard()},
	}
	_, err = r.review(nil, &admissionv1.AdmissionRequest{})
	if err == nil || !strings.Contains(err.Error(), "it must do the same each time it runs") {
		t.Errorf("got %v", err)
	}
}
