package controllerruntime

import (
	"strings"
	"testing"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/internal/webhook"
	"github.com/orrery-dev/orrery/adapters/kube"
)

// TestWebhookThatIsNotSetUpAgain asks a webhook that the set-up registers but once.
func TestWebhookThatIsNotSetUpAgain(t *testing.T) {
	server, err := kube.NewServer(runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	b := &blueprint{scheme: server.Scheme(), server: server, loggers: system.Loggers{Logger: logr.Discard()}}
	_, err = webhook.NewReviewer(server, "own", b.remake("/own")).Review(nil, &admissionv1.AdmissionRequest{})
	if err == nil || !strings.Contains(err.Error(), "it must do the same each time it runs") {
		t.Errorf("got %v", err)
	}
}
