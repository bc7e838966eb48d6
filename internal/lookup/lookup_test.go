package lookup

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
)

// TestPrepare checks that names can be looked up in one bubble after the other. Otherwise the runtime ends the process.
// No name server is asked, and that is known.
func TestPrepare(t *testing.T) {
	Prepare()
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			if _, err := net.LookupHost("localhost"); err != nil {
				t.Skip("the machine has no localhost:", err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := net.LookupHost("orrery.invalid"); err == nil || !strings.Contains(err.Error(), errOffline.Error()) {
			t.Errorf("it was looked up with %v", err)
		}
	})
	if !Seen() {
		t.Error("a look-up was not seen")
	}
}

// TestDialer checks who reaches a name server.
func TestDialer(t *testing.T) {
	errAsked := errors.New("was asked")
	dial := dialer(func(context.Context, string, string) (net.Conn, error) { return nil, errAsked })
	if _, err := dial(t.Context(), "udp", "127.0.0.1:53"); !errors.Is(err, errAsked) {
		t.Errorf("outside of bubbles: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := dial(t.Context(), "udp", "127.0.0.1:53"); !errors.Is(err, errOffline) || errors.Is(err, errAsked) {
			t.Errorf("in a bubble: %v", err)
		}
	})
}
