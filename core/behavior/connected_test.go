package behavior_test

import (
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// TestConnectedRunsAreWaitedFor checks that a run which is given up as it waits for the network is at its end when the session is aborted: what it does there is not in the way of
// the next run.
func TestConnectedRunsAreWaitedFor(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("nobody can listen:", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		if served, err := listener.Accept(); err == nil {
			time.Sleep(2 * time.Second) // longer than an aborted run may take that waits for nobody
			_ = served.Close()
		}
	}()
	var ended atomic.Bool
	s := behavior.Start(instance(func(core.EffectRecorder) core.Result {
		defer ended.Store(true)
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			return core.Result{Err: err}
		}
		_, err = connection.Read(make([]byte, 1))
		return core.Result{Err: errors.Join(err, connection.Close())}
	}), false, behavior.Activation{}, behavior.Limits{Deadline: 200 * time.Millisecond, Calls: 100})
	_, leaf, err := s.Next(t.Context())
	if err != nil || leaf == nil || leaf.Failure != behavior.Connected {
		t.Fatalf("it ended with %v, %v", leaf, err)
	}
	s.Abort()
	if !ended.Load() {
		t.Error("the run still waits for the network")
	}
}
