package transition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/internal/stepcache"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// ErrUnknown ends a step of a walker that may not learn, where something has to be.
var ErrUnknown = errors.New("not learned yet")

// ErrStopped ends a step of a run that never came back or may not go on.
var ErrStopped = errors.New("the run never came back")

// Ends reports whether an error is how a step ends that cannot be taken any further. Others are of whoever takes it:
// nothing is known of the step then.
func Ends(err error) bool {
	var unsupported *core.Unsupported
	return errors.Is(err, ErrStopped) || errors.As(err, &unsupported)
}

// Walker takes steps of a machine, starting from one state.
type Walker struct {
	Machine *Machine
	// Learn is what the walker learns with, nil if it may only use what is known.
	Learn *Learner

	Vector      state.Vector
	Fingerprint state.Fingerprint
	// Touched are the cells that differ, or differed, from the state the step began in, with their values there.
	Touched []state.Touch
	Wrote   bool
	// Retrying tells of the last state whose steps were shown, if those of some agents only were, that controllers do
	// nothing there but to try again what comes to nothing, so that time passes.
	Retrying bool
	// Rests tells of the last state whose steps were all shown that nothing is to be done there but to let a long time
	// pass, for which somebody may wait, whether or not it passes in the search.
	Rests bool
	// origin is the fingerprint of the state the step began in. If plain is set, row is its row, with one byte for each
	// cell.
	origin state.Fingerprint
	row    []byte
	plain  bool

	// Live shows the store, and clients what each actor's cached client shows.
	Live    *ClientView
	clients []*ClientView

	// path is the way through the behaviour trees of the runs under way, innermost last. Only learning needs it.
	path behavior.Path
	// base is where the innermost run begins on the path.
	base int
	// made are the calls of the innermost run since it began to make several at a time, nil if it does not.
	made []behavior.Made
	// Reversed are the other ways of the step that its runs ask for, such as other orders of concurrent calls.
	Reversed []reversed
	// answers are those to all calls since the run of the step began to make several at a time, those of event handlers
	// included, and gathers tells that it did.
	answers []*behavior.Answered
	gathers bool
	// unsure tells that a walker that may not learn came to something that is not known.
	unsure bool
	// chosen are the ways that chance has led the runs of the step.
	chosen []choice
	// missed are the numbers of the calls of the step that a cache answered without what the run had written.
	missed []int
	// Asked are the answers to the calls of the step.
	Asked []*behavior.Answered
	// Handling is the event that is handled, nil while a reconcile is at work.
	Handling *core.Event
	// nested is how many deliveries are under way, each set off by a write of the handlers of the one before.
	nested int
	// busy are the processes that keep memory and are in the midst of a run, and waiting what there is for their event
	// handlers.
	busy    []*Process
	waiting []*handling
	// drawing is what the run of the step draws.
	drawing drawing
	// stirred is who has acted last on a change among those that share memory.
	stirred stirred
	// Recalled are the cells of the memories that the runs of the step began with.
	Recalled []state.Cell
	// released are the points that runs in flight left within the step.
	released []*point
	// notes are what the run of the step did, call by call. Only faults need them.
	notes     []callNote
	noted     bool
	visit     visit
	StepCache stepcache.Cache[effect]
	// Ahead tells that the walker takes steps before the searching goroutine does.
	Ahead bool
	// Monitor, if set, looks at every step before and after it is taken.
	Monitor Monitor
	// Listener, if set, is told of every call with its effects, of the end of every run, and of what comes to views.
	Listener Listener
	Buffer   []byte
}

// maxNested bounds deliveries within deliveries: beyond it, event handlers set each
// other off for ever.
const maxNested = 64

// NewWalker returns a walker of a machine. It learns with a learner, or takes only steps that are known if that is nil.
func NewWalker(m *Machine, learn *Learner) *Walker {
	w := &Walker{Machine: m, Learn: learn, Buffer: make([]byte, 0, 4096)}
	w.Live = &ClientView{Walker: w, ClientView: view.NewClientView(m.Vocabulary, &w.Vector, nil)}
	for _, a := range m.Actors {
		s := w.Live
		if views := a.Process.Views; len(views) > 0 {
			s = &ClientView{Walker: w, Actor: a, ClientView: view.NewClientView(m.Vocabulary, &w.Vector, views)}
		}
		w.clients = append(w.clients, s)
	}
	return w
}

// Load puts the walker in a state.
func (w *Walker) Load(row []byte) {
	w.fit()
	cells := w.Vector.ReadRow(row)
	w.Fingerprint = w.Machine.Vocabulary.Fingerprint(w.Vector)
	w.Forget()
	w.row, w.plain = append(w.row[:0], row...), cells == len(row)
}

// fit makes the vector as long as the vocabulary.
func (w *Walker) fit() {
	if len(w.Vector) == w.Machine.Vocabulary.Cells() {
		return
	}
	for len(w.Vector) < w.Machine.Vocabulary.Cells() {
		w.Vector = append(w.Vector, 0)
	}
	w.StepCache.Forget()
}

// Value returns the value of a cell.
func (w *Walker) Value(c state.Cell) state.Value { return w.Vector.Value(c) }

// Previous returns the value that a cell had before the step.
func (w *Walker) Previous(c state.Cell) state.Value {
	for _, t := range w.Touched {
		if t.Cell == c {
			return t.Was
		}
	}
	return w.Value(c)
}

// Set changes a cell.
func (w *Walker) Set(c state.Cell, value state.Value) {
	if int(c) >= len(w.Vector) {
		w.fit()
	}
	was := w.Vector[c]
	if w.StepCache.Tracing {
		w.StepCache.Depend(c, was)
	}
	if was == value {
		return
	}
	w.Touched = append(w.Touched, state.Touch{Cell: c, Was: was})
	w.Fingerprint.Toggle(w.Machine.Vocabulary.Print(c, was))
	w.Fingerprint.Toggle(w.Machine.Vocabulary.Print(c, value))
	w.Vector[c] = value
}

// mark sets marks of an item's cell, as its work queue has them.
func (w *Walker) mark(c state.Cell, marks state.Value) {
	w.Set(c, w.Machine.ItemAt[c].queued(w.Value(c)|marks))
}

// queued returns the value of an item's cell as its work queue has it: one that has one entry for each request keeps no
// timer of who is there.
func (it *Item) queued(value state.Value) state.Value {
	if it.Actor.Merging && value&state.Queued != 0 {
		value = value.Untimed() &^ state.Behind
	}
	return value
}

// undo takes back what the walker did since its step began.
func (w *Walker) undo() {
	for i := len(w.Touched) - 1; i >= 0; i-- {
		w.Vector[w.Touched[i].Cell] = w.Touched[i].Was
	}
	w.Fingerprint = w.origin
	w.renew()
}

// Forget makes the state that the walker is in the one that its next step begins in.
func (w *Walker) Forget() {
	w.origin, w.plain = w.Fingerprint, false
	w.renew()
}

// renew makes the walker ready for a step.
func (w *Walker) renew() {
	w.Touched, w.released, w.Recalled = w.Touched[:0], w.released[:0], w.Recalled[:0]
	w.busy, w.waiting, w.stirred = w.busy[:0], w.waiting[:0], stirred{}
	w.Wrote = false
}

// beginStep makes the walker ready for one way of a step.
func (w *Walker) beginStep() {
	w.Reversed, w.Asked, w.missed, w.chosen = w.Reversed[:0], w.Asked[:0], w.missed[:0], nil
}

// AppendRow appends the packed row of the state that the walker is in.
func (w *Walker) AppendRow(rows []byte) []byte {
	if !w.plain {
		return w.Vector.AppendRow(rows)
	}
	begin := len(rows)
	rows = append(rows, w.row...)
	for _, t := range w.Touched {
		value, at := w.Vector[t.Cell], begin+int(t.Cell)
		if value >= 0x80 {
			return w.Vector.AppendRow(rows[:begin])
		}
		for at >= len(rows) {
			rows = append(rows, 0)
		}
		rows[at] = byte(value)
	}
	for len(rows) > begin && rows[len(rows)-1] == 0 {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// Pending reports whether an item is in a work queue.
func (w *Walker) Pending(it *Item) bool {
	return it.Standing || w.Value(it.Cell)&state.Queued != 0
}

// MayAct reports whether the action of a user can be taken while controllers have something to do.
func (w *Walker) MayAct(it *Item) bool { return !it.settled && w.acts(it) }

// acts reports whether the action of a user can be taken. None is behind the times that pass for what users did last,
// so that who waits for a time from then on comes to its end.
func (w *Walker) acts(it *Item) bool {
	return w.Pending(it) && (w.Machine.Clock == nowhere || w.Machine.calendar.Open(int(w.Value(w.Machine.Clock))))
}

// timed reports whether a timer is set for an item.
func (w *Walker) timed(it *Item) bool {
	return !it.Standing && w.Value(it.Cell)&state.Timed != 0
}

// setBy notes that an actor sets timers for an item.
func (it *Item) setBy(a *Actor) {
	if it.Actor != a && !slices.Contains(it.setters, a) {
		it.setters = append(it.setters, a)
	}
}

// waits reports whether a timer of an item may have been set by who waits for a time that was not searched.
func (it *Item) waits() bool {
	return it.Actor.waitsFor().Why != "" || slices.ContainsFunc(it.setters, func(a *Actor) bool { return a.waitsFor().Why != "" })
}

// waiters returns the memories of those for whom a timer of an item may wait for a time: that of its actor, or else of
// others that have set it.
func (it *Item) waiters() []*domain {
	if it.Actor.awaits {
		return []*domain{it.Actor.domain}
	}
	var waiters []*domain
	for _, a := range it.setters {
		if a.awaits && !slices.Contains(waiters, a.domain) {
			waiters = append(waiters, a.domain)
		}
	}
	return waiters
}

// Awaited returns the items with timers of controllers that wait for a time that was not searched, and those for which
// time passes in the background of such ones. Where a long time may still pass, what comes of that is another end, or
// one that waits as well.
func (w *Walker) Awaited() []core.Item {
	var items []core.Item
	for _, it := range w.Machine.Items {
		if w.timed(it) && it.waits() || it.Actor.waitsFor().Why != "" && it.Elapses() && w.possible(it) {
			items = append(items, it.Item)
		}
	}
	return items
}

// Flight returns the point where the run of an item is parked, nil if it is not in flight.
func (w *Walker) Flight(it *Item) *point {
	if it.Standing {
		return nil
	}
	if n := w.Value(it.Cell).Parked(); n > 0 {
		return &it.parked[n]
	}
	return nil
}

// late reports whether changes are waiting for a process.
func (w *Walker) late(p *Process) bool {
	for _, v := range p.Views {
		if v.Waiting(w.Value(v.Cell())) > 0 {
			return true
		}
	}
	return false
}

// Taken is a step that a walker tries.
type Taken struct {
	Kind core.StepKind
	// Actor is whose step it is, the first one of those who share a process if it is that of all.
	Actor *Actor
	// Item is what is reconciled, fired or done; view what is delivered.
	Item *Item
	View *view.View
	// node is the call that is answered.
	node *behavior.Node
	// chosen are the ways that chance has led the step.
	chosen []choice
	// plan is what is chosen on the way, and positions are where the views of a controller that starts again are then.
	plan      plan
	positions []int
	// lost are the points at which a crash cut off runs in flight.
	lost []*point
	// span is how much time passes.
	span time.Duration
	// Leaf is how a run ended in the step, nil if none did.
	Leaf *behavior.Leaf
	// blocked tells that the step is not possible in the state.
	blocked bool
	// Late tells that changes were waiting for the actor, or that it read without them what it had written itself.
	Late bool
}

// Step names the step.
func (t *Taken) Step() core.Step {
	s := core.Step{Kind: t.Kind, Item: core.Item{Strategy: t.Actor.Process.Name}}
	switch {
	case t.Kind == core.Pass:
		s.Item = core.Everything()
		s.Item.Request = core.Request(calendar.NameOf(t.span, behavior.Epoch))
	case t.Item != nil:
		s.Item = t.Item.Item
	case t.View != nil:
		s.Item.Request = core.Request(t.View.Kind())
	}
	var order []string
	if t.plan.backwards {
		order = append(order, listedBackwards)
	}
	for _, choice := range t.chosen {
		order = append(order, choice.String())
	}
	for _, turn := range t.plan.turns {
		order = append(order, turn.String())
	}
	for _, call := range t.plan.abreast {
		order = append(order, fmt.Sprintf("call %d is answered by a cache that has received what was written before", call+1))
	}
	s.Order = strings.Join(order, ", and ")
	var details []string
	for _, m := range t.plan.faults {
		details = append(details, m.String())
	}
	for _, p := range t.lost {
		if text := p.String(); text != "" {
			details = append(details, text)
		}
	}
	for i, behind := range t.positions {
		if behind > 0 {
			changes := "changes"
			if behind == 1 {
				changes = "change"
			}
			details = append(details, fmt.Sprintf("its view of %s is %d %s behind", t.Actor.Process.Views[i].Kind(), behind, changes))
		}
	}
	s.Detail = strings.Join(details, ", and ")
	return s
}

// Agent returns the number of the agent that takes the step.
func (t *Taken) Agent() int {
	switch {
	case t.Item != nil:
		return t.Item.Agent
	case t.View != nil:
		return t.Actor.Process.Deliveries[slices.Index(t.Actor.Process.Views, t.View)]
	}
	return t.Actor.Process.Restarts
}

// due reports whether the step is one that controllers take by themselves.
func (t *Taken) due() bool {
	switch t.Kind {
	case core.Restart, core.Intervene:
		return false
	}
	return !t.Kind.Timed() && len(t.plan.faults) == 0
}

// WhenIdle reports whether the step is possible only where controllers are idle.
func (t *Taken) WhenIdle() bool { return t.Kind.Timed() || t.Item != nil && t.Item.settled }

// Faulty reports whether calls fail in the step.
func (t *Taken) Faulty() bool { return len(t.plan.faults) > 0 }

// Crashes reports whether the run of the step is cut off by a crash.
func (t *Taken) Crashes() bool {
	return slices.ContainsFunc(t.plan.faults, func(m injectedFault) bool { return m.fault == crash })
}

// Look returns the state the walker is in.
func (w *Walker) Look() state.Look { return state.NewLook(w.Machine.Vocabulary, w.Vector) }

// Edge returns the step that the walker has taken from a state, without where it leads.
func (w *Walker) Edge(from core.StateID, t *Taken) core.Edge {
	e := core.Edge{From: from, Step: t.Step(), Wrote: w.Wrote, Late: t.Late}
	if t.Leaf != nil {
		e.Failed, e.Requeued = errorOf(t.Leaf), t.Leaf.Result.Requeue
	}
	return e
}

// Signature stands for what [Walker.Edge] says of a step, but for where it leads. It can be compared.
type Signature struct {
	kind        core.StepKind
	actor       *Actor
	item        *Item
	view        *view.View
	leaf        *behavior.Leaf
	late, wrote bool
}

// Signature returns that of a step, and false if there is more to say: what is chosen in it, or goes wrong.
func (w *Walker) Signature(t *Taken) (Signature, bool) {
	plain := t.plan.plain() && len(t.chosen)+len(t.positions)+len(t.lost) == 0
	return Signature{t.Kind, t.Actor, t.Item, t.View, t.Leaf, t.Late, w.Wrote}, plain
}

// Effect returns what the step changes that the walker has taken.
func (w *Walker) Effect(t *Taken) core.Effect {
	effect := core.Effect{Order: t.Step().Order, Changes: w.Changes(), Wrote: w.Wrote}
	if t.Leaf != nil {
		effect.Failed = errorOf(t.Leaf)
	}
	return effect
}

// Changes returns how the objects differ from the state the step began in.
func (w *Walker) Changes() []core.Change {
	var changes []core.Change
	seen := map[state.Cell]bool{}
	for _, t := range w.Touched {
		key, isObject := w.Machine.Vocabulary.Key(t.Cell)
		if !isObject || seen[t.Cell] {
			continue
		}
		seen[t.Cell] = true
		now := w.Vector[t.Cell]
		if now == t.Was {
			continue
		}
		change := core.Change{
			Key:    key,
			Before: w.Machine.Vocabulary.Content(t.Cell, t.Was),
			After:  w.Machine.Vocabulary.Content(t.Cell, now),
		}
		if w.Machine.Matters(core.Object{Key: key, Content: change.Before}) || w.Machine.Matters(core.Object{Key: key, Content: change.After}) {
			changes = append(changes, change)
		}
	}
	slices.SortFunc(changes, func(a, b core.Change) int { return a.Key.Compare(b.Key) })
	return changes
}
