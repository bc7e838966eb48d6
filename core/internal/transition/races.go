package transition

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// DefaultOrders is in how many orders the concurrent calls of a run are answered at most, if nothing else is said: all
// orders of four.
const DefaultOrders = 24

// orders returns in how many orders the concurrent calls of a run are answered at most.
func (c Conditions) orders() int {
	if c.Orders == 0 {
		return DefaultOrders
	}
	return c.Orders
}

// pick is the choice of another one than the first of several concurrent calls.
type pick struct {
	// call is the number of the call, from 0.
	call int
	node *behavior.Node
}

// String says the turn in the user's words.
func (t pick) String() string {
	return fmt.Sprintf("call %d is %q, the %s of %d that wait at the same time", t.call+1, t.node.Call.String(), ordinal(t.node.Turn()+1), len(t.node.Turns))
}

// ordinal returns a number as the place in an order.
func ordinal(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}

// turn returns the turn of a call that comes at a node.
func (p plan) turn(call int, node *behavior.Node) *behavior.Node {
	for _, t := range p.turns {
		if t.call == call {
			return t.node
		}
	}
	return node
}

// upTo returns what is planned before a call.
func (p plan) upTo(call int) plan {
	q := plan{backwards: p.backwards}
	for _, earlier := range p.ways {
		if earlier.call < call {
			q.ways = append(q.ways, earlier)
		}
	}
	for _, earlier := range p.turns {
		if earlier.call < call {
			q.turns = append(q.turns, earlier)
		}
	}
	for _, earlier := range p.faults {
		if earlier.call < call {
			q.faults = append(q.faults, earlier)
		}
	}
	for _, earlier := range p.abreast {
		if earlier < call {
			q.abreast = append(q.abreast, earlier)
		}
	}
	return q
}

// turning returns what is planned up to a turn, with the turn, and where chance leads right before it. The first of the
// turns is chosen without one.
func (p plan) turning(t pick) plan {
	q := p.upTo(t.call)
	q.ways = append(q.ways, p.waysAt(t.call)...)
	if t.node != t.node.Point() {
		q.turns = append(q.turns, t)
	}
	return q
}

// waysAt is where chance leads right before a call.
func (p plan) waysAt(call int) []choice {
	return slices.DeleteFunc(slices.Clone(p.ways), func(way choice) bool { return way.call != call })
}

// reversed is a plan in which two concurrent calls that do not commute are answered in the other order.
type reversed struct {
	plan
	behavior.Reversal
}

// races finds the other orders in which the concurrent calls of a run as planned may be answered. Orders that differ
// only in calls that commute come to the same.
func (w *Walker) races(a *Actor, activation behavior.Activation, p plan, leaf *behavior.Leaf) error {
	if len(w.made) < 2 {
		return nil
	}
	reversals := behavior.Reversals(w.made, leaf, w.commuting(a))
	if w.unsure {
		w.unsure = false
		return ErrUnknown
	}
	for _, r := range reversals {
		if r.Turn == nil || activation.Event != nil || w.Machine.Conditions.orders() == 1 {
			if err := w.raced(a, activation, r); err != nil {
				return err
			}
			continue
		}
		w.Reversed = append(w.Reversed, reversed{p.turning(pick{call: r.Call, node: r.Turn}), r})
	}
	return nil
}

// commuting returns what reports whether it does not matter in which order two concurrent calls of an actor's run are
// answered.
func (w *Walker) commuting(a *Actor) func(one, other behavior.Made) bool {
	crashes := a.fallible && int(w.Value(w.Machine.Crashes)) < w.Machine.Conditions.Crashes
	return func(one, other behavior.Made) bool {
		switch {
		case crashes && one.Effects() && other.Effects():
			return false // after a crash in between, there is the one without the other
		case w.Machine.lags && (w.sameKind(one, other) || w.sameKind(other, one)):
			return false // views are told of the changes of a kind in their order
		}
		return behavior.Commute(one, other, w.selects)
	}
}

// selects reports whether a value of a cell is selected.
func (w *Walker) selects(s *state.Selection, c state.Cell, value state.Value) bool {
	selected, known := s.Selected(c, value)
	switch {
	case known:
		return selected
	case w.Learn != nil:
		return w.Machine.Vocabulary.Evaluate(s, c, value)
	}
	w.unsure = true
	return true
}

// sameKind reports whether a call writes objects of a kind of which another one reads or writes any.
func (w *Walker) sameKind(one, other behavior.Made) bool {
	kinds := map[core.Kind]bool{}
	for _, answered := range other.Answers {
		for _, also := range answered.Writes {
			kinds[also.Key.Kind] = true
		}
		for _, r := range answered.Reads {
			if r.Listed {
				kinds[r.Kind] = true
			} else if key, isObject := w.Machine.Vocabulary.Key(r.Cell); isObject {
				kinds[key.Kind] = true
			}
		}
	}
	return slices.ContainsFunc(one.Answers, func(answered *behavior.Answered) bool {
		return slices.ContainsFunc(answered.Writes, func(written behavior.Write) bool { return kinds[written.Key.Kind] })
	})
}

// raced notes that an actor makes concurrent calls that are not answered in an order that may matter.
func (w *Walker) raced(a *Actor, activation behavior.Activation, r behavior.Reversal) error {
	advice := "Raise --orders (Options.Orders)"
	switch {
	case activation.Event != nil: // whose calls are answered in one order in any case
		advice = "Make one call after the other"
	case w.Machine.Conditions.orders() == 1:
		advice = "Leave out --orders 1 (Options.Orders)"
	case r.Turn == nil:
		advice = "Make one call after the other"
	}
	return w.doubt(&a.raced, "%s makes concurrent calls whose order matters, %s: %q and %q were not answered in every order. %s, or make the calls independent of what the other writes",
		a.Name, activation, r.First, r.Second, advice)
}

// waited notes that a run is blocked in one of the ways in which its calls may be answered, so that it is not seen
// where it may crash there.
func (w *Walker) waited(step Taken) error {
	return w.doubt(&step.Actor.waited, "%s is blocked after some orders or failures of its concurrent calls, %s: crashes in those cases were not searched. Make one call after the other, or leave out --crashes (Options.Crashes)",
		step.Actor.Name, step.Actor.reconciling(step.Item.Request, nil, moment{}))
}

// doubt notes what of the code of an actor is not searched, unless that is known.
func (w *Walker) doubt(known *bool, format string, args ...any) error {
	switch {
	case *known:
	case w.Learn != nil:
		*known = true
		w.Machine.doubt(format, args...)
	case w.Ahead:
		return ErrUnknown // the searching goroutine has to note it
	}
	return nil
}

// EachOrder runs an item from its beginning to its end, as one step without faults, in each order of its concurrent
// calls that matters. It calls a function while the walker is where the step leads, unless that is blocked, and stays
// there if the function returns false.
func (w *Walker) EachOrder(it *Item, took func(*Taken) bool) error {
	found := orders{plans: []plan{{}}}
	for i := 0; i < len(found.plans); i++ {
		w.visit.step = Taken{Kind: core.Reconcile, Actor: it.Actor, Item: it, plan: found.plans[i]}
		if w.Learn != nil {
			w.Learn.Where.step = &w.visit.step
		}
		if w.Listener != nil {
			w.Listener.Began()
		}
		w.beginStep()
		leaf, err := w.reconcile(it, found.plans[i])
		if err != nil {
			return err
		}
		w.visit.step.chosen = w.chosen
		if leaf != nil {
			w.visit.step.Leaf = leaf
			if !took(&w.visit.step) {
				return nil
			}
			w.undo()
		}
		if err := found.add(w, it); err != nil {
			return err
		}
	}
	return nil
}

// orders are the plans of the orders in which the concurrent calls of a run are answered, as they are found.
type orders struct {
	plans []plan
}

// add adds the orders that the last run of the walker asks for, as far as there may be so many with the same faults.
func (o *orders) add(w *Walker, it *Item) error {
	found := w.Reversed
	w.Reversed = w.Reversed[:0]
	for _, r := range found {
		if slices.ContainsFunc(o.plans, r.plan.equal) {
			continue
		}
		alike, most, back := 0, w.Machine.Conditions.orders(), len(r.abreast) > 0
		if back {
			most = mostReadBack
		}
		for _, p := range o.plans {
			if p.alike(r.plan) && back == (len(p.abreast) > 0) {
				alike++
			}
		}
		a, about, err := it.Actor, it.Actor.reconciling(it.Request, nil, moment{}), error(nil)
		switch {
		case alike < most:
			o.plans = append(o.plans, r.plan)
		case back:
			err = w.doubt(&a.readsBack, "%s reads what it has written back through its cache so often that not all ways are searched in which the cache has received it by then, %s: go on with what the write returns", a.Name, about)
		case len(r.ways) > 0:
			err = w.doubt(&a.wanders, "%s goes more ways by chance than are searched, %s: raise --orders (Options.Orders), or sort what is taken out of a map", a.Name, about)
		default:
			err = w.raced(a, about, r.Reversal)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// overtake finds out for the concurrent calls of a new path which later ones can be answered before, and whether the
// code heeds that: it may go on with what comes first.
func (l *Learner) overtake(a *Actor, run behavior.Run) error {
	if l.Fickle(a) {
		return nil
	}
	overtaking := map[int]behavior.Overtaking{}
	for i, edge := range run.Path {
		if len(edge.From.Parked) == 0 {
			continue
		}
		session, err := l.Open(a, run.Activation.Since)
		if err != nil {
			return err
		}
		l.count(run.Activation)
		o, err := session.Postpone(l.Context, run, i)
		session.Abort()
		if err != nil {
			return err
		}
		overtaking[i] = o
	}
	run.Leaf.Overtaking = overtaking
	return nil
}

// Caches keep objects in maps, so that they list them in an order that says nothing, and that is another one each time.
// A store answers in the order of their keys. So each new path is audited with what its caches list in the opposite
// order. Who does something else then is given both in the search: all lists of a run from caches in the one order, and
// all of them in the other.

// listedBackwards says in a step that caches list objects in the opposite order.
const listedBackwards = "caches list objects in the opposite order"

// plain reports whether nothing but what comes first is chosen.
func (p plan) plain() bool {
	return !p.backwards && len(p.ways)+len(p.turns)+len(p.faults)+len(p.abreast) == 0
}

// turned returns the node at which a call of a run as planned is answered, nil if it is not known.
func (w *Walker) turned(a *Actor, node *behavior.Node, p plan) *behavior.Node {
	if !p.backwards || node.Call.Source() != core.Cached || len(node.Turns) > 0 {
		return node
	}
	if node.Backwards() == nil && w.Learn != nil {
		if other := node.TurnRound(); a.fallible {
			w.Learn.fail(other)
		}
	}
	return node.Backwards()
}

// backwards returns an answer to a call as it comes in the opposite order, and whether it does: else it is the answer.
func backwards(call core.Call, response core.Response) (other core.Response, turned bool) {
	if listing, ok := response.(core.Listing); ok && call.Source() == core.Cached {
		if other = listing.Backwards(); other != nil {
			return other, true
		}
	}
	return response, false
}

// turns returns the answer to a call at a node of a run, in the order that the node asks for, and reports whether it
// may come in another one that makes a difference. Of event handlers, that is only audited.
func (l *Learner) turns(a *Actor, activation behavior.Activation, node *behavior.Node, response core.Response) (core.Response, bool) {
	switch {
	case node.IsBackwards():
		other, _ := backwards(node.Call, response)
		return other, false
	case activation.Event != nil, len(node.Turns) > 0, !l.Machine.heedsLists(a):
		return response, false
	}
	_, turns := backwards(node.Call, response)
	return response, turns
}

// mayTurn reports whether the answers that were given in a step, from one on, may come in another order that makes a
// difference.
func (w *Walker) mayTurn(from int) bool {
	return slices.ContainsFunc(w.Asked[from:], func(a *behavior.Answered) bool { return a.Turns })
}

// heedsOrder finds out whether it makes a difference to a new path in which order caches list objects. It ends a search
// in which that was not known. Who puts objects in the order of their ages falls back on that of a list only where some
// have the same age, as all may have here that were created minutes apart: of him, it is a doubt.
func (l *Learner) heedsOrder(a *Actor, run behavior.Run) error {
	name := a.Strategy.Describe().Name
	if a.User || l.Fickle(a) || l.Machine.heedsLists(a) {
		return nil
	}
	path, turned := slices.Clone(run.Path), false
	for i, edge := range path {
		if other, turns := backwards(edge.From.Call, edge.Response); turns {
			path[i], turned = &behavior.Edge{From: edge.From, Response: other, To: edge.To}, true
		}
	}
	if !turned {
		return nil
	}
	divergence, err := l.anew(a, behavior.Run{Activation: run.Activation, Path: path, Leaf: run.Leaf}.Beside(), 1, 0)
	switch {
	case divergence == nil || err != nil:
		return err
	case slices.Contains(l.Machine.Comparing, name):
		l.Machine.doubtFirst(a.Name+" falls back on the order in which its cache lists objects,", "which is another one each time, where some of them were created in the same second, %s, now: %s; in the opposite order: %s. What comes of that was not searched: let it decide by their names where they are equally old",
			run.Activation, divergence.Recorded, divergence.Observed)
		return nil
	case (l.Searching || l.Following) && run.Activation.Own == behavior.Asked && run.Activation.Event == nil:
		return &unexpectedHeed{name}
	}
	l.Machine.doubtFirst(a.Name+" heeds in which order its cache lists objects,", "which is another one each time, %s, now: %s; in the opposite order: %s. What comes of that was not searched: sort what is listed",
		run.Activation, divergence.Recorded, divergence.Observed)
	return nil
}

// heedsLists reports whether an actor is known to heed in which order its caches list objects.
func (m *Machine) heedsLists(a *Actor) bool {
	return slices.Contains(m.Conditions.Heeding, a.Strategy.Describe().Name)
}

// Heeding names the controllers that are known to heed in which order their caches list objects, in the order of the
// system.
func (m *Machine) Heeding() []string { return m.strategies(m.heedsLists) }

// Forking names the controllers of which it is searched what they do by chance, in the order of the system.
func (m *Machine) Forking() []string {
	return m.strategies(m.forks)
}

// forks reports whether an actor is known to do one thing or another by chance, which is searched as far as it can be.
func (m *Machine) forks(a *Actor) bool {
	return slices.Contains(m.Conditions.Forking, a.Strategy.Describe().Name)
}

// unexpectedHeed is a controller that heeds in which order its caches list objects.
type unexpectedHeed struct{ Controller string }

// Error implements error.
func (u *unexpectedHeed) Error() string {
	return u.Controller + " heeds in which order its cache lists objects"
}

func (u *unexpectedHeed) expect(c *Conditions) bool { return added(&c.Heeding, u.Controller) }

// A cache may have received what a run has written by the time at which the run reads it back, or may not yet, and does
// one thing or the other each time. Where a reconcile is a step of its own, nothing is delivered in its midst but what
// must be. So each call that is answered without what the run has written is answered with it, too.

// mostReadBack is in how many of these ways a run goes at most: six reads, each of which the cache may have caught up
// with or not.
const mostReadBack = 64

// behindItself returns the views of a process that do not show of some reads what was written in this step.
func (w *Walker) behindItself(p *Process, reads []behavior.Read) []*view.View {
	if !w.Wrote {
		return nil
	}
	var behind []*view.View
	for _, t := range w.Touched {
		key, isObject := w.Machine.Vocabulary.Key(t.Cell)
		if !isObject {
			continue
		}
		v := p.view(key.Kind)
		if v == nil || slices.Contains(behind, v) || v.Shown(w.Value(v.Cell()), t.Cell, w.Value(t.Cell)) == w.Value(t.Cell) {
			continue
		}
		if slices.ContainsFunc(reads, func(r behavior.Read) bool { return r.Covers(t.Cell, key) }) {
			behind = append(behind, v)
		}
	}
	return behind
}

// mayCatchUp adds the plans in which a cache has received what the run had written before one of the calls that it
// answered without, from the last one on that is planned.
func (w *Walker) mayCatchUp(p plan) {
	for _, call := range w.missed {
		if call >= p.free() {
			q := p.upTo(call)
			q.ways = append(q.ways, p.waysAt(call)...)
			q.turns = append(q.turns, slices.DeleteFunc(slices.Clone(p.turns), func(t pick) bool { return t.call != call })...)
			q.abreast = append(q.abreast, call)
			w.Reversed = append(w.Reversed, reversed{plan: q})
		}
	}
}

// Contends reports whether the step asks for another way in which not the same calls come in the same order.
func (w *Walker) Contends() bool {
	return slices.ContainsFunc(w.Reversed, func(r reversed) bool { return len(r.abreast) == 0 })
}
