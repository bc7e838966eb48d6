package clientgo

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// workerPanic is a panic of a worker, which runs in a goroutine of its own, to be raised again where the engine
// contains it.
type workerPanic struct {
	value any
	place string
}

// String returns what the worker panicked with.
func (p *workerPanic) String() string { return fmt.Sprint(p.value) }

// Place returns where the worker panicked. A panic that knows is not put down to where it is raised.
func (p *workerPanic) Place() string { return p.place }

// placeOfPanic names the function in which the panic was raised that is just being recovered.
func placeOfPanic() string {
	var callers [128]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers[:])])
	raised := false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic" || frame.Function == "runtime.sigpanic":
			raised = true
		case raised && !strings.HasPrefix(frame.Function, "runtime."):
			return fmt.Sprintf("%s, %s:%d", frame.Function, path.Base(frame.File), frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
