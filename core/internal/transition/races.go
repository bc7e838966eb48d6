package transition

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// DefaultOrders is in how many orders the concurrent calls of a run are answered at most, if nothing else is said: all orders of four.
const DefaultOrders = 24

// orders returns in how many orders the concurrent calls of a run are answered at most.
func (c Conditions) orders() int {
	if c.Orders == 0 {
		return DefaultOrders
	}
	return c.Orders
}

// reversed is a plan in which two concurrent calls that do not commute are answered in the other order.
type reversed struct {
	plan
	behavior.Reversal
}

// races finds the other orders in which the concurrent calls of a run as planned may be answered. Orders that differ only in calls that
// commute come to the same.
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

// commuting returns what reports whether it does not matter in which order two concurrent calls of an actor's run are answered.
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

// waited notes that a run is blocked in one of the ways in which its calls may be answered, so that it is not seen where it may crash there.
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

// EachOrder runs an item from its beginning to its end, as one step without faults, in each order of its concurrent calls that matters. It
// calls a function while the walker is where the step leads, unless that is blocked, and stays there if the function returns false.
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
		w.Reversed = w.Reversed[:0]
		leaf, err := w.reconcile(it, found.plans[i])
		if err != nil {
			return err
		}
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
		alike := 0
		for _, p := range o.plans {
			if p.alike(r.plan) {
				alike++
			}
		}
		if alike >= w.Machine.Conditions.orders() {
			if err := w.raced(it.Actor, it.Actor.reconciling(it.Request, nil, moment{}), r.Reversal); err != nil {
				return err
			}
			continue
		}
		o.plans = append(o.plans, r.plan)
	}
	return nil
}

// overtake finds out for the concurrent calls of a new path which later ones can be answered before, and whether the code heeds that: it
// may go on with what comes first.
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
