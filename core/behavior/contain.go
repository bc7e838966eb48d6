package behavior

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// contain runs code that may panic or exit its goroutine, and reports how it ended.
// It calls done exactly once, also when the goroutine is on its way out.
func contain(run func() ending, aborted func() bool, done func(ending)) {
	returned := false
	var end ending
	defer func() {
		panicked := recover()
		switch {
		case returned:
		case aborted():
			end = ending{failure: Exited, message: "was aborted"}
		case panicked != nil:
			place := culprit()
			if told, ok := panicked.(placed); ok {
				place = told.Place()
			}
			end = ending{failure: Panicked, message: fmt.Sprintf("%v (at %s)", panicked, place)}
		default:
			end = ending{failure: Exited, message: "ended its goroutine (runtime.Goexit, or t.FailNow) instead of returning"}
		}
		done(end)
	}()
	end = run()
	returned = true
}

// placed is a panic of another goroutine that is raised again, and knows where it was raised first.
type placed interface{ Place() string }

// culprit names the function that panicked, from within the deferred call that
// recovers it. A panic that was recovered and raised again is put down to where it was
// raised first. Addresses, goroutine numbers and folders are left out: they differ from
// run to run and from machine to machine.
func culprit() string {
	var callers [128]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers[:])])
	place := "an unknown place"
	panicking := false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			panicking = true
		case panicking && !strings.HasPrefix(frame.Function, "runtime."):
			place = fmt.Sprintf("%s, %s:%d", frame.Function, path.Base(frame.File), frame.Line)
			panicking = false
		}
		if !more {
			return place
		}
	}
}
