package behavior

import (
	"runtime"

	"github.com/orrery-dev/orrery/core"
)

// sequential runs code that makes its calls from one goroutine.
func (s *Session) sequential(run func(core.EffectRecorder) ending) {
	once := func() ending { return run(direct{s}) }
	last := func(end ending) {
		end.final = true
		s.ended <- end
	}
	contain(once, s.aborted.Load, func(end ending) {
		if s.repeats(&end, func() bool { return true }) {
			// The first run may have been on its way to end its goroutine.
			go contain(once, s.aborted.Load, last)
			return
		}
		last(end)
	})
}

// direct is the recorder of a sequential run.
type direct struct{ session *Session }

// Do implements [core.EffectRecorder].
func (d direct) Do(call core.Call) core.Response {
	response, ok := d.session.ask(call)
	if !ok {
		runtime.Goexit()
	}
	return response
}
