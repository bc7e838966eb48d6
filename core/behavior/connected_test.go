package behavior_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/internal/cputime"
	"github.com/orrery-dev/orrery/internal/lookup"
)

// slow is a name server that hangs up after a while.
func slow(t *testing.T) *net.Resolver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("nobody can listen:", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			served, err := listener.Accept()
			if err != nil {
				return
			}
			time.AfterFunc(1500*time.Millisecond, func() { _ = served.Close() }) // longer than an aborted run may take that waits for nobody
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
	}}
}

// TestLookUpsAreWaitedFor checks that a run which is given up as it looks up a name is at its end when the session is
// aborted: what it does there is not in the way of the next run. Where no run comes behind it, nobody waits.
func TestLookUpsAreWaitedFor(t *testing.T) {
	lookup.Prepare()
	resolver := slow(t)
	for _, cancelled := range []bool{false, true} {
		var ended atomic.Bool
		s := behavior.Start(instance(func(core.EffectRecorder) core.Result {
			defer ended.Store(true)
			_, err := resolver.LookupHost(context.Background(), "nobody.invalid.")
			return core.Result{Err: err}
		}), false, behavior.Activation{}, behavior.Limits{Deadline: 300 * time.Millisecond, Calls: 100})
		ctx, cancel := context.WithCancel(t.Context())
		if cancelled {
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		_, leaf, err := s.Next(ctx)
		cancel()
		if !cancelled && (err != nil || leaf == nil || leaf.Failure != behavior.Connected) || cancelled && err == nil {
			t.Fatalf("it ended with %v, %v", leaf, err)
		}
		s.Abort()
		if ended.Load() == cancelled {
			t.Errorf("cancelled: %t; the run has ended: %t", cancelled, ended.Load())
		}
	}
}

// TestLookUpsTakeTurns checks that code which looks up names runs alone: package net would answer runs together that
// look up one name at the same time, and the runtime end the process.
func TestLookUpsTakeTurns(t *testing.T) {
	lookup.Prepare()
	var running, together atomic.Int32
	look := func() {
		s := behavior.Start(instance(func(core.EffectRecorder) core.Result {
			if running.Add(1) > 1 {
				together.Add(1)
			}
			defer running.Add(-1)
			_, err := net.DefaultResolver.LookupHost(context.Background(), "orrery.invalid")
			for began := cputime.Used(); cputime.Used()-began < time.Millisecond; { // a bubble has no real time
			}
			return core.Result{Err: err}
		}), false, behavior.Activation{}, behavior.Limits{Deadline: 10 * time.Second, Calls: 100})
		_, leaf, err := s.Next(t.Context())
		if err != nil || leaf.Failure != behavior.None || leaf.Result.Err == nil {
			t.Errorf("it ended with %v, %v", leaf, err)
		}
	}
	look() // from here on it is known
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				look()
			}
		})
	}
	all.Wait()
	if n := together.Load(); n > 0 {
		t.Errorf("%d runs were not alone", n)
	}
}
