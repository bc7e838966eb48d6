package behavior

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// bubbled runs code that may start goroutines, sleep and look at the clock, in a
// bubble of its own. A zero testing.T is all that [synctest.Test] needs as long as
// nothing fails through it, so bubbles work in any binary.
//
// All runs of a session share one bubble: what an instance keeps of a run, such
// as a channel, cannot be used in another, and the runtime ends the process if that is tried.
func (s *Session) bubbled(instance core.Instance) {
	running := true
	var end ending
	defer func() {
		if value := recover(); value != nil {
			switch {
			case !strings.Contains(fmt.Sprint(value), "deadlock"):
				end = ending{failure: Panicked, message: fmt.Sprint(value)}
			case running:
				end = ending{failure: Deadlock, message: "every goroutine of it is blocked for ever, and it waits for no answer"}
			case s.ticks:
				end = ending{failure: Leaked, message: "returned, but left goroutines behind that never end"}
			default:
				end = ending{failure: Leaked, message: "returned, but left goroutines behind that are blocked for ever"}
			}
		}
		s.last <- end
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		began := time.Now()
		clock := Tick // where it stands for a fresh instance, since the bubble began
		b := newBubble(s)
		defer b.close()
		s.work(func(t task) {
			if t.activation == nil {
				time.Sleep(t.wait)
				s.clock <- time.Since(began) - clock
				return
			}
			clock = Tick + t.activation.Clock
			time.Sleep(clock - time.Since(began))
			running = true
			end := b.serve(func(recorder core.EffectRecorder) ending { return t.activation.run(instance, recorder) })
			running = false
			s.ended <- *end
		})
		b.mu.Lock()
		end.late = b.late
		b.mu.Unlock()
	})
}

// work does what the owner of the session asks for, until it closes or aborts the session.
func (s *Session) work(do func(task)) {
	for {
		select {
		case t, open := <-s.tasks:
			if !open {
				return
			}
			do(t)
			if s.aborted.Load() {
				return
			}
		case <-s.quit:
			return
		}
	}
}

// bubble serves the calls of runs from the main goroutine of a synctest bubble.
type bubble struct {
	session *Session
	// arrived wakes the main goroutine when it waits for the virtual clock to
	// move: it holds one token.
	arrived chan struct{}

	mu     sync.Mutex
	parked []*parked
	end    *ending
	closed bool
	// run is the number of the run at work, 0 between runs, and runs how many there were.
	run, runs int
	// late is the first call that was made for a run after its end.
	late core.Call
}

// scribe is the recorder of a single run.
type scribe struct {
	*bubble
	run int
}

// parked is a goroutine that waits for the answer to its call.
type parked struct {
	call  core.Call
	reply chan core.Response // closed without a response when the run is aborted
}

func newBubble(s *Session) *bubble {
	return &bubble{session: s, arrived: make(chan struct{}, 1)}
}

// serve runs the code to its end.
func (b *bubble) serve(run func(core.EffectRecorder) ending) *ending {
	b.mu.Lock()
	b.end = nil
	b.runs++
	b.run = b.runs
	recorder := scribe{bubble: b, run: b.run}
	b.mu.Unlock()
	go contain(
		func() ending { return run(recorder) },
		b.session.aborted.Load,
		func(end ending) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.end = &end
			b.wake()
		},
	)
	for {
		synctest.Wait()
		pending, end := b.pending()
		switch {
		case end != nil:
			return end
		case pending == nil:
			<-b.arrived
			continue
		}
		answer, ok := b.session.ask(pending)
		if !ok {
			return &ending{failure: Exited, message: "was aborted"}
		}
		b.take(answer.turn).reply <- answer.response
	}
}

// pending returns the calls that are parked, in the order of their identities. When nothing is parked and the code has returned, it
// returns how.
func (b *bubble) pending() ([]core.Call, *ending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.arrived:
	default:
	}
	if len(b.parked) == 0 {
		if b.end != nil {
			b.run = 0
		}
		return nil, b.end
	}
	slices.SortStableFunc(b.parked, func(p, q *parked) int { return cmp.Compare(p.call.Identity(), q.call.Identity()) })
	calls := make([]core.Call, len(b.parked))
	for i, p := range b.parked {
		calls[i] = p.call
	}
	return calls, nil
}

// take takes one of the parked calls, by its place in their order.
func (b *bubble) take(turn int) *parked {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.parked[turn]
	b.parked = slices.Delete(b.parked, turn, turn+1)
	return p
}

// close unwinds every goroutine that waits for an answer, now or later.
func (b *bubble) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, p := range b.parked {
		close(p.reply)
	}
	b.parked = nil
}

// wake lets the main goroutine look again. b.mu is held.
func (b *bubble) wake() {
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}

// Do implements [core.EffectRecorder].
func (b scribe) Do(call core.Call) core.Response {
	p := &parked{call: call, reply: make(chan core.Response)}
	b.mu.Lock()
	late := !b.closed && b.run != b.bubble.run
	if late && b.late == nil {
		b.late = call
	}
	if b.closed || late {
		b.mu.Unlock()
		runtime.Goexit()
	}
	b.parked = append(b.parked, p)
	b.wake()
	b.mu.Unlock()
	response, ok := <-p.reply
	if !ok {
		runtime.Goexit()
	}
	return response
}
