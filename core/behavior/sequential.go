package behavior

import (
	"runtime"

	"github.com/orrery-dev/orrery/core"
)

// sequential runs code that makes its calls from one goroutine.
func (s *Session) sequential(run func(core.EffectRecorder) ending) {
	contain(
		func() ending { return run(direct{s}) },
		s.aborted.Load,
		func(end ending) { s.ended <- end },
	)
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
