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

func TestMemoryChange(t *testing.T) {
	value := func(text string) *string { return &text }
	for want, change := range map[string]core.MemoryChange{
		"Reconciler.seen[a] = 1":                               {To: value("1")},
		`Reconciler.seen[a] = ""`:                              {To: value("")},
		"Reconciler.seen[a]: 1 → 2":                            {From: value("1"), To: value("2")},
		"Reconciler.seen[a]: 1 → (absent)":                     {From: value("1")},
		"loses Reconciler.seen[a] = 1":                         {From: value("1"), Lost: true},
		"loses Reconciler.seen[a] = true, restarts with false": {From: value("true"), To: value("false"), Lost: true},
	} {
		change.Field = "Reconciler.seen[a]"
		if got := change.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
