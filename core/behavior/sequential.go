package behavior

import (
	"runtime"

	"github.com/orrery-dev/orrery/core"
)

// sequential runs code that makes its calls from one goroutine.
func (s *Session) sequential(instance core.Instance) {
	defer func() { s.last <- ending{} }()
	s.work(func(t task) {
		if t.activation == nil {
			s.clock <- 0
			return
		}
		run := func() ending { return t.activation.run(instance, direct{s}) }
		ended := make(chan struct{})
		// A run may end its goroutine, so it gets one of its own.
		go contain(run, s.aborted.Load, func(end ending) {
			s.ended <- end
			close(ended)
		})
		<-ended
	})
}

// direct is the recorder of a sequential run.
type direct struct{ session *Session }

// Do implements [core.EffectRecorder].
func (d direct) Do(call core.Call) core.Response {
	answer, ok := d.session.ask([]core.Call{call})
	if !ok {
		runtime.Goexit()
	}
	return answer.response
}
