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
	"github.com/orrery-dev/orrery/internal/finalizers"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// bubbled runs code that may start goroutines, sleep and look at the clock, in a
// bubble of its own. A zero testing.T is all that [synctest.Test] needs as long as
// nothing fails through it, so bubbles work in any binary.
//
// All runs of a session share one bubble: what an instance keeps of a run, such
// as a channel, cannot be used in another, and the runtime ends the process if that is tried.
func (s *Session) bubbled(bring func(*bubble) core.Instance) {
	running := true
	var end ending
	defer func() {
		if value := recover(); value != nil {
			switch {
			case !strings.Contains(fmt.Sprint(value), "deadlock"):
				end = ending{failure: Panicked, message: fmt.Sprint(value)}
			case s.active && !running:
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
	finalizers.End() // of what the bubble leaves behind
	synctest.Test(new(testing.T), func(*testing.T) {
		_, number := goroutine.Current()
		s.bubble.Store(number)
		began := time.Now()
		clock := Tick // where it stands for a fresh instance, since the bubble began
		passed := time.Duration(0)
		b := newBubble(s)
		defer b.close()
		if s.active {
			sleep(Tick + s.later)
		}
		b.instance = bring(b)
		s.work(func(t task) {
			switch {
			case t.look != nil:
				s.looked <- t.look(b)
				return
			case t.activation == nil:
				time.Sleep(t.wait)
				s.clock <- time.Since(began) - clock
				return
			case s.active:
				// What waits for the time would go on if the clock were set.
				at := t.activation.Passed + t.activation.Apart
				sleep(min(max(0, at-passed)+t.activation.Clock, latest-time.Since(began)))
				clock = time.Since(began)
				passed = max(passed, at)
			default:
				clock = min(Tick+t.activation.Passed+t.activation.Apart+t.activation.Clock, latest)
				time.Sleep(clock - time.Since(began))
			}
			running = true
			end := b.serve(t.activation)
			running = false
			s.ended <- *end
		})
		b.mu.Lock()
		end.late = b.late
		b.mu.Unlock()
		if s.active {
			b.stop()
		}
	})
}

// stop ends what an instance does by itself: it is told to, and who sleeps wakes, and ends with the next call. What
// waits for ever is left behind.
func (b *bubble) stop() {
	b.close()
	if stop := b.session.stop; stop != nil {
		b.contain(func() ending { stop(); return ending{} }, func(ending) {})
	}
	synctest.Wait()
	if runtime.NumGoroutine() < crowd && len(b.waiting()) == 0 {
		return
	}
	for stride := range b.strides {
		sleep(stride)
	}
}

// crowd is how many goroutines of the process it takes longer to look through than to let the time pass in vain: what
// instances have left behind that never ends adds up.
const crowd = 1000

// sleep lets the time pass, and waits for all that it wakes.
func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
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
	session  *Session
	instance core.Instance
	// arrived wakes the main goroutine when it waits for the virtual clock to
	// move: it holds one token.
	arrived chan struct{}

	mu     sync.Mutex
	parked []*parked
	end    *ending
	closed bool
	// run is the number of the run at work, 0 between runs, and runs how many there were. own is what it is about.
	run, runs int
	own       Own
	// request is what the run at work has to do with, or the last one between runs, empty if that is not said.
	request core.Request
	// waited are the calls that the owner of the session was shown last.
	waited []*parked
	// patient tells that the run was given all the time that it may wait for, and goes on only if others do.
	patient bool
	// failed is how a goroutine failed that works by itself.
	failed *ending
	// late is the first call that was made for a run after its end.
	late core.Call
}

// scribe is the recorder of a single run, or of what is done by itself if its number is 0.
type scribe struct {
	*bubble
	run int
}

// parked is a goroutine that waits for the answer to its call.
type parked struct {
	call  core.Call
	site  site
	reply chan core.Response // closed without a response when the run is aborted
	run   int                // the run that the call is a part of, 0 if it is of none
	// request is what the run has to do with in which, or behind which, the call was made.
	request core.Request
}

func newBubble(s *Session) *bubble {
	return &bubble{session: s, arrived: make(chan struct{}, 1)}
}

// serve takes a run to its end.
func (b *bubble) serve(a *Activation) *ending {
	recorder, began := b.begin(a), time.Now()
	defer b.attend()()
	switch a.Own {
	case Asked:
		go contain(
			func() ending { b.session.owns(); return a.run(b.instance, recorder) },
			b.session.aborted.Load,
			func(end ending) {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.end = &end
				b.wake()
			},
		)
	case Waits:
		b.end = &ending{result: core.Result{Blocked: len(b.elapse()) == 0}}
	}
	for {
		synctest.Wait()
		pending, end := b.pending()
		switch {
		case end != nil:
			end.slept = time.Since(began) > 0
			return end
		case pending.calls == nil && b.session.active && !b.patient:
			b.patient = b.idles()
			continue
		case pending.calls == nil:
			<-b.arrived
			continue
		}
		b.patient = false
		pending.slept = time.Since(began)
		answer, ok := b.session.ask(pending)
		if !ok {
			return &ending{failure: Exited, message: "was aborted"}
		}
		b.take(answer.turn).reply <- answer.response
	}
}

// idles lets the clock go on for a run that sleeps, and reports whether it still does nothing then.
func (b *bubble) idles() bool {
	for stride := range b.strides {
		if stride > Horizon {
			break
		}
		if b.pause(stride, b.moves); b.moves() {
			return false
		}
	}
	return true
}

// moves reports whether the run has returned, failed, or made a call.
func (b *bubble) moves() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.end != nil || b.failed != nil || slices.ContainsFunc(b.parked, func(p *parked) bool { return p.run == b.run })
}

// pending returns the calls of the run that wait, in the order of their identities. When there are none and the code
// has returned, it returns how. A run that waits for what others do goes on with the calls of those.
func (b *bubble) pending() (question, *ending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget()
	b.sort()
	b.waited = b.waited[:0]
	for _, p := range b.parked {
		if p.run == b.run {
			b.waited = append(b.waited, p)
		}
	}
	if b.end != nil && b.own == Asked {
		b.leave()
	}
	if len(b.waited) == 0 {
		if b.failed != nil {
			b.end, b.failed = b.failed, nil
		}
		if b.end != nil {
			b.run = 0
			return question{}, b.end
		}
		if b.patient {
			b.waited = append(b.waited, b.parked...)
		}
	}
	var q question
	for _, p := range b.waited {
		q.calls, q.sites = append(q.calls, p.call), append(q.sites, p.site)
	}
	return q, nil
}

// leave leaves the calls of a run that has returned meanwhile to the background, or gives them up where nothing is
// known to go on there. b.mu is held.
func (b *bubble) leave() {
	for _, p := range b.waited {
		if p.run = 0; b.session.active {
			continue
		}
		if b.late == nil {
			b.late = p.call
		}
		close(p.reply)
		b.drop(p)
	}
	b.waited = b.waited[:0]
}

// sort puts the calls that wait in the order of their identities. b.mu is held.
func (b *bubble) sort() {
	slices.SortStableFunc(b.parked, func(p, q *parked) int { return cmp.Compare(p.call.Identity(), q.call.Identity()) })
}

// take takes one of the calls that wait, by its place in their order.
func (b *bubble) take(turn int) *parked {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.waited[turn]
	b.drop(p)
	return p
}

// drop takes a call from those that wait. b.mu is held.
func (b *bubble) drop(p *parked) {
	i := slices.Index(b.parked, p)
	b.parked = slices.Delete(b.parked, i, i+1)
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
	p := &parked{call: call, site: b.session.site(), reply: make(chan core.Response), run: b.run}
	// What the set-up has started outside of the bubble is not a part of the run, and the runtime ends the process
	// where it uses a channel of it.
	stray := b.session.outside && goroutine.Bubble() != b.session.bubble.Load()
	b.mu.Lock()
	p.request = b.bubble.request
	late := b.run != b.bubble.run
	switch {
	case stray:
		if late = true; b.late == nil {
			b.late = call
		}
	case late && b.session.active:
		late, p.run = false, 0
		if b.own == Works {
			p.run = b.bubble.run // what it goes on to
		}
	case late && b.late == nil:
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
