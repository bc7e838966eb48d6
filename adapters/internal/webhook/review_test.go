package webhook

import (
	"context"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
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
	r := NewReviewer(server, "own", func(core.EffectRecorder) (Handle, error) {
		asked++
		return func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
			<-outside
			return &admissionv1.AdmissionResponse{Allowed: true}, nil
		}, nil
	})
	r.deadline, r.ignored = 100*time.Millisecond, true
	for range 2 {
		_, err = r.Review(nil, &admissionv1.AdmissionRequest{})
		if err == nil || !strings.Contains(err.Error(), "it has not returned within 100ms of real time") {
			t.Fatalf("got %v", err)
		}
	}
	if asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
}
