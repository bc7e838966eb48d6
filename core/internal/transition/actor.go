package transition

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// Actor is a strategy with what is known of its requests.
type Actor struct {
	core.Description
	Index    int
	Strategy core.Strategy
	// User tells that it stands for the actions of the scenario.
	User bool
	// Atomic actors take every run as one step, whatever the granularity: the actions of models and of users.
	Atomic bool
	// fallible actors may crash, and their calls may fail, as far as the conditions allow it.
	fallible bool
	// Cached are the kinds that it was seen to read through its cache without watching them or declaring it.
	Cached []core.Kind
	// divergences counts how often the strategy was found not to be deterministic.
	divergences int
	// raced tells that the code is known to make calls at the same time of which the order matters.
	raced bool
	// wanders tells that the code is known to go more ways by chance than are searched.
	wanders bool
	// around are the runs of which it is known what they do at another time of the day, by the calls that they make.
	around map[string]bool
	// readsBack tells that the code is known to read back what it has written in more ways than are searched.
	readsBack bool
	// waited tells that the code is known to wait for a state to which only some orders of its concurrent calls come, where it may crash.
	waited bool
	// awaits tells that the code is known to wait for times.
	awaits bool
	// timers are for how long it was seen to set timers, long those of them from which on something is over that it waits for, both in their order, and once are its runs that wait for a time and do not just set a timer again.
	timers, long []time.Duration
	once         []behavior.Run
	// Waits is how what the strategy does depends on a time that was not searched, and again how it does after the last of those that were, which may be as after the one before.
	Waits, again calendar.Wait
	// laterOn are what it was seen to do later than runs behind which time passes in the search.
	laterOn map[string]bool
	// gambles tells that the code is known to decide by random values.
	gambles bool
	// connected tells that the code is known to ask somebody who is no part of the system.
	connected bool
	// Process is what it runs in, and of is what it is called there, empty if it is alone. domain is the memory that it has in it.
	Process *Process
	of      string
	domain  *domain
	// Background tells that it stands for what its process does between the activations of the others.
	Background bool
	items      map[core.Request]*Item
}

// givenUp returns [ErrStopped] once the strategy was so often found not to be deterministic that it is not followed any more.
func (a *Actor) givenUp() error {
	if a.divergences > maxDivergences {
		return ErrStopped
	}
	return nil
}

// indivisible reports whether every run of a strategy is one step. Such a strategy does not crash: messages would be lost
// with it that nobody would send again, and guarded actions have nothing to lose.
func indivisible(d core.Description) bool { return d.Messages || len(d.Standing) > 0 }

// View returns the actor's lagging view of a kind, nil if it has none.
func (a *Actor) View(kind core.Kind) *view.View { return a.Process.view(kind) }

// reconciling and handling return what a run of the actor is about.
func (a *Actor) reconciling(request core.Request, since *behavior.Memory, at moment) behavior.Activation {
	return behavior.Activation{Of: a.of, Request: request, Since: since, Passed: a.passed(at), Now: at.now, Apart: a.apart(at)}
}

func (a *Actor) handling(event *core.Event, since *behavior.Memory, at moment) behavior.Activation {
	return behavior.Activation{Of: a.of, Event: event, Since: since, Passed: a.passed(at), Now: at.now, Apart: a.apart(at)}
}

// passed is how much time has passed for runs of an actor. What ticks for ever would take too long to get there.
func (a *Actor) passed(at moment) time.Duration {
	if a.untimed() {
		return 0
	}
	return at.passed
}

// apart is how much later than that they are.
func (a *Actor) apart(at moment) time.Duration {
	if a.untimed() {
		return 0
	}
	return at.apart
}

// untimed reports whether no time passes for runs of an actor.
func (a *Actor) untimed() bool { return a.Background || a.domain.manner.Ticks }

// waitTogether names an actor that waits for a time, and those that will be found to do so next: what an active process does once a time has come shows in the runs of all who share its memory.
func (a *Actor) waitTogether() []string {
	names := []string{a.Strategy.Describe().Name}
	if !a.domain.manner.Active {
		return names
	}
	for _, b := range a.domain.Members {
		if name := b.Strategy.Describe().Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// activation returns what a run for an item is about.
func (it *Item) activation(since *behavior.Memory, at moment, draw state.Value) behavior.Activation {
	activation := it.Actor.reconciling(it.Request, since, at)
	if activation.Own, activation.Turn = it.own, it.turn; it.own == behavior.Works && it.its.byRequest {
		activation.Request, activation.Call = it.its.request, it.its.rest[it.its.valueOf(since)].Calls[it.turn]
	}
	activation.Seed = it.seed(draw, since)
	return activation
}

// Item is a request of an actor.
type Item struct {
	core.Item
	Actor *Actor
	// own and turn say what a process does by itself, see [behavior.Activation].
	own  behavior.Own
	turn int
	// its is the part of the memory in which that waits.
	its *part
	// settled tells that it is an action of a user which is only taken where controllers do nothing but wait for timers.
	settled bool
	// Standing items are always in the work queue and have no cell.
	Standing bool
	Cell     state.Cell
	// setters are the actors that are known to set timers for it besides its own.
	setters []*Actor
	// draws are those of its runs, nil if none are known to be made.
	draws *draws
	roots roots
	// Agent is the number of the item among those that take steps.
	Agent int
	// parked are the points of its run where the run can be in flight, by number; the first is none.
	parked []point
	at     map[*behavior.Node]int
	// blockedAt is the number of the point where it waits if its last run was blocked, 0 if none was yet.
	blockedAt int
}

// point is where a run is parked between two calls.
type point struct {
	item *Item
	Node *behavior.Node
	Path behavior.Path
	// held are the versions that the run was shown.
	held []version
	// Blocked tells that the run was blocked: it holds no worker and waits until it can begin anew.
	Blocked bool
}

// String says where the run was cut off, empty if it had made no call.
func (p *point) String() string {
	if len(p.Path) == 0 {
		return ""
	}
	last := p.Path[len(p.Path)-1].From.Call
	if p.Node.Call == nil {
		return fmt.Sprintf("what it did for %s ends after %q", p.item.Request, last.String())
	}
	return fmt.Sprintf("what it did for %s ends after %q and before call %d, %q", p.item.Request, last.String(), len(p.Path)+1, p.Node.Call.String())
}

// orders returns in how many orders the concurrent calls up to the point, and the next one, might have been answered.
func (p *point) orders() int {
	n := max(1, len(p.Node.Turns))
	for _, edge := range p.Path {
		n = min(n*max(1, len(edge.From.Turns)), math.MaxInt32)
	}
	return n
}

// version is a version of an object.
type version struct {
	cell  state.Cell
	value state.Value
}

// transition is a change of one cell, as a controller is told of it.
type transition struct {
	from, to state.Value
	// missed tells that the deletion itself was not seen.
	missed bool
	// initial tells that the object was in the list at a start of the controller.
	initial bool
}

// delivery is who handles a change, and how.
type delivery []handling

type handling struct {
	actor *Actor
	event core.Event
	// change numbers the change that the event is about. It is the same for all who handle it.
	change int
	// roots are where its event handlers begin, none if it has a view of the kind and does not watch it.
	roots roots
	// heeding is whether it matters what parts of the memory hold, by their index.
	heeding []heeding
}

// act takes an action of the scenario, as one step, as planned. It returns false, and has changed nothing, if the action is not enabled.
func (w *Walker) act(it *Item, p plan) (enabled bool, err error) {
	m := w.Machine
	before := w.Value(m.History)
	after, known := m.Histories[before].next[it]
	if leaf, err := w.reconcile(it, p); leaf == nil || err != nil {
		return false, err
	}
	if !known {
		if w.Learn == nil {
			w.undo()
			return false, ErrUnknown
		}
		actions := append(slices.Clip(m.Histories[before].Actions), it.Request)
		after = m.Vocabulary.Extend(m.History, fmt.Sprintf("%q", actions))
		m.Histories[before].next[it] = after
		m.Histories = append(m.Histories, history{Actions: actions, next: map[*Item]state.Value{}})
	}
	w.Set(it.Cell, 0) // a user who was refused gives up
	if m.System.Scenario.Alternatives {
		for _, action := range m.System.Scenario.Actions {
			w.Set(m.Item(it.Actor, core.Request(action.Name)).Cell, 0)
		}
	}
	w.Set(m.History, after)
	if next, waits := (behavior.User{Scenario: m.System.Scenario}).After(it.Request); waits {
		w.Set(m.Item(it.Actor, next).Cell, state.Queued)
	}
	return true, nil
}

// A work queue waits the longer before it hands out an item again the more often its run has failed. So runs that fail, or ask to be run again, and change nothing, keep no timer from firing: where
// nobody has anything else to do, time passes.

// idle reports whether controllers do nothing in the state whose steps were tried, or those that are followed, or nothing but to try again what comes to nothing. It says false where nothing comes
// with time.
func (w *Walker) idle() (bool, error) {
	switch {
	case w.visit.due == 0:
		return true, nil
	case !w.onlyRuns() || !slices.ContainsFunc(w.Machine.Items, w.timely) && w.Machine.Clock == nowhere:
		return false, nil
	}
	for _, it := range w.visit.begun {
		switch retries, err := w.retries(it); {
		case !retries, err != nil:
			return false, w.unlessEnded(it, err)
		}
	}
	if len(w.visit.flown) == 0 {
		return true, nil
	}
	row, flown := w.AppendRow(nil), w.visit.flown
	defer w.Load(row)
	for _, it := range flown {
		if nothing, err := w.landsOnNothing(it); !nothing || err != nil {
			return false, w.unlessEnded(it, err)
		}
	}
	for _, it := range flown {
		if retries, err := w.retries(it); !retries || err != nil {
			return false, w.unlessEnded(it, err)
		}
	}
	return true, nil
}

// onlyRuns reports whether all that is due is a retry that comes to nothing, or a part of a run that may be one.
func (w *Walker) onlyRuns() bool {
	return w.visit.retries+len(w.visit.begun)+w.visit.flownBy == w.visit.due
}

// unlessEnded tells the visitor of an error in a run that is taken as a whole.
func (w *Walker) unlessEnded(it *Item, err error) error {
	if err == nil {
		return nil
	}
	return w.visit.visitor.Stopped(&Taken{Kind: core.Begin, Actor: it.Actor, Item: it}, err)
}

// landsOnNothing lets the run of an item go on to its end, and reports whether it does nothing but to be tried again. The walker stays there.
func (w *Walker) landsOnNothing(it *Item) (bool, error) {
	defer w.tryOut(Taken{Kind: core.Return, Actor: it.Actor, Item: it})()
	nothing := func() bool {
		return !w.Wrote && !slices.ContainsFunc(w.Touched, func(t state.Touch) bool { return t.Cell != it.Cell && w.Vector[t.Cell] != t.Was })
	}
	again := w.Value(it.Cell).ParkedAt(0) | state.Queued
	for p := w.Flight(it); p.Node.Leaf == nil; p = w.Flight(it) {
		if len(p.Node.Turns) > 1 {
			return false, nil
		}
		w.beginStep()
		if err := w.ask(it, plan{}); err != nil || !nothing() {
			return false, err
		}
		w.Forget()
	}
	leaf, err := w.land(it)
	if err != nil || !leaf.Retried() || !nothing() || w.Value(it.Cell) != again {
		return false, err
	}
	w.Forget()
	return true, nil
}

// alight ends the runs that are in flight where time passes: they come to nothing, see [Walker.idle], and none goes on at a later time than it began.
func (w *Walker) alight() error {
	landed := false
	for _, it := range w.Machine.Items {
		if p := w.Flight(it); p != nil && !p.Blocked {
			landed = true
			w.released = append(w.released, p)
			w.Set(it.Cell, w.Value(it.Cell).ParkedAt(0)|state.Queued)
		}
	}
	if !landed {
		return nil
	}
	return w.normalize()
}

// othersIdle reports whether the controllers do nothing, either, whose steps are not shown.
func (w *Walker) othersIdle() (bool, error) {
	if w.Machine.lags && slices.ContainsFunc(w.Machine.Processes, w.late) {
		return false, nil
	}
	only := w.visit.only
	defer w.tryOut(Taken{})()
	for _, it := range w.Machine.Items {
		if only[it.Agent] || it.Actor.User {
			continue
		}
		if err := w.work(it); err != nil {
			return false, err
		}
		if !w.onlyRuns() {
			return false, nil
		}
	}
	return w.idle()
}

// tryOut begins a visit with a step that nobody is shown, until the function that it returns goes back to the one before.
func (w *Walker) tryOut(step Taken) func() {
	before, monitor, listener := w.visit, w.Monitor, w.Listener
	w.visit, w.Monitor, w.Listener = visit{visitor: trial{}, step: step}, nil, nil
	return func() { w.visit, w.Monitor, w.Listener = before, monitor, listener }
}

// timely reports whether something happens for an item once controllers are idle.
func (w *Walker) timely(it *Item) bool {
	return w.timed(it) || it.own == behavior.Waits || it.settled && w.acts(it)
}

// retries reports whether the whole run of an item comes to nothing and is tried again, in all orders of its calls.
func (w *Walker) retries(it *Item) (bool, error) {
	defer w.tryOut(Taken{Kind: core.Reconcile, Actor: it.Actor, Item: it})()
	err := w.tryVariants()
	return w.visit.due > 0 && w.visit.retries == w.visit.due, err
}

// trial is a [visitor] for steps that are only tried.
type trial struct{}

// Took implements [visitor].
func (trial) Took(*Taken) error { return nil }

// Stopped implements [visitor].
func (trial) Stopped(_ *Taken, err error) error {
	if Ends(err) {
		return nil
	}
	return err
}

// comesToNothing reports whether the step is a run that is tried again and leaves all as it was.
func (w *Walker) comesToNothing(s *Taken) bool {
	if s.Kind != core.Reconcile || s.Leaf == nil || w.Wrote || errorOf(s.Leaf) == "" && !s.Leaf.Result.Requeue {
		return false
	}
	for i, t := range w.Touched {
		first := !slices.ContainsFunc(w.Touched[:i], func(before state.Touch) bool { return before.Cell == t.Cell })
		if first && w.Vector[t.Cell] != t.Was {
			return false
		}
	}
	return true
}

// settled tries the actions that users take only where controllers do nothing but wait for timers.
func (w *Walker) settled() error {
	for _, it := range w.Machine.Items {
		if !it.settled || !w.acts(it) {
			continue
		}
		if err := w.intervene(it); err != nil {
			return err
		}
	}
	return nil
}

// intervene tries the action of a user.
func (w *Walker) intervene(it *Item) error {
	w.visit.step = Taken{Kind: core.Intervene, Actor: it.Actor, Item: it}
	return w.tryVariants()
}

// OnlyRemembers reports whether what the actor does may depend on what is kept in memory, and nothing is done between its runs.
func (a *Actor) OnlyRemembers() bool { return a.Remembers() && !a.domain.manner.Active }

// Passing returns the times that pass besides the long one, and what people call them.
func (m *Machine) Passing() (spans []time.Duration, names []string) {
	if m.Clock == nowhere {
		return nil, nil
	}
	for _, span := range m.Conditions.Spans {
		names = append(names, calendar.NameOf(span, behavior.Epoch))
	}
	return m.Conditions.Spans, names
}

// Idle returns the items of some actors that nothing makes run in the state of the walker, at any time. There are none where any timer is set, as it may make others run.
func (w *Walker) Idle(of func(*Actor) bool) []*Item {
	var items []*Item
	for _, it := range w.Machine.Items {
		if w.timed(it) || it.Elapses() && w.possible(it) {
			return nil
		}
		if of(it.Actor) && !it.Standing && !it.Actor.Messages && !it.Actor.User && w.Value(it.Cell) == 0 {
			items = append(items, it)
		}
	}
	return items
}

// Learns reports whether the walker has changed what somebody remembers.
func (w *Walker) Learns() bool {
	return slices.ContainsFunc(w.Machine.parts, func(p *part) bool {
		return slices.ContainsFunc(w.Touched, func(t state.Touch) bool { return t.Cell == p.cell && w.Value(t.Cell) != t.Was })
	})
}

// Suppose does something that no search comes to, and forgets what is doubted because of that.
func (m *Machine) Suppose(do func() error) error {
	doubts := slices.Clone(m.Doubts)
	waits := map[*Actor][2]calendar.Wait{}
	for _, a := range m.Actors {
		waits[a] = [2]calendar.Wait{a.Waits, a.again}
	}
	err := do()
	m.Doubts = doubts
	for a, before := range waits {
		a.Waits, a.again = before[0], before[1]
	}
	return err
}

// Overlooks notes that an item would do something some time that nothing makes it do.
func (m *Machine) Overlooks(it *Item, some, does string) {
	advice := "return RequeueAfter until then"
	if some == Again {
		advice = "return an error, or Requeue, where it has not done all"
	}
	m.doubtFirst(it.Actor.Name+" would do something later", "that nothing makes it do: reconciling %s %s would %s, but no timer is set, and no change wakes it. On a cluster, only a resync or a restart does, some time: %s",
		it.Request, some, does, advice)
}

// Again says that it would do so at once.
const Again = "once more"
