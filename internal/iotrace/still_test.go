package iotrace

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestStill sets timers as whoever runs code does, and wants nothing of that to be counted.
func TestStill(t *testing.T) {
	if !Now().Known() {
		t.Skip("nothing is counted here")
	}
	defer goleak.VerifyNone(t)
	const attempts = 3 // something else of the process may be counted
	for range attempts {
		awake := waking()
		end := Still()
		still := waking()
		end()
		t.Logf("counted %d, and %d while timers are kept still", awake, still)
		if still == 0 {
			return
		}
	}
	t.Error("the runtime wakes itself while timers are kept still")
}

// waking waits for what is done soon, with a timer for the case that it is not, which is set to fire earlier and
// earlier. It returns what was counted meanwhile.
func waking() uint64 {
	time.Sleep(50 * time.Millisecond) // what others have left ends
	before := Now()
	const times = 100
	watch := time.NewTimer(time.Hour)
	defer watch.Stop()
	for n := range times {
		done := make(chan struct{})
		go func() {
			for began := time.Now(); time.Since(began) < time.Millisecond; {
			}
			close(done)
		}()
		watch.Reset(time.Duration(times-n) * time.Minute)
		select {
		case <-done:
		case <-watch.C:
		}
	}
	now := Now()
	now.sent = before.sent // which is that of the host
	return now.Since(before)
}
