package naive

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// schedule says what is chosen in a run wherever there is a choice: which of the concurrent calls is answered next, by
// its place in the order of their identities, how a call fails, and whether the run is cut off before it. Behind its
// end it is always the first.
type schedule struct {
	choices []int
	// chosen is what was chosen in the run, and widths is among how many.
	chosen, widths []int
	// turns are the choices among calls, but for one at which the run was given up, and ways is in how many ways the
	// call that was answered last could be.
	turns []int
	ways  int
}

// choose returns what is chosen among so many.
func (s *schedule) choose(width int) int {
	if width == 1 {
		return 0
	}
	choice := 0
	if at := len(s.chosen); at < len(s.choices) {
		choice = s.choices[at]
	}
	s.chosen, s.widths = append(s.chosen, choice), append(s.widths, width)
	return choice
}

// pick returns the places of the calls of which one may be answered next, and which of them is. Equal calls count once.
func (s *schedule) pick(calls []*waiting) (places []int, choice int) {
	for i := range calls {
		if i == 0 || calls[i].call.Identity() != calls[i-1].call.Identity() {
			places = append(places, i)
		}
	}
	return places, s.choose(len(places))
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

// passed is how much time has passed for a run.
func (t *turn) passed(p player, request core.Request) time.Duration {
	if slices.Contains(t.state.behind, core.Item{Strategy: p.Name, Request: request}) {
		return t.state.clock.before().passed(t.conditions.Shorter)
	}
	return t.state.clock.passed(t.conditions.Shorter)
}

// outside runs things for what is in a bubble of time and is to see another one in between. Its channels are of no
// bubble.
type outside struct {
	tasks   chan func()
	results chan any // what they panicked with
}

// at runs something when so much time has passed.
func (t *turn) at(passed time.Duration, do func()) {
	var reason any
	if t.outside == nil {
		reason = t.bubble(passed, do)
	} else {
		outside := t.outside
		outside.tasks <- func() { outside.results <- t.bubble(passed, do) }
		reason = <-outside.results
	}
	if reason != nil {
		panic(reason)
	}
}

// bubble runs something in a bubble of its own, and returns what it panicked with.
func (t *turn) bubble(passed time.Duration, do func()) (reason any) {
	around := t.outside
	t.outside = &outside{make(chan func()), make(chan any)}
	tasks := t.outside.tasks
	go func() {
		for task := range tasks {
			task()
		}
	}()
	defer func() {
		close(tasks)
		t.outside = around
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		defer func() { reason = recover() }()
		time.Sleep(time.Minute + passed)
		do()
	})
	return reason
}

// run runs a request of a strategy. Concurrent calls are answered one at a time, as the schedule says.
func (t *turn) run(instance core.Instance, p player, request core.Request) (result core.Result) {
	t.drawing.begins()
	defer t.drawing.ends()
	if coins := t.conditions.Coins; coins != nil {
		coins(t.schedule.choose)
		defer coins(nil)
	}
	var reason any
	switch {
	case p.Sequential, t.conditions.Deadlines == 0 && !t.conditions.Concurrent:
		return instance.Reconcile(t, request)
	case !t.conditions.Concurrent:
		t.at(t.passed(p, request), func() { result = instance.Reconcile(t, request) })
		return result
	}
	synctest.Test(new(testing.T), func(*testing.T) {
		c := &crowd{}
		defer c.leave()
		defer func() { reason = recover() }()
		go func() { result = instance.Reconcile(c, request) }()
		for {
			synctest.Wait()
			if len(c.calls) == 0 {
				return
			}
			slices.SortStableFunc(c.calls, func(a, b *waiting) int { return cmp.Compare(a.call.Identity(), b.call.Identity()) })
			places, choice := t.schedule.pick(c.calls)
			at := places[choice]
			response := t.Do(c.calls[at].call)
			if len(places) > 1 {
				t.schedule.turns = append(t.schedule.turns, choice)
			}
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
