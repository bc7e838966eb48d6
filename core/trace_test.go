package core_test

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
)

func TestRepetition(t *testing.T) {
	for _, test := range []struct {
		start, steps int
		want         string
	}{
		{-1, 3, ""},
		{2, 3, "Step 3 repeats forever"},
		{1, 3, "Steps 2 and 3 repeat forever"},
		{0, 3, "Steps 1 to 3 repeat forever"},
	} {
		trace := core.Trace{Steps: make([]core.TraceStep, test.steps), CycleStart: test.start}
		if got := trace.Repetition(); got != test.want {
			t.Errorf("from %d on of %d steps: %q, want %q", test.start, test.steps, got, test.want)
		}
	}
}
