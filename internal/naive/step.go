package naive

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// player is a strategy with what it declares.
type player struct {
	core.Description
	strategy core.Strategy
	// background tells that it is what a process does between activations, and mortal that a crash may cut that off
	// then.
	background, mortal bool
}

func (p player) watches(kind core.Kind) bool {
	return slices.Contains(p.Watches, kind)
}

// crew are the strategies that share a process.
type crew []player

func (c crew) name() string { return c[0].ProcessName() }

func (c crew) has(strategy string) bool {
	return slices.ContainsFunc(c, func(p player) bool { return p.Name == strategy })
}

// views returns the kinds that the process has in its cache. Those that are cached but not declared are not known here.
func (c crew) views() []core.Kind {
	var kinds []core.Kind
	for _, p := range c {
		for _, kind := range slices.Concat(p.Watches, p.Caches) {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// turn is one run of a strategy. It answers the calls of the run, and of the
// event handlers that its writes set off, at once and on the spot.
type turn struct {
	store      core.Store
	crews      []crew
	conditions Conditions
	state      State
	written    []core.Key
	// changed are the objects that are not as they were before some write.
	changed []core.Key
	// missed tells that the run read without what it had written.
	missed bool

	// keeping are the memories that are kept, and late what waits for the ends of their runs.
	keeping map[string]bool
	late    map[string]*[]postponed

	// acting is whose run it is, and depth how many handlers are at work.
	acting player
	depth  int
	// outside is for what is run while something else sees a clock, nil if nothing does.
	outside *outside
	// effective tells that a call of the run wrote or sent something. One that is mortal may be cut off before the next
	// that does.
	effective, mortal bool
	// flying runs are given recorded replies, the last of which may still have to be found out, and are parked then.
	flying  bool
	replies []core.Response
	given   []core.Response
	// drawing is what the run draws at random.
	drawing drawing
	// schedule is the order in which concurrent calls are answered.
	schedule *schedule
}

func (e *explorer) turn(from State) *turn {
	return &turn{store: e.system.Store, crews: e.crews, conditions: e.conditions, state: from, schedule: &schedule{}, keeping: e.keeping, late: map[string]*[]postponed{}}
}

// unanswered unwinds a run whose call the store does not model.
type unanswered struct{ err error }

// Do implements [core.EffectRecorder].
func (t *turn) Do(call core.Call) core.Response {
	if t.depth > 0 {
		return t.answer(call)
	}
	t.drawing.ends()
	response := t.answer(call)
	t.drawing.begins()
	return response
}

func (t *turn) answer(call core.Call) core.Response {
	if t.flying && t.depth == 0 {
		if len(t.given) == len(t.replies) {
			panic(parked{})
		}
		if reply := t.replies[len(t.given)]; reply != nil {
			t.given = append(t.given, reply)
			return reply
		}
	}
	var seen core.Snapshot = t.state
	if call.Source() == core.Cached {
		seen = snapshot{t.state, t.acting.ProcessName()}
	}
	answer, err := t.store.Answer(seen, call)
	if err != nil {
		panic(unanswered{err})
	}
	if call.Source() == core.Cached && t.depth == 0 && !t.flying && t.catchesUp(call) {
		if answer, err = t.store.Answer(snapshot{t.state, t.acting.ProcessName()}, call); err != nil {
			panic(unanswered{err})
		}
	}
	effects := func() bool {
		return len(answer.Writes) > 0 || slices.ContainsFunc(slices.Concat(answer.Enqueue, answer.EnqueueAfter), t.queues)
	}
	if t.depth == 0 {
		if t.mortal && t.effective && effects() && t.schedule.choose(2) == 1 {
			panic(parked{})
		}
		answer = t.perhapsFailing(call, answer)
		t.effective = t.effective || effects()
		if effects() {
			t.state = t.drawing.used(t.state, call)
		}
	}
	by := t.acting.ProcessName()
	for _, w := range answer.Writes {
		old := t.state.Get(w.Key)
		t.state = t.state.with(w.Key, w.Content)
		t.written = append(t.written, w.Key)
		if canonical(old) != canonical(w.Content) {
			t.changed = append(t.changed, w.Key)
		}
		t.committed(core.Event{Key: w.Key, Old: old, New: w.Content}, by)
	}
	for _, item := range answer.Enqueue {
		t.enqueue(item)
	}
	for _, item := range answer.EnqueueAfter {
		if t.queues(item) {
			t.await(item)
		}
	}
	if t.flying && t.depth == 0 {
		t.given = append(t.given, answer.Response)
	}
	return answer.Response
}

// perhapsFailing returns the answer to a call, as it is or as the call fails.
func (t *turn) perhapsFailing(call core.Call, answer core.Answer) core.Answer {
	t.schedule.ways = 1
	if t.state.failures == t.conditions.Failures || call.Source() == core.Cached || !t.conditions.faulty(t.acting) {
		return answer
	}
	faults := t.store.Faults(call)
	t.schedule.ways += len(faults)
	choice := t.schedule.choose(t.schedule.ways)
	if choice == 0 {
		return answer
	}
	t.state.failures++
	fault := faults[choice-1]
	if !fault.Commits {
		for _, key := range fault.Overtaken {
			if content := t.state.Get(key); content != nil {
				t.committed(core.Event{Key: key, Old: content, New: content}, t.acting.ProcessName())
			}
		}
		return core.Answer{Response: fault.Response}
	}
	answer.Response = fault.Response
	return answer
}

// deliver runs the event handlers of those who watch the object's kind.
func (t *turn) deliver(event core.Event, to crew) {
	for _, p := range to {
		if !p.watches(event.Key.Kind) {
			continue
		}
		if late := t.late[p.ProcessName()]; late != nil {
			*late = append(*late, postponed{p, event})
			continue
		}
		outer := t.acting
		t.acting, t.depth = p, t.depth+1
		t.busy(p, func(instance core.Instance) {
			handle := func() {
				for _, request := range instance.Handle(t, event) {
					t.enqueue(core.Item{Strategy: p.Name, Request: request})
				}
			}
			if p.Sequential || t.conditions.Deadlines == 0 || t.conditions.Concurrent {
				handle()
			} else {
				t.at(t.state.clock.passed(t.conditions.Shorter), handle)
			}
		})
		t.acting, t.depth = outer, t.depth-1
	}
}

// enqueue puts an item into the work queue, unless it is a standing one, which is
// enabled for ever without being there.
func (t *turn) enqueue(item core.Item) {
	if !t.queues(item) {
		return
	}
	t.state.work = add(t.state.work, item)
	if t.merges(item) {
		t.state.timers, t.state.behind = remove(t.state.timers, item), remove(t.state.behind, item)
	}
}

// await sets a timer for an item, unless its queue has it already and keeps one entry for each.
func (t *turn) await(item core.Item) {
	if !t.merges(item) || !slices.Contains(t.state.work, item) {
		t.state.timers = add(t.state.timers, item)
	}
}

// merges reports whether an item goes into a queue that has one entry for each.
func (t *turn) merges(item core.Item) bool {
	return slices.ContainsFunc(slices.Concat(t.crews...), func(p player) bool { return p.Name == item.Strategy && p.Merging })
}

// queues reports whether an item goes into a queue: standing ones do not.
func (t *turn) queues(item core.Item) bool {
	return !slices.ContainsFunc(slices.Concat(t.crews...), func(p player) bool {
		return p.Name == item.Strategy && slices.Contains(p.Standing, item.Request)
	})
}

// settle brings what was written to its canonical form.
func (t *turn) settle() {
	for _, key := range t.written {
		if content := t.state.Get(key); content != nil {
			t.state = t.state.with(key, t.store.Normalize(key, []core.Content{content}, nil)[0])
		}
	}
}

func (p player) fresh() core.Instance {
	instance, err := p.strategy.New()
	if err != nil {
		panic(unanswered{fmt.Errorf("%s: %w", p.Name, err)})
	}
	return instance
}

// answered runs f and returns the error of the call that was not answered.
func answered(f func()) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			u, ok := reason.(unanswered)
			if !ok {
				panic(reason)
			}
			err = u.err
		}
	}()
	f()
	return nil
}

// reconciled is what a reconcile comes to.
type reconciled struct {
	to     State
	result core.Result
	wrote  bool
	// missed tells that it read without what it had written.
	missed bool
}

// equal reports whether two come to the same.
func (r reconciled) equal(other reconciled) bool {
	return r.wrote == other.wrote && r.missed == other.missed && r.result == other.result && r.to.Text() == other.to.Text()
}

// reconcile runs one item, with concurrent calls answered in all orders, and by caches that have received what it has
// written, and have not. There is nothing to an order in which it is blocked. Of those without faults that come to the
// same, there is one.
func (e *explorer) reconcile(from State, p player, item core.Item) ([]reconciled, error) {
	var all []reconciled
	err := eachSchedule(func(s *schedule) error {
		t := e.turn(from)
		t.acting, t.schedule = p, s
		t.state.work = remove(t.state.work, item)
		var result core.Result
		t.drawing = e.drawing(from, item)
		err := answered(func() { t.busy(p, func(instance core.Instance) { result = t.run(instance, p, item.Request) }) })
		if err != nil || result.Blocked {
			return err
		}
		t.end(item, result)
		t.settle()
		r := reconciled{t.state, result, len(t.written) > 0, t.missed}
		if t.state.failures > from.failures || !slices.ContainsFunc(all, r.equal) {
			all = append(all, r)
		}
		return nil
	})
	return all, err
}

// end puts an item where the end of its run says.
func (t *turn) end(item core.Item, result core.Result) {
	switch {
	case result.Err != nil || result.Requeue:
		t.enqueue(item)
	case result.RequeueAfter > 0:
		t.await(item)
	}
	if !result.Blocked && !slices.Contains(t.state.timers, item) {
		t.state.behind = remove(t.state.behind, item)
	}
}
