package orrery_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// blocksUntil returns once the test is over.
func blocksUntil(over context.Context) { <-over.Done() }

// TestPropertyThatDoesNotReturn has a check end although a property does not, and say which one.
func TestPropertyThatDoesNotReturn(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a quarter of a minute until it is sure")
	}
	t.Parallel()
	over, stop := context.WithCancel(context.Background())
	defer stop()
	system := raceFor(t, properties.Always("blocks", func(core.State) bool {
		blocksUntil(over)
		return true
	}))
	_, err := orrery.Run(t.Context(), system, orrery.Options{MaxTime: time.Millisecond, StepDeadline: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "orrery_test.blocksUntil (") || !strings.Contains(err.Error(), "overdue_test.go:15) has not returned") {
		t.Errorf("got %v", err)
	}
}
