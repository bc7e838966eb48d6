package behavior

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Activation is what a run is about: an event to handle if Event is set, a request
// to reconcile otherwise.
type Activation struct {
	Event   *core.Event
	Request core.Request
}

func (a Activation) run(instance core.Instance, recorder core.EffectRecorder) ending {
	if a.Event != nil {
		return ending{requests: instance.Handle(recorder, *a.Event)}
	}
	return ending{result: instance.Reconcile(recorder, a.Request)}
}

// Limits bound one run of controller code.
type Limits struct {
	// Deadline is how long, in real time, the run may take between two calls.
	Deadline time.Duration
	// Calls is how many calls it may make.
	Calls int
}

// Session is a run of real controller code that stops at each call until it is
// answered. Panics, deadlocks and endless loops of the code are contained.
//
// The code runs in goroutines of its own. Unless it promised to be sequential, a
// bubble of virtual time is around them: concurrent calls are answered one at a
// time, the one with the lowest identity first, once all goroutines have settled.
type Session struct {
	limits Limits
	calls  int
	// between tells that the first of two runs has ended, over that the last has.
	between, over bool
	watch         *time.Timer

	// asked and ended are made outside the bubble: whoever waits on them is not
	// idle in the eyes of the bubble, so that its clock stands still.
	asked   chan core.Call
	replies chan core.Response
	ended   chan ending
	// again asks for the second run, and is told whether there will be one. It is nil
	// where there is none.
	again   chan chan<- bool
	aborted atomic.Bool
	quit    chan struct{}
}

// ending is how a run came to its end.
type ending struct {
	result   core.Result
	requests []core.Request
	failure  Failure
	message  string
	// final tells that nothing of the run is left.
	final bool
}

// Start starts a run.
func Start(instance core.Instance, sequential bool, activation Activation, limits Limits) *Session {
	return start(instance, sequential, activation, limits, nil)
}

// StartTwice starts a run that can be run again by the same instance, see
// [Session.Again].
func StartTwice(instance core.Instance, sequential bool, activation Activation, limits Limits) *Session {
	return start(instance, sequential, activation, limits, make(chan chan<- bool))
}

func start(instance core.Instance, sequential bool, activation Activation, limits Limits, again chan chan<- bool) *Session {
	s := &Session{
		limits:  limits,
		asked:   make(chan core.Call),
		replies: make(chan core.Response),
		ended:   make(chan ending, 2),
		again:   again,
		quit:    make(chan struct{}),
		watch:   time.NewTimer(limits.Deadline),
	}
	run := func(recorder core.EffectRecorder) ending { return activation.run(instance, recorder) }
	if sequential {
		go s.sequential(run)
	} else {
		go s.bubbled(run)
	}
	return s
}

// Next lets the run go on to its next call or to its end. Exactly one of call and
// leaf is not nil, unless the context ended: then the session is aborted and the
// error is the context's.
func (s *Session) Next(ctx context.Context) (core.Call, *Leaf, error) {
	s.watch.Reset(s.limits.Deadline)
	select {
	case call := <-s.asked:
		if s.calls++; s.calls > s.limits.Calls {
			s.Abort()
			return nil, &Leaf{Failure: Runaway, Message: fmt.Sprintf("made more than %d calls without returning", s.limits.Calls)}, nil
		}
		return call, nil, nil
	case end := <-s.ended:
		s.between = s.again != nil && !s.between && !end.final
		s.over = !s.between
		s.watch.Stop()
		return nil, &Leaf{Result: end.result, Requests: end.requests, Failure: end.failure, Message: end.message}, nil
	case <-s.watch.C:
		s.Abort()
		return nil, &Leaf{Failure: Overdue, Message: fmt.Sprintf("did not return within %s", s.limits.Deadline)}, nil
	case <-ctx.Done():
		s.Abort()
		return nil, nil, ctx.Err()
	}
}

// Answer answers the call that Next returned last.
func (s *Session) Answer(response core.Response) {
	select {
	case s.replies <- response:
	case <-s.quit:
	}
}

// Again starts the second run, after Next has returned the end of the first. It
// returns false if a second run would say nothing, because the virtual clock has moved in the
// first; then the session is over. Calls start to count anew.
func (s *Session) Again() bool {
	ready := make(chan bool, 1)
	select {
	case s.again <- ready:
	case <-s.quit:
		return false
	}
	s.calls = 0
	if !<-ready {
		s.Abort()
		return false
	}
	return true
}

// unwinding is how long an aborted run may take to unwind before it is left behind.
const unwinding = time.Second

// Abort unwinds the run where it is: its next look at the world ends it. It waits for
// deferred calls of the run to end, but not for ever: code that never looks at the
// world again is left behind.
func (s *Session) Abort() {
	if s.over || !s.aborted.CompareAndSwap(false, true) {
		return
	}
	close(s.quit)
	s.watch.Reset(unwinding)
	defer s.watch.Stop()
	select {
	case <-s.ended:
	case <-s.watch.C:
	}
}

// ask hands a call to the owner of the session and returns the answer, and false if
// the run was aborted.
func (s *Session) ask(call core.Call) (core.Response, bool) {
	select {
	case s.asked <- call:
	case <-s.quit:
		return nil, false
	}
	select {
	case response := <-s.replies:
		return response, true
	case <-s.quit:
		return nil, false
	}
}
