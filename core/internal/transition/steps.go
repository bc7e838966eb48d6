package transition

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// visitor is shown the steps of a state.
type visitor interface {
	// took is called with the walker behind the step. It is taken back afterwards, unless there is an error: that ends
	// the visit.
	Took(*Taken) error
	// stopped is called when a step cannot be taken to its end. A nil error goes on with the next.
	Stopped(*Taken, error) error
}

// visit is the enumeration of the steps from a state, one of which is tried.
type visit struct {
	visitor visitor
	// only are the agents that are followed, by number; nil if all are.
	only []bool
	step Taken
	// due counts the steps that controllers take by themselves, those included that could not be taken to their ends,
	// and retries those that come to nothing: runs that are tried again later.
	due, retries int
	// begun are the items of which a run begins, where its calls are steps of their own, and flown those whose runs go
	// on, in flownBy steps.
	begun, flown []*Item
	flownBy      int
	// shown is where the step leads in the ways that were shown, if there are several.
	shown []ending
}

// Current returns the step that is tried.
func (w *Walker) Current() *Taken { return &w.visit.step }

// EndVisit forgets the visit of the steps from a state, and whom they were shown to.
func (w *Walker) EndVisit() { w.visit = visit{} }

// AddAgent notes in the midst of a visit that there is one agent more, which has nothing to do yet.
func (w *Walker) AddAgent() {
	if w.visit.only != nil {
		w.visit.only = append(w.visit.only, false)
	}
}

// Steps shows a visitor all steps from the state that the walker is in, in their fixed order, or those of some agents
// only. It returns whether the state is
// quiescent: controllers do nothing there but wait for timers.
func (w *Walker) Steps(visitor visitor, only []bool) (quiescent bool, err error) {
	w.visit, w.Retrying, w.Rests = visit{visitor: visitor, only: only}, false, false
	if w.Machine.lags {
		if err := w.deliveries(); err != nil {
			return false, err
		}
	}
	for _, it := range w.Machine.Items {
		if !w.follows(it.Agent) {
			continue
		}
		if err := w.work(it); err != nil {
			return false, err
		}
	}
	idle, err := w.idle()
	if err != nil {
		return false, err
	}
	if only != nil { // at least one of those that are followed is due
		if idle && w.visit.due > 0 {
			w.Retrying, err = w.othersIdle()
		}
		return false, err
	}
	quiescent = w.visit.due == 0
	if idle {
		if err := w.timers(); err != nil {
			return quiescent, err
		}
	}
	if int(w.Value(w.Machine.Crashes)) < w.Machine.Conditions.Crashes {
		for _, p := range w.Machine.Processes {
			if !p.fallible() {
				continue
			}
			for _, positions := range w.positions(p) {
				if err := w.try(Taken{Kind: core.Restart, Actor: p.Members[0], positions: positions}); err != nil {
					return quiescent, err
				}
			}
		}
	}
	return quiescent, nil
}

// timers tries what happens once controllers are idle: what comes with time, and what users do then.
func (w *Walker) timers() error {
	for _, it := range w.Machine.Items {
		fires := Taken{Kind: core.Fire, Actor: it.Actor, Item: it}
		if it.own == behavior.Waits {
			fires.Kind = core.Elapse
		} else if !w.timed(it) {
			continue
		}
		if err := w.try(fires); err != nil {
			return err
		}
	}
	if err := w.deadlines(); err != nil {
		return err
	}
	return w.settled()
}

// timed returns the value of the cell of an item of the actor once a timer is set for it: that which is due first fires.
func (a *Actor) timed(value state.Value, after time.Duration) state.Value {
	long, known := slices.BinarySearch(a.long, after)
	if known {
		long++
	}
	if value&state.Timed == 0 || long < value.Long() {
		value = value.SetFor(long)
	}
	return value | state.Timed
}

// comparesTimers reports whether it may matter for how long an actor sets timers.
func (l *Learner) comparesTimers(a *Actor) bool {
	return a.awaits && l.Searching && !a.untimed() && !slices.Contains(a.long, never)
}

// early reports whether the timer of an item cannot have fired yet: it is set for so long that what its controller waits
// for is over then, and it is not over, which makes a difference.
func (w *Walker) early(it *Item) (bool, error) {
	long := w.Value(it.Cell).Long()
	if long == 0 || w.Machine.Clock == nowhere || w.Machine.forks(it.Actor) {
		return false, nil
	}
	w.fire(it)
	leaf, err := w.reconcile(it, plan{})
	w.undo()
	w.beginStep()
	w.notes = w.notes[:0]
	if w.Listener != nil {
		w.Listener.Began()
	}
	if Ends(err) { // which is for the run itself to say
		err = nil
	}
	return err == nil && leaf != nil && 0 < leaf.Early && leaf.Early <= long, err
}

// follows reports whether the steps of an agent are shown.
func (w *Walker) follows(agent int) bool { return w.visit.only == nil || w.visit.only[agent] }

// deliveries tries what waits for views.
func (w *Walker) deliveries() error {
	for _, p := range w.Machine.Processes {
		for i, v := range p.Views {
			if v.Waiting(w.Value(v.Cell())) == 0 || !w.follows(p.Deliveries[i]) {
				continue
			}
			if err := w.try(Taken{Kind: core.Deliver, Actor: p.Members[0], View: v}); err != nil {
				return err
			}
		}
	}
	return nil
}

// work tries what can be done for an item.
func (w *Walker) work(it *Item) error {
	switch {
	case it.own == behavior.Waits:
		return nil // once nothing else can be done
	case it.own == behavior.Works:
		w.visit.step = Taken{Kind: core.Work, Actor: it.Actor, Item: it}
		return w.tryVariants()
	case it.Standing:
		w.visit.step = Taken{Kind: core.Act, Actor: it.Actor, Item: it}
		return w.tryVariants()
	case it.Actor.User:
		if !w.MayAct(it) {
			return nil
		}
		return w.intervene(it)
	case it.Actor.Atomic || w.Machine.Conditions.Granularity == PerReconcile:
		if !w.Pending(it) {
			return nil
		}
		w.visit.step = Taken{Kind: core.Reconcile, Actor: it.Actor, Item: it}
		return w.tryVariants()
	}
	if p := w.Flight(it); p != nil && !p.Blocked {
		if p.Node.Leaf != nil {
			return w.try(Taken{Kind: core.Return, Actor: it.Actor, Item: it})
		}
		w.visit.step = Taken{Kind: core.Ask, Actor: it.Actor, Item: it, node: p.Node}
		return w.tryVariants()
	}
	begin := Taken{Kind: core.Begin, Actor: it.Actor, Item: it}
	may, err := w.MayBegin(it)
	switch {
	case err != nil:
		w.visit.due++
		return w.visit.visitor.Stopped(&begin, err)
	case may:
		return w.try(begin)
	}
	return nil
}

// StepsOf shows a visitor the steps that can be taken for an item. It ends the visit with an error, and the walker is
// where it was.
func (w *Walker) StepsOf(visitor visitor, it *Item) error {
	w.visit = visit{visitor: visitor}
	err := w.work(it)
	if err != nil {
		w.undo()
	}
	return err
}

// Try takes a step from the state that the walker is in, shows it to a visitor, and takes it back.
func (w *Walker) Try(visitor visitor, step Taken) error {
	w.visit = visit{visitor: visitor}
	return w.try(step)
}

// try takes a step of the visit, shows it, and takes it back.
func (w *Walker) try(step Taken) error {
	w.visit.step = step
	return w.attempt()
}

// attempt tries the current step.
func (w *Walker) attempt() error {
	s := &w.visit.step
	s.Late = w.Machine.lags && w.late(s.Actor.Process) && s.Kind != core.Deliver && s.Kind != core.Restart
	if w.Learn != nil {
		w.Learn.Where.step = s
		w.Learn.Fresh = false
	}
	if w.Listener != nil {
		w.Listener.Began()
	}
	w.beginStep()
	var err error
	if w.Monitor != nil {
		err = w.Monitor.Before(s)
	}
	if err == nil {
		err = w.take(s)
	}
	if err == nil && !s.blocked {
		err = w.lookBack()
	}
	s.chosen = w.chosen
	s.Late = s.Late || len(w.missed) > 0
	if err == nil && w.Monitor != nil {
		err = w.Monitor.After(s)
	}
	if err != nil {
		w.undo()
		if s.due() {
			w.visit.due++
		}
		return w.visit.visitor.Stopped(s, err)
	}
	if s.blocked {
		return nil
	}
	if s.due() {
		w.visit.due++
		switch {
		case s.Kind == core.Begin:
			w.visit.begun = append(w.visit.begun, s.Item)
		case s.Kind == core.Ask, s.Kind == core.Return:
			if w.visit.flownBy++; !slices.Contains(w.visit.flown, s.Item) {
				w.visit.flown = append(w.visit.flown, s.Item)
			}
		case w.comesToNothing(s):
			w.visit.retries++
		}
	}
	if !w.again(s) {
		if err := w.visit.visitor.Took(s); err != nil {
			return err
		}
	}
	w.undo()
	return nil
}

// ending is where a step leads, and how.
type ending struct {
	row         []byte
	wrote, late bool
	failed      string
	again       bool
}

// equal reports whether two endings are the same.
func (e ending) equal(other ending) bool {
	return bytes.Equal(e.row, other.row) && e.wrote == other.wrote && e.late == other.late && e.failed == other.failed && e.again == other.again
}

// again reports whether another way of the step was shown before that comes to the same.
func (w *Walker) again(s *Taken) bool {
	if len(s.plan.faults) > 0 || s.Leaf == nil || s.plan.plain() && len(w.Reversed) == 0 {
		return false
	}
	e := ending{row: w.Vector.AppendRow(nil), wrote: w.Wrote, late: s.Late, failed: errorOf(s.Leaf), again: s.Leaf.Result.Requeue}
	if slices.ContainsFunc(w.visit.shown, e.equal) {
		return true
	}
	w.visit.shown = append(w.visit.shown, e)
	return false
}

// take takes a step.
func (w *Walker) take(s *Taken) error {
	switch s.Kind {
	case core.Deliver:
		if err := w.receive(s.Actor.Process, s.View); err != nil {
			return err
		}
		return w.normalize()
	case core.Fire:
		early, err := w.early(s.Item)
		if s.blocked = early; early || err != nil {
			return err
		}
		w.fire(s.Item)
		return nil
	case core.Pass:
		if err := w.alight(); err != nil {
			return err
		}
		return w.pass(s.span)
	case core.Expire:
		if err := w.alight(); err != nil {
			return err
		}
		w.expire(s.Item)
		return nil
	case core.Restart:
		err := w.restart(s.Actor.Process, s.positions)
		s.lost = w.released
		return err
	case core.Intervene:
		enabled, err := w.act(s.Item, s.plan)
		s.blocked = !enabled
		return err
	case core.Begin:
		return w.begin(s.Item)
	case core.Return:
		leaf, err := w.land(s.Item)
		s.Leaf = leaf
		return err
	case core.Ask:
		if len(s.plan.faults) > 0 {
			w.Set(w.Machine.Failures, w.Value(w.Machine.Failures)+1)
		}
		return w.ask(s.Item, s.plan)
	}
	var leaf *behavior.Leaf
	var err error
	if s.plan.plain() {
		leaf, err = w.finish(s.Item)
	} else {
		leaf, err = w.reconcile(s.Item, s.plan)
	}
	if err != nil {
		return err
	}
	if leaf == nil {
		s.blocked = true
		return nil
	}
	s.Leaf = leaf
	for _, m := range s.plan.faults {
		if m.fault != crash {
			w.Set(w.Machine.Failures, w.Value(w.Machine.Failures)+1)
		}
	}
	if leaf.Failure == behavior.CutOff {
		s.Leaf = nil
		return w.restart(s.Actor.Process, s.positions)
	}
	return nil
}

// errChosen ends the visit of a chooser.
var errChosen = errors.New("the step is chosen")

// chooser takes one step out of all.
type chooser struct {
	want   core.Step
	chosen *Taken
	err    error
}

// Took implements [Visitor].
func (c *chooser) Took(t *Taken) error {
	if t.Step() != c.want {
		return nil
	}
	chosen := *t
	c.chosen = &chosen
	return errChosen
}

// Stopped implements [Visitor]. How other steps end makes no difference, but what was not known of the code of one of
// them is known of all its runs from then on.
func (c *chooser) Stopped(t *Taken, err error) error {
	switch {
	case t.Step() == c.want:
		c.err = err
		return errChosen
	case ofCode(err):
		return err
	}
	return nil
}

// Choose takes the step of that name, and returns nil if there is none. The error is why it cannot be taken to its end.
func (w *Walker) Choose(step core.Step) (*Taken, error) {
	c := &chooser{want: step}
	if _, err := w.Steps(c, nil); err != nil && !errors.Is(err, errChosen) {
		return nil, err
	}
	return c.chosen, c.err
}

// Retake is as [Walker.Choose] for a step that was taken before: nobody else is asked for what he would do.
func (w *Walker) Retake(step core.Step) (*Taken, error) {
	a, err := w.Machine.Actor(step.Item.Strategy)
	if err != nil || a.items[step.Item.Request] == nil {
		return w.Choose(step) // of a process, or of time
	}
	c := &chooser{want: step}
	w.visit = visit{visitor: c}
	if err := w.work(a.items[step.Item.Request]); err != nil && !errors.Is(err, errChosen) {
		return nil, err
	}
	if c.chosen == nil && c.err == nil {
		return w.Choose(step) // a timer
	}
	return c.chosen, c.err
}

// Probe runs a request that nothing asks for, and returns nil if it is not possible.
func (w *Walker) Probe(step core.Step) (*Taken, error) {
	if step.Kind != core.Reconcile || step.Detail != "" {
		return nil, nil
	}
	a, err := w.Machine.Actor(step.Item.Strategy)
	if err != nil {
		return nil, err
	}
	var chosen *Taken
	err = w.EachOrder(w.Machine.Item(a, step.Item.Request), func(t *Taken) bool {
		if t.Step().Order == step.Order {
			chosen = t
		}
		return chosen == nil
	})
	return chosen, err
}

// errorOf returns the error that a run ended with, empty if none.
func errorOf(leaf *behavior.Leaf) string {
	switch {
	case leaf.Failure != behavior.None:
		return leaf.String()
	case leaf.Result.Err != nil:
		return leaf.Result.Err.Error()
	}
	return ""
}
