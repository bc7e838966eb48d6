package transition

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/state"
)

// A time that is longer than whatever is waited for passes where nothing else is to be done, see [Walker.deadlines],
// and so do shorter ones if a controller is found to wait for several. The moments that there are, up to the number of
// deadlines that the conditions ask for, are a part of the state as soon as a controller is known to wait for a time.

// moment is when a run begins: how much time has passed for the world, and for the run, how much later it is because of
// what was written, and the number of all that.
type moment struct {
	now, passed, apart time.Duration
	number             int
}

// longTimes returns how often time passes at most: as the conditions ask for, and once more behind the last action of a
// user.
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

// moment returns when a run for an item begins in the state of the walker, or one of event handlers if there is no
// item.
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

// moment returns when a run begins, by a number of the calendar, and whether the time has not passed for it the last
// time.
func (m *Machine) moment(n int, behind bool) moment {
	at := m.calendar.At(n)
	if behind {
		return moment{now: at.Passed, passed: at.Before, number: 2*n - 1}
	}
	return moment{now: at.Passed, passed: at.Passed, number: 2 * at.First}
}

// Open reports whether all the time that may pass in the search may still pass from the state of the walker on.
func (w *Walker) Open() bool { return w.Machine.calendar.Open(int(w.Value(w.Machine.Clock))) }

// Aligned returns a text that two states have in common if they differ in nothing but how much time has passed, and all
// that happened in them is as long ago, see [behavior.Aligned].
func (w *Walker) Aligned() string {
	m := w.Machine
	memories := map[state.Cell]*part{}
	for _, p := range m.parts {
		memories[p.cell] = p
	}
	var texts []string
	for i, value := range w.Vector {
		c := state.Cell(i)
		switch _, object := m.Vocabulary.Key(c); {
		case c == m.Clock:
		case memories[c] != nil && value != 0:
			contents := memories[c].contents[value]
			for _, path := range slices.Sorted(maps.Keys(contents)) {
				texts = append(texts, fmt.Sprintf("%d, %s: %s", c, path, contents[path]))
			}
		case object && value != 0:
			texts = append(texts, fmt.Sprintf("%d: %s", c, m.Vocabulary.Content(c, value).Canonical()))
		default:
			texts = append(texts, fmt.Sprintf("%d: %d", c, value))
		}
	}
	return strings.Join(behavior.Aligned(texts, m.calendar.At(int(w.Value(m.Clock))).Passed), "\n")
}

// Undated returns a text that two states have in common if their objects differ in nothing but times.
func (w *Walker) Undated() string {
	var texts []string
	for i, value := range w.Vector {
		if _, object := w.Machine.Vocabulary.Key(state.Cell(i)); object && value != 0 {
			texts = append(texts, fmt.Sprintf("%d: %s", i, w.Machine.Vocabulary.Content(state.Cell(i), value).Canonical()))
		}
	}
	return behavior.WithoutTimes(strings.Join(texts, "\n"))
}

// behind reports whether time has passed, and not for the runs of an item.
func (w *Walker) behind(it *Item) bool {
	return !it.Standing && w.Value(it.Cell)&state.Behind != 0
}

// forward returns the first of some runs, as far as one instance of the process can go through them: its clock does not
// go back, and where something ticks for ever, no long time passes.
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

// deadlines tries to let time pass, where nothing else is to be done but to wait for that. At first, it passes for all
// but those who are known to wait for a time: theirs is over for one request after the other, so that one deadline may
// be over before another one. Who tells others regularly that he is alive gets to do so before anybody looks. While
// somebody who waits for a time has set a timer, it is the shortest span that passes: nobody sleeps through the first
// of several deadlines.
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
	if w.Rests = !behind && expects; !w.Rests {
		return nil
	}
	for _, span := range w.spans() {
		if err := w.try(Taken{Kind: core.Pass, Actor: w.Machine.Actors[0], span: span}); err != nil {
			return err
		}
	}
	return nil
}

// spans are the times that pass from the state of the walker on.
func (w *Walker) spans() []time.Duration {
	spans := w.Machine.calendar.Spans(int(w.Value(w.Machine.Clock)))
	if len(spans) == 0 {
		return nil
	}
	sets := func(it *Item) bool { return it.Actor.awaits && w.timed(it) && !w.outlasts(it, spans[0]) }
	hastens := func(it *Item) bool { return sets(it) && w.Machine.hastens(it.Actor) }
	switch {
	case len(spans) > 1 && slices.ContainsFunc(w.Machine.Items, sets):
		return spans[:1]
	case len(spans) == 1 && slices.ContainsFunc(w.Machine.Items, hastens):
		return nil
	}
	return spans
}

// unexpectedSpan is a span that does not pass, and that ends one of several times for which a controller waits.
type unexpectedSpan struct{ Span time.Duration }

// Error implements error.
func (u *unexpectedSpan) Error() string { return "a controller waits for " + u.Span.String() }

func (u *unexpectedSpan) expect(c *Conditions) bool {
	if slices.Contains(c.Spans, u.Span) {
		return false
	}
	c.Spans = append(slices.Clip(c.Spans), u.Span)
	slices.Sort(c.Spans)
	return true
}

// unexpectedHaste is a controller that does something sooner than the times pass that are left: to let these pass all
// the same would be to keep it from what it does at its timer.
type unexpectedHaste struct{ Controller string }

// Error implements error.
func (u *unexpectedHaste) Error() string {
	return u.Controller + " does something sooner than time passes"
}

func (u *unexpectedHaste) expect(c *Conditions) bool { return added(&c.Sooner, u.Controller) }

// unexpectedTimer is a controller that waits for something which is over when a timer fires that is set for so long.
type unexpectedTimer struct {
	Controller string
	After      time.Duration
}

// Error implements error.
func (u *unexpectedTimer) Error() string {
	return u.Controller + " counts on what it waits for to be over when its timer fires"
}

func (u *unexpectedTimer) expect(c *Conditions) bool {
	known := c.Long[u.Controller]
	if slices.Contains(known, u.After) {
		return false
	}
	long := []time.Duration{never}
	if u.After != never {
		long = append(slices.Clone(known), u.After)
		slices.Sort(long)
	}
	c.Long = maps.Clone(c.Long)
	if c.Long == nil {
		c.Long = map[string][]time.Duration{}
	}
	c.Long[u.Controller] = long
	return true
}

// never is so long that no timer is set for it: that of who was found not to count on his timers after all.
const never = 1<<63 - 1

// hastens reports whether an actor is known to do something sooner than the times pass that are left.
func (m *Machine) hastens(a *Actor) bool {
	return slices.Contains(m.Conditions.Sooner, a.Strategy.Describe().Name)
}

// Hasty names the controllers that are known to do something sooner than the times pass that are left, in the order of
// the system.
func (m *Machine) Hasty() []string { return m.strategies(m.hastens) }

// searchesAfter reports whether it is searched what comes after a run if a long time passes before it.
func (l *Learner) searchesAfter(a *Actor, run behavior.Run) bool {
	return a.awaits && !l.endsAfter(a, run)
}

// endsAfter reports whether no time passes any more in the search after a run, see [Walker.spans].
func (l *Learner) endsAfter(a *Actor, run behavior.Run) bool {
	times := l.Machine.calendar
	n := times.When(run.Activation.Passed)
	sooner := run.Leaf != nil && run.Leaf.Later() && l.Machine.hastens(a)
	return times.Ends(n) || sooner && len(times.Spans(n)) == 1
}

// passes reports whether a span passes in the search when so much has passed.
func (l *Learner) passes(span, passed time.Duration) bool {
	times := l.Machine.calendar
	return slices.Contains(times.Spans(times.When(passed)), span)
}

// pass lets the time of a span pass, as one step: timers fire, but for those of requests that may wait for a time.
// Where memory is kept, all of them are over at once: the clock of an instance does not go back. So are those that wait
// for the requests of others, of which nobody knows which these are.
func (w *Walker) pass(span time.Duration) error {
	clock := w.Machine.Clock
	w.Set(clock, state.Value(w.Machine.calendar.After(int(w.Value(clock)), span)))
	var over []*domain
	for _, it := range w.Machine.Items {
		switch d := it.Actor.domain; {
		case !w.timed(it), w.outlasts(it, span):
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

// outlasts reports whether the timer of an item is known to be set for longer than all the time that may pass by a span
// and shorter ones. So it does not fire then.
func (w *Walker) outlasts(it *Item, span time.Duration) bool {
	long := w.Value(it.Cell).Long()
	return long > 0 && it.Actor.awaits && it.Actor.long[long-1] > w.Machine.allPassed(span)
}

// allPassed is how much time may pass by a span and shorter ones.
func (m *Machine) allPassed(span time.Duration) (all time.Duration) {
	if span == behavior.Epoch {
		return never
	}
	for _, s := range m.Conditions.Spans {
		if s <= span {
			all += time.Duration(m.longTimes()) * s
		}
	}
	return all
}

// Later are the times that could still pass in the state of the walker, the longest one first.
func (w *Walker) Later() []time.Duration {
	if w.Machine.Clock == nowhere {
		return nil
	}
	spans := w.Machine.calendar.Spans(int(w.Value(w.Machine.Clock)))
	slices.Reverse(spans)
	return spans
}

// Skip lets a time pass for everybody in the state of the walker, which is no step.
func (w *Walker) Skip(span time.Duration) {
	clock := w.Machine.Clock
	w.Set(clock, state.Value(w.Machine.calendar.After(int(w.Value(clock)), span)))
}

// expire lets the time pass for an item, too, as one step.
func (w *Walker) expire(it *Item) {
	w.Set(it.Cell, w.Value(it.Cell).Untimed()&^state.Behind|state.Queued)
}

// lookAround finds out whether an actor does something else at another hour of the day, or on another day of the week,
// than at once or when its timer has fired for the first time: it looks again after a while, or whoever makes it run
// may do so at any time. Of runs that do the same calls to the same, one is looked at.
func (l *Learner) lookAround(a *Actor, run behavior.Run) (waits bool, err error) {
	if a.Background || a.domain.manner.Ticks || l.Fickle(a) || run.Faulty() || run.Leaf == nil || run.Activation.Event != nil || !a.looksAround(run) {
		return false, nil
	}
	times := calendar.Hours()
	switch d := a.domain; {
	case l.due(run) > 0:
		times = calendar.Around(run.Leaf.Result.RequeueAfter)
	case d.remembers(), d.manner.Active: // whose histories take long to go through
		times = calendar.Noon()
	}
	var ways []*behavior.Divergence
	for _, by := range slices.Concat(l.Machine.Conditions.Spans, times) {
		parting, _, err := l.lookAt(a, run, a.domain.shift(by))
		if err != nil {
			return false, err
		}
		if parting == nil || slices.ContainsFunc(ways, func(way *behavior.Divergence) bool { return parting.Alike(way) }) {
			continue
		}
		if byChance, err := l.goesOtherwise(a, run); byChance || err != nil {
			return false, err
		}
		switch {
		case l.passes(by, run.Activation.Passed):
			a.noteLater(run, parting)
			ways = append(ways, parting)
		case !a.awaits || l.endsAfter(a, run):
			return true, l.awaits(a, run, parting)
		case a.laterOn[laterOf(run, parting)]:
			if l.Searching && !l.Machine.hastens(a) {
				return true, &unexpectedHaste{a.Strategy.Describe().Name}
			}
			ways = append(ways, parting)
			a.again.Is(parting.Observed, "the behavior of %s depends on the time of the day or of the week, and it was not searched how it comes to the same again: %s, now: %s; later: %s", a.Name, run.Activation, parting.Recorded, parting.Observed)
		default:
			return true, l.severalTimes(a, run, by, parting.Recorded, parting.Observed, parting.Recorded)
		}
	}
	return len(ways) > 0, nil
}

// looksAround reports whether a run is the first one of those which make the same calls to the same, and set a timer or
// do not, of which it is to be seen what they do at another time of the day, and notes it.
func (a *Actor) looksAround(run behavior.Run) bool {
	var shape strings.Builder
	fmt.Fprintf(&shape, "%s after %s, later %t", run.Activation, run.Activation.Passed, run.Leaf.Later())
	for _, edge := range run.Path {
		shape.WriteString("\n" + behavior.Aim(edge.From.Call))
	}
	if a.around[shape.String()] {
		return false
	}
	if a.around == nil {
		a.around = map[string]bool{}
	}
	a.around[shape.String()] = true
	return true
}

// Time moves on by an instant each time that something was written: from before what the world writes in a step to
// after what code writes in it, and by this often.
const (
	instant  = 2 * time.Second
	instants = 50
)

// instants is how often it does in a machine.
func (m *Machine) instants() int {
	if len(m.Conditions.Apart) > 0 {
		return instants
	}
	return 0
}

// instant returns a moment as it is after what was written in the state of the walker.
func (w *Walker) instant(at moment) moment {
	if w.StepCache.Tracing {
		w.depend(w.Machine.writings)
	}
	n := int(w.Value(w.Machine.writings))
	at.apart = time.Duration(n) * instant
	at.now += at.apart
	at.number = at.number*(instants+1) + n
	return at
}

// tick lets an instant pass if the step has written a time into an object, so that what is written next is written
// later.
func (w *Walker) tick() error {
	if !slices.ContainsFunc(w.Touched, w.dates) {
		return nil
	}
	n := w.Value(w.Machine.writings)
	if n == instants {
		return w.doubt(&w.Machine.late, "More than %d times are written one after the other, and what comes after the last of them was searched as if they were the same", instants)
	}
	w.Set(w.Machine.writings, n+1)
	return nil
}

// dates reports whether a time stands at a place of an object that did not before.
func (w *Walker) dates(t state.Touch) bool {
	key, isObject := w.Machine.Vocabulary.Key(t.Cell)
	if !isObject || !slices.Contains(w.Machine.Conditions.Apart, key.Kind) {
		return false
	}
	now, shows := w.Machine.Vocabulary.Content(t.Cell, w.Value(t.Cell)).(core.Aged)
	if !shows {
		return false
	}
	before := map[string]string{}
	if was, shows := w.Machine.Vocabulary.Content(t.Cell, t.Was).(core.Aged); shows {
		before = was.Written()
	} else if now.Created() != "" {
		return true
	}
	for place, text := range now.Written() {
		if before[place] != text {
			return true
		}
	}
	return false
}
