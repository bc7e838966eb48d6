package behavior

import (
	"runtime"
	"time"

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
		run := func() ending { return t.activation.run(instance, direct{s, t.activation.Now}) }
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
type direct struct {
	session *Session
	// now is how much time has passed for the world.
	now time.Duration
}

var _ core.Timekeeper = direct{}

// Later implements [core.Timekeeper].
func (d direct) Later() time.Duration { return d.now }

// Do implements [core.EffectRecorder].
func (d direct) Do(call core.Call) core.Response {
	answer, ok := d.session.ask(question{calls: []core.Call{call}, sites: []site{d.session.site()}})
	if !ok {
		runtime.Goexit()
	}
	return answer.response
}
