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

// Open reports whether all the time that may pass in the search may still pass from the state of the walker on.
func (w *Walker) Open() bool { return w.Machine.calendar.Open(int(w.Value(w.Machine.Clock))) }

// Aligned returns a text that two states have in common if they differ in nothing but how much time has passed, and all that happened in them is as long ago, see [behavior.Aligned].
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
	sets := func(it *Item) bool { return it.Actor.awaits && w.timed(it) }
	hastens := func(it *Item) bool { return sets(it) && w.Machine.hastens(it.Actor) }
	switch {
	case len(spans) > 1 && slices.ContainsFunc(w.Machine.Items, sets):
		return spans[:1]
	case len(spans) == 1 && slices.ContainsFunc(w.Machine.Items, hastens):
		return nil
	}
	return spans
}

// hastens reports whether an actor is known to do something sooner than the times pass that are left.
func (m *Machine) hastens(a *Actor) bool {
	return slices.Contains(m.Conditions.Sooner, a.Strategy.Describe().Name)
}

// Hasty names the controllers that are known to do something sooner than the times pass that are left, in the order of the system.
func (m *Machine) Hasty() []string { return m.strategies(m.hastens) }

// pass lets the time of a span pass, as one step: timers fire, but for those of requests that may wait for a time. Where memory is kept, all of them are over at once: the
// clock of an instance does not go back. So are those that wait for the requests of others, of which nobody knows which these are.
func (w *Walker) pass(span time.Duration) error {
	clock := w.Machine.Clock
	w.Set(clock, state.Value(w.Machine.calendar.After(int(w.Value(clock)), span)))
	var over []*domain
	for _, it := range w.Machine.Items {
		switch d := it.Actor.domain; {
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
