package orrery

import (
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// T is the test that a check is part of: a [testing.T], or what GinkgoT() returns.
type T interface {
	Helper()
	Name() string
	Log(args ...any)
	Logf(format string, args ...any)
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skip(args ...any)
	Skipf(format string, args ...any)
	Failed() bool
	FailNow()
}

// Check checks a system as a test: the system's own properties and those given besides, or [properties.Convergent] if
// there are none. It [Climb]s: first nothing goes wrong, and all of that is searched; then what usually does, each for
// a share of [ClimbTime], or of what is left of the test's time. It fails the test unless all properties hold as long
// as nothing goes wrong, and if anything is found later, with the story of each finding. It logs what was searched and
// what was not. It returns the result of the rung on which something was found, or else of the first.
//
// A first check that is inconclusive fails, too: it says nothing for certain. Warnings are logged.
func Check(t T, system *core.System, more ...core.Property) *Result {
	t.Helper()
	checked := checkedAs(t, system, more)
	replayInstead(t, checked)
	ctx, guard, release := guarded(t)
	defer release()
	options := Options{Workers: runtime.GOMAXPROCS(0), Guard: guard, Logs: logged()}
	left := func() time.Duration { return ClimbTime }
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ends := limited.Deadline(); ends {
			options.MaxTime = time.Until(deadline) * 9 / 10
			left = func() time.Duration { return min(ClimbTime, time.Until(deadline)/2) }
		}
	}
	ladder, err := climb(ctx, checked, options, left)
	if err != nil {
		t.Fatalf("%s cannot be checked: %v", system.Name, err)
	}
	failed := ladder.Failed()
	tell(t, ladder.Result())
	if failed != nil && failed != &ladder.Rungs[0] {
		t.Logf("%s: that was where\n%s%s", system.Name, ladder, failed.again())
	}
	if ladder.namesOptions() {
		t.Log("What the reasons call Options is given to orrery.CheckWith, which checks under the conditions that they say. How much time orrery.Check has follows from -timeout of go test.")
	}
	return ladder.Result()
}

// checkedAs returns the system with more properties. A system without any is asked whether it converges: a test that
// asks nothing would pass.
func checkedAs(t T, system *core.System, more []core.Property) *core.System {
	t.Helper()
	if system == nil {
		t.Fatal("there is no system to check: it is nil")
	}
	checked := *system
	if checked.Properties = slices.Concat(system.Properties, more); len(checked.Properties) == 0 {
		checked.Properties = properties.Convergent()
	}
	return &checked
}

// CheckWith checks a system as a test, under the conditions and within the bounds of the options: the system's own
// properties and those given besides, or [properties.Convergent] if there are none. It fails the test unless they all
// hold, with the story of each finding, and returns the result for further assertions. An inconclusive check fails,
// too: it says nothing for certain. Warnings are logged.
func CheckWith(t T, options Options, system *core.System, more ...core.Property) *Result {
	t.Helper()
	checked := checkedAs(t, system, more)
	replayInstead(t, checked)
	ctx, guard, release := guarded(t)
	defer release()
	if options.Guard == nil {
		options.Guard = guard
	}
	options.Logs = options.Logs || logged()
	result, err := Run(ctx, checked, options)
	if err != nil {
		t.Fatalf("%s cannot be checked: %v", system.Name, err)
	}
	tell(t, result)
	return result
}

// tell fails a test unless all properties hold, and logs the report.
func tell(t T, result *Result) {
	t.Helper()
	keep(t, result)
	var story strings.Builder
	if err := text.Report(&story, &result.Report, text.Options{}); err != nil {
		t.Fatalf("the report cannot be written: %v", err)
	}
	if result.Report.Verdict == core.Holds {
		t.Log(story.String())
	} else {
		t.Error(story.String())
	}
}
