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
			end = ending{failure: Panicked, message: fmt.Sprintf("%v (at %s)", panicked, culprit())}
		default:
			end = ending{failure: Exited, message: "ended its goroutine (runtime.Goexit, or t.FailNow) instead of returning"}
		}
		done(end)
	}()
	end = run()
	returned = true
}

// culprit names the function that panicked, from within the deferred call that
// recovers it. Addresses, goroutine numbers and folders are left out: they differ
// from run to run and from machine to machine.
func culprit() string {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers[:])])
	panicking := false
	for {
		frame, more := frames.Next()
		if panicking && !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf("%s, %s:%d", frame.Function, path.Base(frame.File), frame.Line)
		}
		if frame.Function == "runtime.gopanic" || frame.Function == "runtime.sigpanic" {
			panicking = true
		}
		if !more {
			return "an unknown place"
		}
	}
}
