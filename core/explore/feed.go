package explore

import (
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/view"
)

// feed says which changes the event handlers of controllers that keep memory get along a run, by how many changes of
// the kind there were before and after. Where a run of such a controller is under way, they get a change later than it
// was delivered.
type feed struct {
	now, before position
	// due are the changes that were delivered in the step and that handlers did not get yet, in order.
	due []dueEvent
	// got are the events of the handlers at work that have made calls: what these change comes behind them.
	got map[*transition.Actor]gotEvent
}

// gotEvent is how many changes of the kind of an event there were, and calls of the step, when handlers got it.
type gotEvent struct{ changes, calls int }

// position is where a run is: how many changes of each kind there were, and how many of them the views show that may be
// stale.
type position struct {
	changes map[core.Kind]int
	shown   map[*view.View]int
}

func (p position) clone() position { return position{maps.Clone(p.changes), maps.Clone(p.shown)} }

// dueEvent is a change that handlers are to get.
type dueEvent struct {
	actor    *transition.Actor
	key      core.Key
	from, to int
}

func newFeed() feed {
	p := position{map[core.Kind]int{}, map[*view.View]int{}}
	return feed{now: p, before: p.clone(), got: map[*transition.Actor]gotEvent{}}
}

// keep begins a step: what was counted up to now stays.
func (f *feed) keep() { f.before, f.due = f.now.clone(), nil }

// takeBack goes back to where the step began.
func (f *feed) takeBack() {
	f.now, f.due = f.before.clone(), nil
	clear(f.got)
}

// wrote takes note of the writes of a call, which views that are fresh show at once.
func (f *feed) wrote(m *transition.Machine, writes []behavior.Write) {
	for _, write := range writes {
		kind := write.Key.Kind
		f.now.changes[kind]++
		for _, a := range m.Actors {
			if a.Remembers() && a.View(kind) == nil && slices.Contains(a.Watches, kind) {
				f.due = append(f.due, dueEvent{a, write.Key, f.now.changes[kind] - 1, f.now.changes[kind]})
			}
		}
	}
}

// refreshed takes note of the changes of which a view is told, of so many of its kind up to now, or that it starts
// again if there are none.
func (f *feed) refreshed(w *transition.Walker, v *view.View, all int, changes []view.Change) {
	before, now := f.now.shown[v], all
	relists := v.Rule() == view.Relist()
	if !relists {
		now -= v.Waiting(w.Value(v.Cell()))
	}
	f.now.shown[v] = now
	i := slices.IndexFunc(w.Machine.Processes, func(p *transition.Process) bool { return slices.Contains(p.Views, v) })
	for n, change := range changes {
		key, _ := w.Machine.Vocabulary.Key(change.Cell)
		from, to := before, now
		if !relists { // one after the other
			to = now - len(changes) + n + 1
			from = to - 1
		}
		for _, a := range w.Machine.Processes[i].Members {
			if slices.Contains(a.Watches, v.Kind()) {
				f.due = append(f.due, dueEvent{a, key, from, to})
			}
		}
	}
}

// called records where handlers of an actor that make a call got their event, of a kind: before the call, so many calls
// into the step.
func (f *feed) called(a *transition.Actor, kind core.Kind, before int) {
	if _, known := f.got[a]; !known {
		f.got[a] = gotEvent{f.now.changes[kind], before}
	}
}

// event returns what the handlers of an actor got, who are done, behind so many calls of the step.
func (f *feed) event(a *transition.Actor, e core.Event, calls int) core.TraceEvent {
	got, known := f.got[a]
	if !known {
		got = gotEvent{f.now.changes[e.Key.Kind], calls}
	}
	delete(f.got, a)
	kind := e.Key.Kind
	told := core.TraceEvent{
		Controller: a.Name, Kind: kind, Namespace: e.Key.Namespace, Name: e.Key.Name,
		Of: got.changes, Missed: e.Missed, Initial: e.Initial, Calls: got.calls,
	}
	told.From, told.To = told.Of, told.Of
	if v := a.View(kind); v != nil {
		told.From, told.To = f.now.shown[v], f.now.shown[v]
	}
	if e.Initial {
		return told
	}
	i := slices.IndexFunc(f.due, func(d dueEvent) bool { return d.actor == a && d.key == e.Key })
	if i >= 0 {
		told.From, told.To = f.due[i].from, f.due[i].to
		f.due = slices.Delete(f.due, i, i+1)
	}
	return told
}

// lags says how far views are behind the store along a run. Most backlogs say so themselves. Those of views that are
// refreshed by lists leave out what came and went in between, so that changes are counted here.
type lags struct {
	now, before map[*view.View]lag
}

// lag counts the changes of the kind of a view, all of them and those since it was refreshed.
type lag struct{ all, since int }

func newLags() lags { return lags{now: map[*view.View]lag{}, before: map[*view.View]lag{}} }

// keep begins a step: what was counted up to now stays.
func (l *lags) keep() { l.before = maps.Clone(l.now) }

// takeBack goes back to where the step began.
func (l *lags) takeBack() { l.now = maps.Clone(l.before) }

func (l *lags) committed(v *view.View) {
	l.now[v] = lag{all: l.now[v].all + 1, since: l.now[v].since + 1}
}

func (l *lags) refreshed(v *view.View) { l.now[v] = lag{all: l.now[v].all} }

// of returns how far the views of an actor are behind, those that are, in the state that a walker is in.
func (l *lags) of(w *transition.Walker, a *transition.Actor) []core.TraceLag {
	var behind []core.TraceLag
	for _, v := range a.Process.Views {
		changes := v.Waiting(w.Value(v.Cell()))
		if v.Rule() == view.Relist() {
			changes = l.now[v].since
		}
		if changes > 0 {
			behind = append(behind, core.TraceLag{Kind: v.Kind(), Changes: changes, Of: l.now[v].all})
		}
	}
	return behind
}
