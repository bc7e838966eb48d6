package controllerruntime_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/core"
)

// TestFindingsOfTheNetwork has a controller ask a server that is no part of the system, and fail as that does: nobody
// knows whether it would in a cluster. It is asked a few times only.
func TestFindingsOfTheNetwork(t *testing.T) {
	var asked atomic.Int64
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	r := marked(t, marking(func(ctrl.Manager) func(context.Context, *corev1.ConfigMap) error {
		return func(ctx context.Context, _ *corev1.ConfigMap) error {
			connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
			if err != nil {
				return err
			}
			asked.Add(1)
			return errors.Join(connection.Close(), errors.New("it is unavailable"))
		}
	}))
	why := strings.Join(r.Reasons, "\n")
	if r.Verdict != core.Inconclusive || len(r.Findings) > 0 || !strings.Contains(why, "talks to the network") || !strings.Contains(why, "), but it depends on configmap, which asks somebody who is no part of the system") {
		t.Errorf("%s, %v, %v", r.Verdict, r.Reasons, r.Findings)
	}
	if n := asked.Load(); n > 20 {
		t.Errorf("it is asked %d times", n)
	}
}
