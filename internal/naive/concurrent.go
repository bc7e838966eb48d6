package naive

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/orrery-dev/orrery/core"
)

// schedule says which of the concurrent calls of a run is answered next, wherever there are several: its place in the order of
// their identities. Behind its end it is always the first.
type schedule struct {
	choices []int
	// chosen is what was chosen in the run, and widths is among how many calls.
	chosen, widths []int
	// answered is how many choices were made for calls that were answered: all but that for a call at which the run was given up.
	answered int
}

// pick returns the place of the call that is answered next. Equal calls count once.
func (s *schedule) pick(calls []*waiting) int {
	places := []int{0}
	for i := 1; i < len(calls); i++ {
		if calls[i].call.Identity() != calls[i-1].call.Identity() {
			places = append(places, i)
		}
	}
	if len(places) == 1 {
		return 0
	}
	choice := 0
	if at := len(s.chosen); at < len(s.choices) {
		choice = s.choices[at]
	}
	s.chosen, s.widths = append(s.chosen, choice), append(s.widths, len(places))
	return places[choice]
}

// next returns the schedule after one that was followed to its end, and false if that was the last one.
func (s schedule) next() (schedule, bool) {
	for i := len(s.chosen) - 1; i >= 0; i-- {
		if s.chosen[i]+1 < s.widths[i] {
			return schedule{choices: append(slices.Clone(s.chosen[:i]), s.chosen[i]+1)}, true
		}
	}
	return schedule{}, false
}

// eachSchedule calls a function with one schedule after the other, until it has followed all there are.
func eachSchedule(follow func(*schedule) error) error {
	for s, more := (schedule{}), true; more; s, more = s.next() {
		if err := follow(&s); err != nil {
			return err
		}
	}
	return nil
}

// waiting is a goroutine that waits for the answer to its call.
type waiting struct {
	call  core.Call
	reply chan core.Response
}

// crowd is the recorder of a run that makes calls from several goroutines.
type crowd struct {
	mu    sync.Mutex
	calls []*waiting
	over  bool
}

// Do implements [core.EffectRecorder].
func (c *crowd) Do(call core.Call) core.Response {
	w := &waiting{call, make(chan core.Response)}
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		runtime.Goexit()
	}
	c.calls = append(c.calls, w)
	c.mu.Unlock()
	response, ok := <-w.reply
	if !ok {
		runtime.Goexit()
	}
	return response
}

// leave ends all goroutines that wait, now or later.
func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, w := range c.calls {
		close(w.reply)
	}
}

// run runs a request of a strategy. Concurrent calls are answered one at a time, as the schedule says.
func (t *turn) run(p player, request core.Request) (result core.Result) {
	if p.Sequential || !t.conditions.Concurrent {
		return p.fresh().Reconcile(t, request)
	}
	var reason any
	synctest.Test(new(testing.T), func(*testing.T) {
		c := &crowd{}
		defer c.leave()
		defer func() { reason = recover() }()
		go func() { result = p.fresh().Reconcile(c, request) }()
		for {
			synctest.Wait()
			if len(c.calls) == 0 {
				return
			}
			slices.SortStableFunc(c.calls, func(a, b *waiting) int { return cmp.Compare(a.call.Identity(), b.call.Identity()) })
			at := t.schedule.pick(c.calls)
			response := t.Do(c.calls[at].call)
			t.schedule.answered = len(t.schedule.chosen)
			next := c.calls[at]
			c.calls = slices.Delete(c.calls, at, at+1)
			next.reply <- response
		}
	})
	if reason != nil {
		panic(reason)
	}
	return result
}
