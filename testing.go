package orrery

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
)

// Check checks a system as a test, exhaustively: the system's own properties and
// those given besides. It fails the test unless they all hold, with the story of each
// finding, and returns the result for further assertions. An inconclusive check
// fails, too: it says nothing for certain. Warnings are logged.
func Check(t testing.TB, system *core.System, properties ...core.Property) *Result {
	t.Helper()
	return CheckWith(t, Options{Workers: runtime.GOMAXPROCS(0)}, system, properties...)
}

// CheckWith is [Check] within bounds.
func CheckWith(t testing.TB, options Options, system *core.System, properties ...core.Property) *Result {
	t.Helper()
	if system == nil {
		t.Fatal("there is no system to check: it is nil")
	}
	checked := *system
	checked.Properties = slices.Concat(system.Properties, properties)
	result, err := Run(context.Background(), &checked, options)
	if err != nil {
		t.Fatalf("%s cannot be checked: %v", system.Name, err)
	}
	if result.Report.Verdict == core.Holds && result.Report.Warnings() == 0 {
		return result
	}
	var story strings.Builder
	if err := text.Report(&story, &result.Report, text.Options{}); err != nil {
		t.Fatalf("the report cannot be written: %v", err)
	}
	if result.Report.Verdict == core.Holds {
		t.Log(story.String())
	} else {
		t.Error(story.String())
	}
	return result
}
