package transition

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// plan says what is chosen in a run where there is a choice: which of several concurrent calls is answered next, and
// what goes wrong. Without a choice the one with the lowest identity is, and nothing does. Both are in the order of the
// calls.
type plan struct {
	turns  []pick
	faults []injectedFault
	// ways are where chance leads, if not by the first of several ways.
	ways []choice
	// backwards tells that caches list objects in the opposite order.
	backwards bool
	// abreast are the numbers of the calls that a cache answers once it has received what the run has written. It has
	// not otherwise, if its view may lag behind.
	abreast []int
}

// injectedFault is a fault within a run.
type injectedFault struct {
	// call is the number of the call that it happens at, from 0.
	call int
	// fault is which of the faults of the call it is; crash if the controller crashes before it.
	fault int
	// node is where the call is made, and after where the last call before it that had an effect was.
	node, after *behavior.Node
}

// crash is the fault of a controller that crashes before a call, and harmless that nothing goes wrong.
const (
	crash    = -1
	harmless = -2
)

// String says the fault in the user's words.
func (m injectedFault) String() string {
	if m.fault == crash {
		return fmt.Sprintf("it crashes after %q and before call %d, %q, and starts again", m.after.Call.String(), m.call+1, m.node.Call.String())
	}
	return fmt.Sprintf("call %d, %q, fails: %s", m.call+1, m.node.Call.String(), m.node.Faults[m.fault].Name)
}

// fault returns how a call fails, or crash, or harmless.
func (p plan) fault(call int) int {
	for _, m := range p.faults {
		if m.call == call {
			return m.fault
		}
	}
	return harmless
}

// free returns the number of the first call at which something may go wrong besides what is planned: what goes wrong
// before is planned elsewhere.
func (p plan) free() int {
	first := 0
	if n := len(p.faults); n > 0 {
		first = p.faults[n-1].call + 1
	}
	if n := len(p.turns); n > 0 {
		first = max(first, p.turns[n-1].call)
	}
	if n := len(p.ways); n > 0 {
		first = max(first, p.ways[n-1].call)
	}
	if n := len(p.abreast); n > 0 {
		first = max(first, p.abreast[n-1])
	}
	return first
}

// failing returns the plan with one more fault.
func (p plan) failing(m injectedFault) plan {
	p.faults = append(slices.Clip(p.faults), m)
	return p
}

// equal reports whether two plans are the same. A call that is answered in another order is another node.
func (p plan) equal(other plan) bool {
	return p.backwards == other.backwards && slices.Equal(p.abreast, other.abreast) && slices.Equal(p.ways, other.ways) && slices.Equal(p.turns, other.turns) && slices.Equal(p.faults, other.faults)
}

// alike reports whether two plans let the same calls fail in the same ways.
func (p plan) alike(other plan) bool {
	return slices.EqualFunc(p.faults, other.faults, func(a, b injectedFault) bool {
		return a.fault == b.fault && a.node.Call.Identity() == b.node.Call.Identity()
	})
}

// tryVariants tries the current step with concurrent calls answered in all orders that matter, and without and with
// faults as far as the budgets go.
func (w *Walker) tryVariants() error {
	v := variants{Walker: w}
	if w.visit.step.Actor.fallible {
		v.failures = w.Machine.Conditions.Failures - int(w.Value(w.Machine.Failures))
		v.crashes = w.Machine.Conditions.Crashes - int(w.Value(w.Machine.Crashes))
	}
	if w.visit.step.Kind == core.Ask {
		return v.ask(w.visit.step)
	}
	w.visit.shown = w.visit.shown[:0]
	w.noted, w.notes = v.failures > 0 || v.crashes > 0, w.notes[:0]
	defer func() { w.noted = false }()
	step := w.visit.step // as it is before it is taken: blocked or not, for one
	if err := w.attempt(); err != nil || !w.noted && len(w.Reversed) == 0 {
		return err
	}
	return v.all(step)
}

// variants are the ways in which a step may go.
type variants struct {
	*Walker
	orders            orders
	failures, crashes int
}

// all tries all ways but the first, which was just taken.
func (v *variants) all(step Taken) error {
	v.orders.plans = []plan{{}}
	for i := 0; i < len(v.orders.plans); i++ {
		step.plan = v.orders.plans[i]
		if i > 0 {
			v.notes = v.notes[:0]
			if err := v.try(step); err != nil {
				return err
			}
		}
		if err := v.faulty(step); err != nil {
			return err
		}
	}
	return nil
}

// ask tries a single call without and with faults, and each of several concurrent ones.
func (v *variants) ask(step Taken) error {
	p := v.Flight(step.Item)
	number := len(p.Path)
	turns := p.Node.Turns
	if len(turns) > 0 && p.orders() > v.Machine.Conditions.orders() {
		r := behavior.Reversal{Call: number, Turn: turns[1], First: turns[0].Call, Second: turns[1].Call}
		if err := v.raced(step.Actor, step.Actor.reconciling(step.Item.Request, nil, moment{}), r); err != nil {
			return v.visit.visitor.Stopped(&step, err)
		}
		turns = nil
	}
	if len(turns) == 0 {
		turns = []*behavior.Node{p.Node}
	}
	for _, node := range turns {
		step.plan = plan{}.turning(pick{call: number, node: node})
		if err := v.try(step); err != nil {
			return err
		}
		turns := v.mayTurn(0)
		if v.failures > 0 {
			for fault := range node.Faults {
				failing := step
				failing.plan = step.plan.failing(injectedFault{call: number, fault: fault, node: node})
				if err := v.try(failing); err != nil {
					return err
				}
			}
		}
		if turns {
			step.plan = plan{backwards: true}
			if err := v.try(step); err != nil {
				return err
			}
		}
	}
	return nil
}

// faulty tries the reconcile that was just taken with one more fault than it has, at a later call; and so on as far as
// the budgets go. One that is blocked is not under way, so that it cannot be cut off by a crash.
func (v *variants) faulty(step Taken) error {
	if err := v.orders.add(v.Walker, step.Item); err != nil {
		return v.visit.visitor.Stopped(&step, err)
	}
	if !v.noted {
		return nil
	}
	notes, blocked := append([]callNote(nil), v.notes...), v.visit.step.blocked
	if blocked && v.crashes > 0 && len(v.orders.plans) > 1 {
		if err := v.waited(step); err != nil {
			return v.visit.visitor.Stopped(&step, err)
		}
	}
	failures := v.failures - len(step.plan.faults)
	first := step.plan.free()
	var last *behavior.Node // that had an effect
	for call, note := range notes {
		if v.crashes > 0 && !blocked && call >= first && last != nil && note.effected {
			if err := v.crash(step, injectedFault{call: call, fault: crash, node: note.node, after: last}); err != nil {
				return err
			}
		}
		if note.effected {
			last = note.node
		}
		if failures <= 0 || call < first {
			continue
		}
		for fault := range note.node.Faults {
			failing := step
			failing.plan = step.plan.failing(injectedFault{call: call, fault: fault, node: note.node})
			v.notes = v.notes[:0]
			if err := v.try(failing); err != nil {
				return err
			}
			if blocked && v.crashes > 0 && !v.visit.step.blocked {
				if err := v.waited(step); err != nil {
					return v.visit.visitor.Stopped(&step, err)
				}
			}
			if err := v.faulty(failing); err != nil {
				return err
			}
		}
	}
	return nil
}

// crash tries a reconcile that a crash cuts off, with every way in which the controller may start again.
func (v *variants) crash(step Taken, m injectedFault) error {
	step.plan = step.plan.failing(m)
	// Where its views can be then depends on what the run wrote.
	if _, err := v.reconcile(step.Item, step.plan); err != nil {
		v.undo()
		return v.visit.visitor.Stopped(&step, err)
	}
	combinations := v.positions(step.Actor.Process)
	v.undo()
	for _, positions := range combinations {
		step.positions = positions
		if err := v.try(step); err != nil {
			return err
		}
	}
	return nil
}

// fail finds out how the call of a node may fail. What is read from a cache cannot.
func (l *Learner) fail(node *behavior.Node) {
	if node.Call == nil || l.Machine.Conditions.Failures == 0 || node.Call.Source() == core.Cached {
		return
	}
	for _, f := range l.Machine.System.Store.Faults(node.Call) {
		l.Machine.Fails = true
		node.Faults = append(node.Faults, behavior.Fault{Name: f.Name, Edge: node.Respond(f.Response), Commits: f.Commits, Overtaken: f.Overtaken})
	}
}

// overtaken are the objects that somebody else has written before a call which fails because of that, as they are.
func (w *Walker) overtaken(fault *behavior.Fault) []behavior.Write {
	var writes []behavior.Write
	for _, key := range fault.Overtaken {
		if len(w.Machine.watchers[key.Kind]) == 0 {
			continue
		}
		if c, known := w.Machine.Vocabulary.Lookup(key); known && w.Value(c) != 0 {
			writes = append(writes, behavior.Write{Cell: c, Key: key, To: w.Value(c)})
		}
	}
	return writes
}

// spare notes that nothing goes wrong at the call of a node that event handlers make: they run in the step that changes
// what they handle.
func (l *Learner) spare(a *Actor, activation behavior.Activation, node *behavior.Node) {
	c := l.Machine.Conditions
	if node.Call == nil || node.Call.Source() == core.Cached || c.Failures+c.Crashes == 0 {
		return
	}
	faults := l.Machine.System.Store.Faults(node.Call)
	if c.Failures > 0 && len(faults) > 0 || c.Crashes > 0 && slices.ContainsFunc(faults, func(f core.Fault) bool { return f.Commits }) {
		l.Machine.doubtFirst(a.Name+" asks the API in its event handlers", "(%s: %s), which nobody repeats: that such a call fails, that it crashes there, or that it misses the event as it does not run, was not searched. Have a handler enqueue a request, and ask in the reconcile",
			activation, node.Call)
	}
}

// Faulty reports whether there may still be faults.
func (w *Walker) Faulty() bool {
	c := w.Machine.Conditions
	return int(w.Value(w.Machine.Crashes)) < c.Crashes || int(w.Value(w.Machine.Failures)) < c.Failures
}

// positions returns all combinations of positions at which a restart may put the views of a process, in changes
// behind the store: the newest first.
func (w *Walker) positions(p *Process) [][]int {
	combinations := [][]int{nil}
	for _, v := range p.Views {
		var longer [][]int
		for _, c := range combinations {
			for behind := range v.Positions(w.Value(v.Cell())) {
				longer = append(longer, append(slices.Clip(c), behind))
			}
		}
		combinations = longer
	}
	return combinations
}

// restart crashes a process and starts it again: its memory, its work, its timers and its runs in flight are lost, its
// views are where the positions say, and its handlers get all objects as at the start.
func (w *Walker) restart(p *Process, positions []int) error {
	w.Set(w.Machine.Crashes, w.Value(w.Machine.Crashes)+1)
	for _, it := range w.Machine.Items {
		if it.Actor.Process != p || it.Standing {
			continue
		}
		if at := w.Flight(it); at != nil {
			w.released = append(w.released, at)
		}
		w.Set(it.Cell, 0)
	}
	for i, v := range p.Views {
		after, known := v.Restarted(w.Value(v.Cell()), positions[i])
		if !known {
			if w.Learn == nil {
				return ErrUnknown
			}
			after = v.Restart(w.Value(v.Cell()), positions[i])
		}
		w.Set(v.Cell(), after)
		if w.Listener != nil {
			w.Listener.Refreshed(v, nil)
		}
	}
	if err := w.Relist(p); err != nil {
		return err
	}
	return w.normalize()
}

// Relist starts a process: it remembers nothing, the handlers of each controller in it get a create event for every
// object of the kinds it watches, and its initial requests are queued.
func (w *Walker) Relist(p *Process) error {
	for _, d := range p.domains {
		for _, its := range d.parts {
			w.Set(its.cell, 0)
		}
	}
	for _, a := range p.Members {
		if err := w.relist(a); err != nil {
			return err
		}
	}
	return nil
}

func (w *Walker) relist(a *Actor) error {
	for _, request := range a.Initial {
		if it := w.Machine.Item(a, request); !it.Standing {
			w.mark(it.Cell, state.Queued)
		}
	}
	client := w.clients[a.Index]
	for _, kind := range a.Watches {
		for _, c := range w.Machine.Vocabulary.Kind(kind) {
			value := client.Value(c)
			if value == 0 {
				continue
			}
			d, err := w.delivery(c, transition{to: value, initial: true})
			if err != nil {
				return err
			}
			for i := range *d {
				if (*d)[i].actor != a {
					continue
				}
				if err := w.handle((*d)[i:i+1], nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// misses finds out whether event handlers do something else about a deletion if the watch was broken when it happened:
// they get what was known last, in another form. Where caches may be late, they may be so.
func (l *Learner) misses(a *Actor, run behavior.Run) error {
	e := run.Activation.Event
	if e == nil || e.New != nil || e.Missed || !l.Machine.lags || a.User || l.Fickle(a) {
		return nil
	}
	missed := *e
	missed.Missed = true
	runs := upTo(run)
	runs[len(runs)-1].Activation.Event = &missed
	divergence, err := l.otherwise(a, runs, behavior.Renamed{Names: core.NewRetagging(nil)}, nil)
	if divergence != nil {
		l.Machine.doubtFirst(a.Name+" does something else about a deletion", "that it gets as cache.DeletedFinalStateUnknown, as after a broken watch: %s, else: %s; then: %s. Search that with the staleness rule relist, and look into what such a value holds", run.Activation, divergence.Recorded, divergence.Observed)
	}
	return err
}

// viewAt returns the view of a cell, nil for any other cell.
func (m *Machine) viewAt(c state.Cell) *view.View {
	for _, p := range m.Processes {
		for _, v := range p.Views {
			if v.Cell() == c {
				return v
			}
		}
	}
	return nil
}

// Start puts the walker in an initial state, in its canonical form: the objects, what processes that are at work were
// doing, and what the others make of the initial list.
func (w *Walker) Start(initial core.Initial) error {
	w.Load(nil)
	vocabulary := w.Machine.Vocabulary
	for _, object := range initial.Objects {
		c := vocabulary.Object(object.Key)
		value := vocabulary.Intern(c, object.Content)
		if initial.Underway == nil {
			value = vocabulary.Normalized(c, value)
		} // otherwise together with the versions that caches show
		w.Set(c, value)
	}
	for _, p := range w.Machine.Processes {
		if err := w.startProcess(p, initial.Underway); err != nil {
			return err
		}
	}
	return w.normalize()
}

// startProcess starts a process, or puts it where it was if it has been at work.
func (w *Walker) startProcess(p *Process, underway *core.Underway) error {
	at := -1
	if underway != nil {
		at = slices.IndexFunc(underway.Processes, func(one core.AtWork) bool { return one.Process == p.Name })
	}
	if at < 0 {
		return w.Relist(p)
	}
	w.leaveBehind(p, underway.Processes[at].Behind)
	if p.remembers() {
		w.Machine.doubtFirst("What "+p.Name+" had in memory", "at the start is not known: the search begins as if it had crashed and started again just then")
		return w.Relist(p)
	}
	for _, marked := range []struct {
		items []core.Item
		mark  state.Value
	}{{underway.Processes[at].Queued, state.Queued}, {underway.Processes[at].Timed, state.Timed}} {
		for _, item := range marked.items {
			a, err := w.Machine.Actor(item.Strategy)
			if err != nil {
				return err
			}
			if it := w.Machine.Item(a, item.Request); !it.Standing {
				w.mark(it.Cell, marked.mark)
			}
		}
	}
	return nil
}

// leaveBehind puts changes into the backlogs of the views of a process.
func (w *Walker) leaveBehind(p *Process, changes []core.Missing) {
	vocabulary := w.Machine.Vocabulary
	for _, missing := range changes {
		c := vocabulary.Object(missing.Key)
		change := view.Change{Cell: c}
		if missing.From != nil {
			change.From = vocabulary.Intern(c, missing.From)
		}
		if missing.To != nil {
			change.To = vocabulary.Intern(c, missing.To)
		}
		v := p.view(missing.Key.Kind)
		w.Set(v.Cell(), v.Commit(w.Value(v.Cell()), change))
		// Its versions are brought to their canonical forms, even if the object is gone.
		stored := w.Value(c)
		w.Set(c, change.To)
		w.Set(c, change.From)
		w.Set(c, stored)
	}
}
