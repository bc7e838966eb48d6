package transition

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/state"
)

// Whether code depends on the clock is found out by instances whose clocks are moved: a tick earlier, to see whether it writes the time, and an
// epoch later, to see whether it waits for one.

// earlier finds out whether the call of a node would be another one a tick earlier, and returns it: its contents name the time, or what it makes is named by it. It is nil
// if the call is the same then, or if something else is done.
func (l *Learner) earlier(a *Actor, activation behavior.Activation, path behavior.Path, node *behavior.Node) (core.Call, error) {
	if node.Timed || !l.tells(a) || behavior.Aim(node.Call) == node.Call.Identity() {
		return node.Earlier, nil
	}
	run := behavior.Run{Activation: activation, Path: path}
	key := l.Memo.Digest(a.Strategy, node.Call, run)
	if l.Machine.forks(a) {
		key = memo.Digest{} // a search that did not know that may have taken another way for an earlier call
	}
	if call, found := l.Memo.Earlier.Get(key); found {
		node.Timed, node.Earlier = true, call
		return call, nil
	}
	_, err := l.persistAt(run.Odds()*node.Odds(), func() (*behavior.Divergence, error) {
		session, _, parting, err := l.moved(a, run, a.domain.shift(-behavior.Tick))
		if err != nil {
			return nil, err
		}
		defer session.Abort()
		if parting != nil {
			return parting, nil
		}
		call, leaf, err := session.NextAs(l.Context, node.Call)
		if err != nil {
			return nil, err
		}
		if l.Machine.forks(a) && (call == nil || behavior.Undated(call) != behavior.Undated(node.Call)) {
			parting := behavior.Way{Call: node.Call}.Parting(behavior.Way{Call: call, Leaf: leaf}, len(path))
			parting.ByChance = true
			return parting, nil
		}
		if call != nil && behavior.SameButForTimes(behavior.Aim(call), behavior.Aim(node.Call)) && call.Identity() != node.Call.Identity() {
			node.Earlier = call
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	node.Timed = true
	l.Memo.Earlier.Set(key, node.Earlier)
	return node.Earlier, nil
}

// tells reports whether the code of an actor may look at a clock.
func (l *Learner) tells(a *Actor) bool { return !a.Sequential && !a.User }

// shift is how far the clock is moved, for an instance from its start on and for a run of it besides. An instance that remembers something has to start a tick
// earlier for its run to be a tick earlier: its clock does not go back.
type shift struct {
	start, run time.Duration
	// with are runs that its instance has made before, those when so much time had passed: their clock is moved as that of the run, if that is not 0.
	with time.Duration
	// pass is how much time passes for an active instance before the run, which is of interest only if nothing is to be seen of that: the rest is searched.
	pass time.Duration
}

// shift returns how the clock is moved for runs of an instance: an active one is another one if time passes before a run.
func (d *domain) shift(by time.Duration) shift {
	if d.manner.Active || by < 0 {
		return shift{start: by}
	}
	return shift{run: by}
}

// later returns how the clock is moved to see whether a run waits for a time.
func (d *domain) later(activation behavior.Activation) []shift {
	all := []shift{d.shift(behavior.Epoch)}
	switch {
	case !d.manner.Active || activation.Own != behavior.Asked:
	case d.manner.Ticks || d.rest[d.valueOf(activation.Since)].Time:
		all = append(all, shift{pass: behavior.Horizon})
	default:
		all = append(all, shift{pass: behavior.Epoch})
	}
	return all
}

// look goes through a new path once more, an epoch later, and reports whether the code waits for a time: what it does besides writing other
// times shows that.
func (l *Learner) look(a *Actor, run behavior.Run) (waits bool, err error) {
	if !l.tells(a) {
		return false, nil
	}
	if err := l.since(a, run); err != nil {
		return true, err
	}
	for _, later := range a.domain.later(run.Activation) {
		parting, left, err := l.lookAt(a, run, later)
		if err != nil {
			return true, err
		}
		if parting == nil && left == nil {
			continue
		}
		if byChance, err := l.goesOtherwise(a, run); byChance || err != nil {
			return false, err
		}
		if parting == nil {
			return true, l.drift(a, run, left)
		}
		return true, l.awaits(a, run, parting)
	}
	return l.lookDue(a, run)
}

// due returns how long after a run its timer has fired, some seconds late, or the span that passes in the search and is hardly longer; 0 if it sets none, or for longer than anything that is waited for. Timers that are set later for the same
// moment are due at the same time.
func (l *Learner) due(run behavior.Run) time.Duration {
	const late = 8*time.Second + 7*time.Millisecond // so that no two spans are as long as others by accident
	if run.Leaf == nil || !run.Leaf.Later() || run.Leaf.Result.RequeueAfter >= behavior.Epoch/2 {
		return 0
	}
	by := run.Leaf.Result.RequeueAfter.Truncate(time.Second) + late
	for _, span := range l.Machine.Conditions.Spans {
		if run.Leaf.Result.RequeueAfter <= span && span <= by+by/8+late {
			return span
		}
	}
	return by
}

// withDue returns some spans together with the one after which the timer of a run has fired, in their order.
func (l *Learner) withDue(run behavior.Run, spans []time.Duration) []time.Duration {
	if by := l.due(run); by > 0 && !slices.Contains(spans, by) {
		spans = append(spans, by)
		slices.Sort(spans)
	}
	return spans
}

// lookDue finds out whether an actor does something else when the timer of a run has fired than at once, where it does not do so much later: it waits for a time that comes and goes, such as a certain hour of the day.
func (l *Learner) lookDue(a *Actor, run behavior.Run) (waits bool, err error) {
	by := l.due(run)
	if by == 0 || a.Background || a.domain.manner.Ticks || l.passes(by, run.Activation.Passed) || l.endsAfter(run) && a.awaits {
		return false, nil
	}
	parting, _, err := l.lookAt(a, run, a.domain.shift(by))
	if parting == nil || err != nil {
		return false, err
	}
	if byChance, err := l.goesOtherwise(a, run); byChance || err != nil {
		return false, err
	}
	if !a.awaits {
		return true, l.awaits(a, run, parting)
	}
	return true, l.severalTimes(a, run, by, parting.Recorded, parting.Observed, parting.Recorded)
}

// lookAt goes through a path when the clock has moved, and returns where the code does something else than to name other times, or else what it leaves
// in memory if that has drifted.
func (l *Learner) lookAt(a *Actor, run behavior.Run, at shift) (*behavior.Divergence, *left, error) {
	later, err := l.follow(a, run, at)
	if err != nil {
		return nil, nil, err
	}
	parting, written := later.shows(run)
	if parting == nil && written {
		parting, err = l.renews(a, run, later)
	}
	if parting != nil || err != nil {
		return parting, nil, err
	}
	renewal, err := l.renewsMemory(a, run, later)
	if renewal != nil {
		return nil, &left{contents: later.contents, at: at, parting: renewal, renewed: true}, nil
	}
	return nil, l.keepsOther(a, run, later, at), err
}

// renews returns where code names another time later, and does not a tick earlier: it does not write it each time.
func (l *Learner) renews(a *Actor, run behavior.Run, later followed) (*behavior.Divergence, error) {
	earlier, err := l.follow(a, run, a.domain.shift(-behavior.Tick))
	if err != nil {
		return nil, err
	}
	parting := earlier.parting
	for i := range earlier.calls {
		call := run.Path[i].From.Call
		if parting == nil && earlier.calls[i].Identity() == call.Identity() && later.calls[i].Identity() != call.Identity() {
			parting = &behavior.Divergence{Recorded: call.String(), Observed: call.String() + " with a newer time", After: i, Call: later.calls[i]}
		}
	}
	return parting, nil
}

// followed is what code did when it was taken along a run when the clock had moved.
type followed struct {
	calls []core.Call
	// parting is where it did something else, nil if it did not.
	parting *behavior.Divergence
	// contents are what is in memory at its end, nil if that does not matter.
	contents map[string]string
}

// shows returns where calls do more than to name other times than those of a run, and whether they name any.
func (f followed) shows(run behavior.Run) (parting *behavior.Divergence, written bool) {
	for i := range f.calls {
		call := run.Path[i].From.Call
		if f.calls[i].Identity() == call.Identity() {
			continue
		}
		if !behavior.Dated(f.calls[i], call) {
			return behavior.OtherContents(call, f.calls[i], i), true
		}
		written = true
	}
	return f.parting, written
}

// moved takes a fresh instance along a run when the clock has moved. It returns its session, which has to be closed or aborted, its calls, and where it does
// more than to write other contents.
func (l *Learner) moved(a *Actor, run behavior.Run, by shift) (*behavior.Session, []core.Call, *behavior.Divergence, error) {
	session, strayed, err := l.bring(a, run.Activation.Since, 0, by)
	if err != nil {
		return nil, nil, nil, err
	}
	if strayed != nil {
		return session, nil, strayed.divergence, nil
	}
	if by.pass > 0 && !session.Pass(by.pass) {
		return session, nil, nil, nil
	}
	l.count(run.Activation)
	run.Activation.Clock += by.run
	if !a.domain.manner.Active {
		run.Activation.Clock += by.start
	}
	calls, parting, err := session.Follow(l.Context, run)
	if err != nil {
		session.Abort()
	}
	return session, calls, parting, err
}

// follow is as [Learner.moved] where the session is of no use.
func (l *Learner) follow(a *Actor, run behavior.Run, by shift) (followed, error) {
	var f followed
	_, err := l.persist(run, func() (*behavior.Divergence, error) {
		session, calls, parting, err := l.moved(a, run, by)
		if err != nil {
			return nil, err
		}
		defer session.Abort()
		f = followed{calls: calls, parting: parting}
		if parting == nil && l.comparesMemory(a, run) {
			f.contents = l.contents(a.domain, session.Memory())
		}
		return f.byChance(run), nil
	})
	return f, err
}

// A time that is longer than whatever is waited for passes where nothing else is to be done, see [Walker.deadlines], and so do shorter ones if a controller is found to wait for several. The
// moments that there are, up to the number of deadlines that the conditions ask for, are a part of the state as soon as a controller is known to wait for a time.

// moment is when a run begins: how much time has passed for the world, and for the run, how much later it is because of what was written, and the number of all that.
type moment struct {
	now, passed, apart time.Duration
	number             int
}

// longTimes returns how often time passes at most: as the conditions ask for, and once more behind the last action of a user.
func (m *Machine) longTimes() int {
	n := m.Conditions.Deadlines
	if n > 0 && len(m.System.Scenario.Actions) > 0 {
		n++
	}
	return n
}

// moments returns how many moments there may be for runs.
func (m *Machine) moments() int {
	n := 1
	if m.Clock != nowhere {
		n = 2*m.calendar.Len() - 1
	}
	return n * (m.instants() + 1)
}

// storesOf returns a store as it answers at each of some moments, and up to so many instants after each.
func storesOf(store core.Store, times *calendar.Calendar, instants int) map[time.Duration]core.Store {
	stores := map[time.Duration]core.Store{}
	for i := range times.Len() {
		for n := range instants + 1 {
			now := times.At(i).Passed + time.Duration(n)*instant
			if dated, names := store.(core.Dated); names && now > 0 {
				stores[now] = dated.After(now)
			} else {
				stores[now] = store
			}
		}
	}
	return stores
}

// moment returns when a run for an item begins in the state of the walker, or one of event handlers if there is no item.
func (w *Walker) moment(it *Item) (at moment) {
	if clock := w.Machine.Clock; clock != nowhere {
		if w.StepCache.Tracing {
			w.depend(clock)
		}
		at = w.Machine.moment(int(w.Value(clock)), it != nil && w.behind(it))
	}
	if len(w.Machine.Conditions.Apart) > 0 {
		at = w.instant(at)
	}
	return at
}

// moment returns when a run begins, by a number of the calendar, and whether the time has not passed for it the last time.
func (m *Machine) moment(n int, behind bool) moment {
	at := m.calendar.At(n)
	if behind {
		return moment{now: at.Passed, passed: at.Before, number: 2*n - 1}
	}
	return moment{now: at.Passed, passed: at.Passed, number: 2 * at.First}
}

// behind reports whether time has passed, and not for the runs of an item.
func (w *Walker) behind(it *Item) bool {
	return !it.Standing && w.Value(it.Cell)&state.Behind != 0
}

// forward returns the first of some runs, as far as one instance of the process can go through them: its clock does not go back, and where something ticks for
// ever, no long time passes.
func (p *Process) forward(runs []behavior.Run) []behavior.Run {
	ticks, passed := p.manner().Ticks, time.Duration(0)
	for i, run := range runs {
		if run.Activation.Passed < passed && run.Activation.Own == behavior.Asked || ticks && run.Activation.Passed > 0 {
			return runs[:i]
		}
		passed = max(passed, run.Activation.Passed)
	}
	return runs
}

// deadlines tries to let time pass, where nothing else is to be done but to wait for that. At first, it passes for all but those who are known to wait
// for a time: theirs is over for one request after the other, so that one deadline may be over before another one. Who tells others regularly
// that he is alive gets to do so before anybody looks. While somebody who waits for a time has set a timer, it is the shortest span that passes: nobody sleeps through the first of several deadlines.
func (w *Walker) deadlines() error {
	if w.Machine.Clock == nowhere {
		return nil
	}
	expects, behind := int(w.Value(w.Machine.Crashes)) < w.Machine.Conditions.Crashes, false
	for _, it := range w.Machine.Items {
		switch {
		case w.behind(it):
			behind = true
			if err := w.try(Taken{Kind: core.Expire, Actor: it.Actor, Item: it}); err != nil {
				return err
			}
		case !it.Standing && w.Value(it.Cell) != 0, it.Elapses() && w.possible(it):
			expects = true // a timer, what is blocked now, or the action of a user
		}
	}
	if behind || !expects {
		return nil
	}
	spans := w.Machine.calendar.Spans(int(w.Value(w.Machine.Clock)))
	if sets := func(it *Item) bool { return it.Actor.awaits && w.timed(it) }; len(spans) > 1 && slices.ContainsFunc(w.Machine.Items, sets) {
		spans = spans[:1]
	}
	for _, span := range spans {
		if err := w.try(Taken{Kind: core.Pass, Actor: w.Machine.Actors[0], span: span}); err != nil {
			return err
		}
	}
	return nil
}

// pass lets the time of a span pass, as one step: timers fire, but for those of requests that may wait for a time. Where memory is kept, all of them are over at once: the
// clock of an instance does not go back. So are those that wait for the requests of others, of which nobody knows which these are.
func (w *Walker) pass(span time.Duration) error {
	clock := w.Machine.Clock
	w.Set(clock, state.Value(w.Machine.calendar.After(int(w.Value(clock)), span)))
	var over []*domain
	for _, it := range w.Machine.Items {
		d := it.Actor.domain
		switch {
		case !w.timed(it):
		case it.Actor.awaits && !d.remembers():
			w.mark(it.Cell, state.Behind)
		default:
			w.fire(it)
			for _, d := range it.waiters() {
				if slices.Contains(over, d) {
					why := "has requests wait in other queues than its own"
					if d.remembers() {
						why = "keeps memory"
					}
					if err := w.doubt(&d.together, "%s %s, and what it does when the deadline of one request has passed and that of another has not was not searched", d.Name, why); err != nil {
						return err
					}
				}
				over = append(over, d)
			}
		}
	}
	return nil
}

// Later lets the longest time pass for everybody in the state of the walker, which is no step, and reports whether any does.
func (w *Walker) Later() bool {
	clock := w.Machine.Clock
	if clock == nowhere || w.Machine.calendar.Ends(int(w.Value(clock))) {
		return false
	}
	spans := w.Machine.calendar.Spans(int(w.Value(clock)))
	w.Set(clock, state.Value(w.Machine.calendar.After(int(w.Value(clock)), spans[len(spans)-1])))
	return true
}

// expire lets the time pass for an item, too, as one step.
func (w *Walker) expire(it *Item) {
	w.Set(it.Cell, w.Value(it.Cell)&^(state.Behind|state.Timed)|state.Queued)
}

// awaits notes that what an actor does depends on the clock. It ends a search that did not know that: it has to be begun again.
func (l *Learner) awaits(a *Actor, run behavior.Run, parting *behavior.Divergence) error {
	if run.Leaf != nil && (l.Machine.longTimes() == 0 || l.endsAfter(run)) {
		run.Leaf.Awaits = true
	}
	text := fmt.Sprintf("%s, now: %s; later: %s", run.Activation, parting.Recorded, parting.Observed)
	switch {
	case l.Machine.longTimes() == 0 || a.Background || a.domain.manner.Ticks || !a.awaits && !l.Searching:
		a.wait(parting.Observed, "the behavior of %s depends on the clock, and later times were not searched: %s", a.Name, text)
	case !a.awaits:
		return &unexpectedDeadline{a.waitTogether()}
	case !l.endsAfter(run):
		return l.between(a, run, parting)
	default:
		more := "raise --deadlines, Options.Deadlines; if it does so each time, that is no help: switch off what it does again and again, such as a periodic refresh"
		if len(l.Machine.System.Scenario.Actions) > 0 {
			more += "; where it waits since a user has acted, more of them are no help, as he may act after any of them but the last: begin with objects as he leaves them"
		}
		a.wait(parting.Observed, "the behavior of %s depends on the clock, and after the last of the times that passed, more were not searched (%s): %s", a.Name, more, text)
	}
	return nil
}

// wait notes how an actor waits for a time that is not searched, and what it does later if it is told by that, once.
func (a *Actor) wait(later, format string, args ...any) {
	if a.Waits == "" {
		a.Waits, a.later = fmt.Sprintf(format, args...), later
	}
}

// alike reports whether two runs go on in the same way where they part from a third one, whatever times they name.
func alike(one, other *behavior.Divergence) bool {
	switch {
	case one.After != other.After || (one.Call == nil) != (other.Call == nil):
		return false
	case one.Ended != nil && other.Ended != nil && one.Ended.Later() && other.Ended.Later():
		return true // how long it waits does not matter
	case one.Call == nil:
		return one.Observed == other.Observed && maps.EqualFunc(one.Left, other.Left, behavior.SameButForTimes)
	}
	return behavior.SameButForTimes(behavior.Undated(one.Call), behavior.Undated(other.Call)) // an object may be named by the time
}
