package grace

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		later, stop := After(ctx, time.Second)
		defer stop()
		cancel()
		time.Sleep(time.Second - 1)
		synctest.Wait()
		if later.Err() != nil {
			t.Error("it ended too early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if later.Err() == nil {
			t.Error("it did not end")
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		later, stop := After(ctx, time.Hour)
		cancel()
		stop()
		if later.Err() == nil {
			t.Error("it goes on after it was stopped")
		}
		synctest.Wait() // or else a goroutine is left, which the bubble complains about
	})
}

func TestAwait(t *testing.T) {
	done := 0
	if stack := Await(t.Context(), 0, func() { done++ }); stack != "" || done != 1 {
		t.Errorf("work that ends: done %d times, %q", done, stack)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	block := make(chan struct{})
	defer close(block)
	stack := Await(ctx, time.Millisecond, func() { waits(block) })
	where := Innermost(stack, func(_, file string) bool { return strings.HasSuffix(file, "grace_test.go") })
	if !strings.Contains(where, "grace.waits (") {
		t.Errorf("work that does not end is in %q:\n%s", where, stack)
	}
	if where := Innermost(stack, func(string, string) bool { return false }); where != "" {
		t.Errorf("nothing counts, and it is in %q", where)
	}
	// Work that is soon done although the context has ended.
	if stack := Await(ctx, time.Minute, func() { done++ }); stack != "" || done != 2 {
		t.Errorf("work that ends a little later: done %d times, %q", done, stack)
	}
}

// waits blocks.
func waits(block chan struct{}) { <-block }

func TestAwaitPanics(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "oh") || !strings.Contains(text, "TestAwaitPanics") {
			t.Errorf("recovered %q", text)
		}
	}()
	Await(t.Context(), 0, func() { panic("oh") })
}

func TestAwaitExits(t *testing.T) {
	exited := make(chan bool, 1)
	go func() {
		defer func() { exited <- true }()
		Await(context.Background(), 0, runtime.Goexit)
		exited <- false
	}()
	if !<-exited {
		t.Error("the caller went on")
	}
}
