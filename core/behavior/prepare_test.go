package behavior

import (
	"net"
	"testing"
	"testing/synctest"
)

// TestPrepare checks that names can be looked up in one bubble after the other. Otherwise the runtime ends the process.
func TestPrepare(t *testing.T) {
	Prepare()
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			if _, err := net.LookupHost("localhost"); err != nil {
				t.Skip("the machine has no localhost:", err)
			}
		})
	}
}
