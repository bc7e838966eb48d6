package transition

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/state"
)

// Whether code depends on the clock is found out by instances whose clocks are moved: a tick earlier, to see whether it
// writes the time, and an epoch later, to see whether it waits for one.

// earlier finds out whether the call of a node would be another one a tick earlier, and returns it: its contents name
// the time, or what it makes is named by it. If it is the same then, or something else is done, it is the call a tick later,
// if that names the time. Then the code may compare times, and what it does with one that is
// a tick ahead says little: that is a reason.
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
	call, err := l.callAt(a, run, node, -behavior.Tick)
	if err == nil && call == nil && !l.Machine.forks(a) {
		if call, err = l.callAt(a, run, node, behavior.Tick); call != nil {
			l.Machine.doubtFirst(a.Name+" writes the time", "with %q, and does something else a moment earlier: whether it writes each time that it is run was searched as if time went back in between. Write the time only where something else changes", node.Call)
			key = memo.Digest{}
		}
	}
	if err != nil {
		return nil, err
	}
	node.Timed, node.Earlier = true, call
	l.Memo.Earlier.Set(key, call)
	return call, nil
}

// callAt returns the call of a node as it is made so much later, or earlier, if it is the same but for times, and nil if it
// names none, or something else is done.
func (l *Learner) callAt(a *Actor, run behavior.Run, node *behavior.Node, by time.Duration) (other core.Call, err error) {
	_, err = l.persistAt(run.Odds()*node.Odds(), func() (*behavior.Divergence, error) {
		session, _, parting, err := l.moved(a, run, a.domain.shift(by))
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
		if (l.Machine.forks(a) || l.exchanges(a)) && (call == nil || behavior.Undated(call) != behavior.Undated(node.Call)) {
			parting := behavior.Way{Call: node.Call}.Parting(behavior.Way{Call: call, Leaf: leaf}, len(run.Path))
			parting.ByChance = true
			return parting, nil
		}
		if call != nil && behavior.SameButForTimes(behavior.Aim(call), behavior.Aim(node.Call)) && call.Identity() != node.Call.Identity() {
			other = call
		}
		return nil, nil
	})
	return other, err
}

// tells reports whether the code of an actor may look at a clock.
func (l *Learner) tells(a *Actor) bool { return !a.Sequential && !a.User }

// shift is how far the clock is moved, for an instance from its start on and for a run of it besides. An instance that
// remembers something has to start a tick earlier for its run to be a tick earlier: its clock does not go back.
type shift struct {
	start, run time.Duration
	// with are runs that its instance has made before, those when so much time had passed: their clock is moved as that
	// of the run, if that is not 0.
	with time.Duration
	// pass is how much time passes for an active instance before the run, which is of interest only if nothing is to be
	// seen of that: the rest is searched.
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

// look goes through a new path once more, an epoch later, and reports whether the code waits for a time: what it does
// besides writing other times shows that.
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
		if err := l.overByTimer(a, run); err != nil {
			return true, err
		}
		return true, l.awaits(a, run, parting)
	}
	if waits, err = l.lookDue(a, run); waits || err != nil {
		return waits, err
	}
	return l.lookAround(a, run)
}

// due returns how long after a run its timer has fired, some seconds late, or the span that passes in the search and is
// hardly longer; 0 if it sets none, or for longer than anything that is waited for. Timers that are set later for the
// same moment are due at the same time.
func (l *Learner) due(run behavior.Run) time.Duration {
	if run.Leaf == nil || !run.Leaf.Later() || run.Leaf.Result.RequeueAfter >= behavior.Epoch/2 {
		return 0
	}
	by := run.Leaf.Result.RequeueAfter.Truncate(time.Second) + calendar.Late
	for _, span := range l.Machine.Conditions.Spans {
		if run.Leaf.Result.RequeueAfter <= span && span <= by+by/8+calendar.Late {
			return span
		}
	}
	return by
}

// withDue returns some spans together with the one after which the timer of a run has fired, in their order.
func (l *Learner) withDue(run behavior.Run, spans []time.Duration) []time.Duration {
	if by := l.due(run); by > 0 {
		spans = append(spans, by)
	}
	slices.Sort(spans)
	return slices.Compact(spans)
}

// far returns how long after a run its timer has fired if it is set for longer than anything that is waited for, as for
// a date in an object, 0 if it is not: several long times may have to pass until then.
func far(run behavior.Run) time.Duration {
	const farthest = 150 * 365 * 24 * time.Hour // the clock of an instance has an end
	if run.Leaf == nil || !run.Leaf.Later() || run.Leaf.Result.RequeueAfter < behavior.Epoch/2 || run.Leaf.Result.RequeueAfter > farthest {
		return 0
	}
	return run.Leaf.Result.RequeueAfter.Truncate(time.Second) + behavior.Tick
}

// lookDue finds out whether an actor does something else when the timer of a run has fired than at once, where it does
// not do so much later: it waits for a time that comes and goes, such as a certain hour of the day, or for one that is further ahead.
func (l *Learner) lookDue(a *Actor, run behavior.Run) (waits bool, err error) {
	by, far := l.due(run), far(run)
	switch {
	case a.Background || a.domain.manner.Ticks || by+far == 0:
		return false, nil
	case by > 0 && (l.passes(by, run.Activation.Passed) || l.endsAfter(a, run) && a.awaits):
		return true, nil // which another search may have to find out
	}
	parting, _, err := l.lookAt(a, run, a.domain.shift(by+far)) // one of them is 0
	if parting == nil || err != nil {
		return false, err
	}
	if byChance, err := l.goesOtherwise(a, run); byChance || err != nil {
		return false, err
	}
	switch {
	case !a.awaits || far > 0 && l.endsAfter(a, run):
		return true, l.awaits(a, run, parting)
	case far > 0:
		return true, nil // the search comes to it, or to its end
	}
	return true, l.severalTimes(a, run, by, parting.Recorded, parting.Observed, parting.Recorded)
}

// mostTimers is how many lengths of timers of an actor are looked at.
const mostTimers = 16

// setsTimer notes for how long a run sets a timer, and finds out whether what others wait for is over when it fires.
func (l *Learner) setsTimer(a *Actor, run behavior.Run) error {
	if run.Leaf == nil || !run.Leaf.Later() || len(a.timers) == mostTimers {
		return nil
	}
	at, known := slices.BinarySearch(a.timers, run.Leaf.Result.RequeueAfter)
	if known {
		return nil
	}
	a.timers = slices.Insert(a.timers, at, run.Leaf.Result.RequeueAfter)
	if l.sleepsThrough(a, run.Leaf.Result.RequeueAfter) {
		return &unexpectedTimer{a.Strategy.Describe().Name, run.Leaf.Result.RequeueAfter}
	}
	for _, once := range a.once {
		switch early, err := l.overFrom(a, once); {
		case err != nil:
			return err
		case early != once.Leaf.Early:
			return &unexpectedTimer{a.Strategy.Describe().Name, never}
		}
	}
	return nil
}

// sleepsThrough reports whether a timer outlasts a span that passes, and that is not known of its length.
func (l *Learner) sleepsThrough(a *Actor, after time.Duration) bool {
	if !l.comparesTimers(a) || len(a.long) == state.MostLong {
		return false
	}
	long := a.timed(0, after).Long()
	return slices.ContainsFunc(l.Machine.Conditions.Spans, func(span time.Duration) bool {
		all := l.Machine.allPassed(span)
		return after > all && (long == 0 || a.long[long-1] <= all)
	})
}

// overByTimer finds out of a run that waits for a time, and does not just set a timer again, whether that is over whenever a
// timer has fired that was set for long.
func (l *Learner) overByTimer(a *Actor, run behavior.Run) (err error) {
	if run.Leaf == nil || run.Leaf.Later() && !slices.ContainsFunc(run.Path, (*behavior.Edge).Writes) || run.Leaf.Retried() || run.Activation.Event != nil ||
		!l.comparesTimers(a) || l.Machine.longTimes() == 0 || a.domain.manner.Active {
		return nil
	}
	a.once = append(a.once, behavior.Run{Activation: run.Activation, Path: slices.Clone(run.Path), Leaf: run.Leaf})
	run.Leaf.Early, err = l.overFrom(a, run)
	return err
}

// overFrom returns after which of the times that are told apart, by its number, and after all that are longer, what a
// run waits for is over, 0 if there is none. It returns an error if another one has to be told apart.
func (l *Learner) overFrom(a *Actor, run behavior.Run) (int, error) {
	first := time.Duration(never)
	times := slices.Concat(a.timers, a.long)
	slices.Sort(times)
	for _, after := range slices.Backward(slices.Compact(times)) {
		parting, _, err := l.lookAt(a, run, a.domain.shift(after))
		if err != nil {
			return 0, err
		}
		if parting == nil {
			break
		}
		first = after
	}
	at, known := slices.BinarySearch(a.long, first)
	switch {
	case first < never && !known && len(a.long) < state.MostLong:
		return 0, &unexpectedTimer{a.Strategy.Describe().Name, first}
	case at == len(a.long):
		return 0, nil
	}
	return at + 1, nil
}

// lookAt goes through a path when the clock has moved, and returns where the code does something else than to name
// other times, or else what it leaves in memory if that has drifted.
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
	// parting is where it did something else, nil if it did not. exchanged tells that it has put what it draws to use in another order.
	parting   *behavior.Divergence
	exchanged bool
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

// moved takes a fresh instance along a run when the clock has moved. It returns its session, which has to be closed or
// aborted, its calls, and where it does more than to write other contents.
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
		f = followed{calls: calls, parting: parting, exchanged: session.Exchanged(run.Path, calls)}
		if parting == nil && l.comparesMemory(a, run) {
			f.contents = l.contents(a.domain, session.Memory())
		}
		return f.byChance(run), nil
	})
	if f.exchanged { // that is a reason, and all else that is seen may be because of it
		f = followed{calls: run.Path.Asked()}
	}
	return f, err
}

// awaits notes that what an actor does depends on the clock. It ends a search that did not know that: it has to be begun again.
func (l *Learner) awaits(a *Actor, run behavior.Run, parting *behavior.Divergence) error {
	if run.Leaf != nil && (l.Machine.longTimes() == 0 || l.endsAfter(a, run)) {
		run.Leaf.Awaits = true
	}
	text := fmt.Sprintf("%s, now: %s; later: %s", run.Activation, parting.Recorded, parting.Observed)
	switch {
	case l.Machine.longTimes() == 0 || a.Background || a.domain.manner.Ticks || !a.awaits && !l.Searching:
		a.Waits.Is(parting.Observed, "the behavior of %s depends on the clock, and later times were not searched: %s", a.Name, text)
	case !a.awaits:
		return &unexpectedDeadline{a.waitTogether()}
	case !l.endsAfter(a, run):
		a.noteLater(run, parting)
		return l.between(a, run, parting)
	default:
		more := "raise --deadlines, Options.Deadlines; if it does another thing each time, such as to count or to toggle, that is no help: leave that out"
		if len(l.Machine.System.Scenario.Actions) > 0 {
			more += "; where it waits since a user has acted, more of them are no help, as he may act after any of them but the last: begin with objects as he leaves them"
		}
		wait := &a.again
		if !a.laterOn[laterOf(run, parting)] {
			wait = &a.Waits // it comes to something new
		}
		wait.Is(parting.Observed, "the behavior of %s depends on the clock, and after the last of the times that passed, more were not searched (%s): %s", a.Name, more, text)
	}
	return nil
}

// waitsFor returns how an actor waits for a time that is not searched, as far as that is told.
func (a *Actor) waitsFor() calendar.Wait {
	if a.Waits.Why != "" {
		return a.Waits
	}
	return a.again
}

// laterOf says what is done later than a run that is about something, whatever times that names.
func laterOf(run behavior.Run, parting *behavior.Divergence) string {
	does := parting.Observed
	switch {
	case parting.Call != nil:
		does = behavior.Undated(parting.Call)
	case parting.Ended != nil && parting.Ended.Later():
		does = "waits on" // how long does not matter
	}
	return run.Activation.String() + ": " + does
}

// noteLater notes what an actor does later, where that is searched.
func (a *Actor) noteLater(run behavior.Run, parting *behavior.Divergence) {
	if a.laterOn == nil {
		a.laterOn = map[string]bool{}
	}
	a.laterOn[laterOf(run, parting)] = true
}

// OnlyAgain reports whether controllers wait for times that were not searched, and these are all after the last of
// those that were.
func (m *Machine) OnlyAgain() bool {
	return len(m.Waiting()) > 0 && !slices.ContainsFunc(m.Actors, func(a *Actor) bool { return a.Waits.Why != "" })
}

// Recur notes that whatever is done after the last of the times is as after the one before.
func (m *Machine) Recur() {
	for _, a := range m.Actors {
		a.again = calendar.Wait{}
	}
	m.Recurs = true
}

// Awaits reports whether the actor is known to wait for a time.
func (a *Actor) Awaits() bool { return a.awaits }

// Awaiting names the controllers that are known to wait for times, in the order of the system.
func (m *Machine) Awaiting() []string {
	return m.strategies(func(a *Actor) bool { return a.awaits })
}

// Waiting says how controllers wait for times that were not searched. Of those of one process that wait for the same,
// it says it once.
func (m *Machine) Waiting() []string {
	var first []*Actor
	others := map[*Actor][]string{}
	for _, a := range m.Actors {
		wait := a.waitsFor()
		if wait.Why == "" {
			continue
		}
		like := func(b *Actor) bool {
			return b.domain == a.domain && wait.Later != "" && b.waitsFor().Later == wait.Later
		}
		if i := slices.IndexFunc(first, like); i >= 0 {
			others[first[i]] = append(others[first[i]], a.Name)
		} else {
			first = append(first, a)
		}
	}
	waiting := make([]string, len(first))
	for i, a := range first {
		if waiting[i] = a.waitsFor().Why; others[a] != nil {
			waiting[i] += fmt.Sprintf(" (and so it was with %s, of the same process)", strings.Join(others[a], ", "))
		}
	}
	return waiting
}
