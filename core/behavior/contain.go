package behavior

import (
	"fmt"

	"github.com/orrery-dev/orrery/internal/goroutine"
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
			place := goroutine.Culprit()
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
