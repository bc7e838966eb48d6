package grace

import (
	"context"
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
