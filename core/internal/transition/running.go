package transition

import (
	"errors"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// callNote is what a call of a run did. Whether it changed objects or sent messages does not matter: both outlive a
// crash.
type callNote struct {
	node     *behavior.Node
	effected bool
}

// CallEvent is a call as a listener is told of it, before the writes are applied.
type CallEvent struct {
	Node     *behavior.Node
	Response core.Response
	Writes   []behavior.Write
	// Overtaken are objects that somebody else has written before, without a difference: the call fails because of
	// that.
	Overtaken []behavior.Write
	// Enqueued are the items that it puts into work queues directly, as messages are, and Timed those for which it sets
	// a timer.
	Enqueued, Timed []state.Cell
	// Fault is how the call fails, nil if it does not.
	Fault *behavior.Fault
}

// reconcile runs an item from its beginning to its end, as one step, as planned. A nil leaf
// means that there is no such step here; then nothing has changed. On an error, too, nothing has. If the controller
// is to crash, the leaf is that of a crashed run.
func (w *Walker) reconcile(it *Item, p plan) (*behavior.Leaf, error) {
	for {
		leaf, err := w.reconcileOnce(it, p)
		if !errors.Is(err, errForked) {
			return leaf, err
		}
		if w.Listener != nil {
			w.Listener.Began()
		}
		w.beginStep()
		w.notes = w.notes[:0]
	}
}

// reconcileOnce is as [Walker.reconcile] as long as nothing becomes known of what the code does by chance.
func (w *Walker) reconcileOnce(it *Item, p plan) (*behavior.Leaf, error) {
	if !it.Standing {
		w.Set(it.Cell, w.Value(it.Cell)&^state.Queued)
	}
	if !w.possible(it) {
		w.undo()
		return nil, nil
	}
	at := w.moment(it)
	root, since, err := w.root(it.Actor, &it.roots, it.part(), at)
	if err != nil {
		w.undo()
		return nil, err
	}
	w.beginDraw(it)
	leaf, err := w.run(it.Actor, root, it.activation(since, at, w.drawing.number), p)
	if err == nil && leaf.Failure.Stuck() {
		err = ErrStopped
	}
	if err != nil || leaf.Result.Blocked {
		w.undo()
		return nil, err
	}
	if leaf.Failure == behavior.CutOff {
		return leaf, nil
	}
	w.end(it, leaf)
	return leaf, w.normalize()
}

// end puts an item where the end of its run says.
func (w *Walker) end(it *Item, leaf *behavior.Leaf) {
	if it.Standing {
		return
	}
	value := w.Value(it.Cell)
	if leaf.Retried() {
		value |= state.Queued
	}
	if leaf.Later() {
		value = it.Actor.timed(value, leaf.Result.RequeueAfter)
	}
	if value&state.Timed == 0 {
		value &^= state.Behind // it waits for nothing any more
	}
	w.Set(it.Cell, it.queued(value))
}

// fire moves a timed item to its work queue, as one step.
func (w *Walker) fire(it *Item) {
	w.Set(it.Cell, w.Value(it.Cell).Untimed()|state.Queued)
}

// run takes a run of an actor from its beginning to its end, with what it leaves in memory. What comes up meanwhile for
// the event handlers of the same process waits for the end: they share the memory, of which nobody knows what it is in
// the midst of a run.
func (w *Walker) run(a *Actor, root *behavior.Node, activation behavior.Activation, p plan) (*behavior.Leaf, error) {
	if !a.Process.remembers() {
		return w.follow(a, root, activation, p)
	}
	begin := len(w.waiting)
	w.busy = append(w.busy, a.Process)
	leaf, err := w.follow(a, root, activation, p)
	w.busy = w.busy[:len(w.busy)-1]
	waiting := slices.Clone(w.waiting[begin:])
	w.waiting = w.waiting[:begin]
	if err != nil || leaf.Failure == behavior.CutOff || leaf.Failure.Stuck() {
		return leaf, err
	}
	if its := a.domain.part(activation.Request); its != nil {
		remembered := w.Value(its.cell)
		w.Set(its.cell, leaf.Memory)
		if leaf.Drawn && leaf.Memory != remembered {
			if err := w.useUp(); err != nil {
				return nil, err
			}
		}
	}
	for _, h := range waiting {
		if err := w.handleOne(h); err != nil {
			return nil, err
		}
	}
	return leaf, nil
}

// follow follows a run of an actor through its behaviour tree to a leaf, with the
// effects of its calls applied. Where the tree ends, it learns.
func (w *Walker) follow(a *Actor, root *behavior.Node, activation behavior.Activation, p plan) (*behavior.Leaf, error) {
	node, base, outer, made := root, len(w.path), w.base, w.made
	w.base, w.made = base, nil
	defer func() { w.path, w.base, w.made = w.path[:base], outer, made }()
	var run *codeRun
	asked := len(w.Asked)
	for calls := 0; ; calls++ {
		for came := false; !came; {
			if at := w.drawn(node); at != nil && at.Explored() {
				// A handler of what this very run wrote may have come by here first.
				run.stop()
				run, node = nil, at
			} else {
				if w.Learn == nil {
					return nil, ErrUnknown
				}
				var err error
				node = w.Learn.aside(node)
				if run, err = w.Learn.explore(run, a, activation, w.path[base:], node, w.drawing.number); err != nil {
					return nil, err
				}
				node = w.drawn(node)
			}
			way := p.way(calls, node)
			if came = way == node; !came {
				run.stop()
				run, node = nil, way
			}
		}
		if node.Chance != nil && len(node.Chance.Ways) > 1 {
			w.chosen = append(w.chosen, choice{calls, node})
		}
		if node.Leaf != nil {
			if !p.backwards && len(p.turns)+len(p.faults) == 0 && activation.Event == nil && w.mayTurn(asked) {
				w.Reversed = append(w.Reversed, reversed{plan: plan{backwards: true}})
			}
			if activation.Event == nil {
				w.mayGo(p)
				w.mayCatchUp(p)
			}
			if err := w.races(a, activation, p, node.Leaf); err != nil {
				return nil, err
			}
			return node.Leaf, w.ended(a, activation, w.path[base:], node.Leaf)
		}
		if node = w.turned(a, p.turn(calls, node), p); node == nil {
			return nil, ErrUnknown
		}
		if w.made == nil && len(node.Parked) > 0 {
			w.made = []behavior.Made{}
			if !w.gathers {
				w.gathers, w.answers = true, nil
				defer func() { w.gathers, w.answers = false, nil }()
			}
		}
		if p.fault(calls) == crash {
			run.stop()
			cut := &behavior.Leaf{Failure: behavior.CutOff}
			if w.Listener != nil {
				w.Listener.Ended(a, activation, w.path[base:], cut)
			}
			return cut, nil
		}
		edge, err := w.call(a, activation, node, calls, p)
		if err != nil {
			run.stop()
			return nil, err
		}
		run.answer(node, edge.Response)
		node = edge.To
	}
}

// ended tells of the end of a run.
func (w *Walker) ended(a *Actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf) error {
	if w.Listener != nil {
		w.Listener.Ended(a, activation, path, leaf)
	}
	if leaf.Failure == behavior.None && leaf.Mutated == "" {
		return nil
	}
	if w.Learn != nil {
		w.Learn.failed(a, activation, path, leaf)
	} else if w.Ahead {
		return ErrUnknown // the searching goroutine has to report it
	}
	return nil
}

// call answers the call of a node, which is the call of that number in its run, as planned, with its effects applied,
// and returns where the run goes on.
func (w *Walker) call(a *Actor, activation behavior.Activation, node *behavior.Node, number int, p plan) (*behavior.Edge, error) {
	edge, commits, effected := (*behavior.Edge)(nil), true, false
	made := behavior.Made{Number: number, Node: node}
	call := CallEvent{Node: node}
	if fault := p.fault(number); fault >= 0 {
		call.Fault = &node.Faults[fault]
		edge, commits = call.Fault.Edge, call.Fault.Commits
	}
	if commits {
		first := len(w.answers)
		answered, err := w.answer(a, activation, node, number, p)
		if err != nil {
			return nil, err
		}
		if edge == nil {
			edge = answered.Edge
		}
		w.Asked = append(w.Asked, answered)
		call.Response, call.Writes, call.Enqueued, call.Timed = edge.Response, answered.Writes, answered.Enqueue, answered.EnqueueAfter
		effected = answered.Effects()
		w.hear(a, activation, call)
		if w.gathers {
			w.answers = append(w.answers, answered)
		}
		if err := w.apply(a, answered); err != nil {
			return nil, err
		}
		if node.Drawn && effected {
			if err := w.spend(a, activation, node); err != nil {
				return nil, err
			}
		}
		made.Answers = w.answers[first:len(w.answers):len(w.answers)]
	} else {
		first := len(w.answers)
		call.Response, call.Overtaken = edge.Response, w.overtaken(call.Fault)
		w.hear(a, activation, call)
		if w.gathers {
			w.answers = append(w.answers, &behavior.Answered{Writes: call.Overtaken})
		}
		for _, write := range call.Overtaken {
			if err := w.publish(a, write.Cell, transition{from: write.To, to: write.To}); err != nil {
				return nil, err
			}
		}
		made.Answers = w.answers[first:len(w.answers):len(w.answers)]
	}
	if w.made != nil {
		made.Response = edge.Response
		w.made = append(w.made, made)
	}
	if w.noted && w.nested == 0 {
		w.notes = append(w.notes, callNote{node: node, effected: effected})
	}
	if w.Learn != nil {
		w.path = append(w.path, edge)
	}
	return edge, nil
}

func (w *Walker) hear(a *Actor, activation behavior.Activation, call CallEvent) {
	if w.Listener != nil {
		w.Listener.Called(a, activation, call)
	}
}

// apply commits the effects of the call of an actor, and delivers them.
func (w *Walker) apply(a *Actor, answered *behavior.Answered) error {
	for _, write := range answered.Writes {
		was := w.Value(write.Cell)
		w.Set(write.Cell, write.To)
		w.Wrote = true
		if write.Unwatched {
			continue
		}
		if err := w.publish(a, write.Cell, transition{from: was, to: write.To}); err != nil {
			return err
		}
	}
	for _, c := range answered.Enqueue {
		w.mark(c, state.Queued)
	}
	for _, c := range answered.EnqueueAfter {
		w.Set(c, w.Value(c).SetFor(0)) // for how long, nobody knows
		w.mark(c, state.Timed)
	}
	return nil
}

// publish brings a change that an actor has committed to everybody who watches: at once to views that are fresh, and
// into the backlog of the others, which may have to be told of older changes then.
func (w *Walker) publish(by *Actor, c state.Cell, change transition) error {
	d, err := w.delivery(c, change)
	if err != nil || len(*d) == 0 {
		return err
	}
	if !w.Machine.lags {
		return w.handle(*d, nil)
	}
	// All backlogs first: what handlers write comes after it in each of them.
	kind := (*d)[0].event.Key.Kind
	for _, v := range w.Machine.Views[kind] {
		if err := w.commit(v, view.Change{Cell: c, From: change.from, To: change.to}); err != nil {
			return err
		}
	}
	for i := range *d {
		p := (*d)[i].actor.Process
		v := p.view(kind)
		if slices.ContainsFunc((*d)[:i], func(h handling) bool { return h.actor.Process == p }) {
			continue // it has one cache, for all of them
		}
		if v == nil {
			if err := w.handle(*d, p); err != nil {
				return err
			}
			continue
		}
		for n := v.Forced(w.Value(v.Cell()), p == by.Process); n > 0; n-- {
			if err := w.receive(p, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit puts a change into the backlog of a view.
func (w *Walker) commit(v *view.View, change view.Change) error {
	after, known := v.Committed(w.Value(v.Cell()), change)
	if !known {
		if w.Learn == nil {
			return ErrUnknown
		}
		after = v.Commit(w.Value(v.Cell()), change)
	}
	w.Set(v.Cell(), after)
	if w.Listener != nil {
		w.Listener.Committed(v)
	}
	return nil
}

// receive makes the next delivery to a view: the event handlers of its process get the changes.
func (w *Walker) receive(p *Process, v *view.View) error {
	changes, rest := v.Deliver(w.Value(v.Cell()))
	w.Set(v.Cell(), rest)
	if w.Listener != nil {
		w.Listener.Refreshed(v, changes)
	}
	for _, change := range changes {
		missed := v.Rule() == view.Relist() && change.To == 0
		d, err := w.delivery(change.Cell, transition{from: change.From, to: change.To, missed: missed})
		if err != nil {
			return err
		}
		if err := w.handle(*d, p); err != nil {
			return err
		}
	}
	return nil
}

// delivery returns who handles a change of a cell.
func (w *Walker) delivery(c state.Cell, change transition) (*delivery, error) {
	d := w.Machine.delivery(c, change)
	if d == nil {
		if w.Learn == nil {
			return nil, ErrUnknown
		}
		d = w.Machine.deliver(c, change)
	}
	return d, nil
}

// handle runs the event handlers for a change, those of one process or of all, and enqueues what they ask for.
func (w *Walker) handle(d delivery, only *Process) error {
	if w.nested == maxNested {
		if w.Learn == nil {
			return ErrUnknown
		}
		return w.Learn.endless(d)
	}
	for i := range d {
		h := &d[i]
		if only != nil && h.actor.Process != only || len(h.roots) == 0 {
			continue
		}
		if slices.Contains(w.busy, h.actor.Process) {
			w.waiting = append(w.waiting, h)
			continue
		}
		if err := w.handleOne(h); err != nil {
			return err
		}
	}
	return nil
}

// handleOne runs the event handlers of one actor for a change.
func (w *Walker) handleOne(h *handling) error {
	outer := w.Handling
	w.nested++
	defer func() { w.nested--; w.Handling = outer }()
	w.Handling = &h.event
	handle, d := w.handleAlone, h.actor.domain
	if d.byRequest {
		handle = w.handleByRequest
	}
	leaf, changed, err := handle(h, w.moment(nil))
	if err != nil {
		return err
	}
	if leaf.Failure.Stuck() {
		return ErrStopped
	}
	for _, enqueued := range leaf.Cells {
		w.mark(enqueued, state.Queued)
	}
	if shares := d.remembers() && len(d.Members) > 1; shares && (changed || len(leaf.Cells) > 0) {
		return w.stir(h, changed)
	}
	return nil
}

// handleAlone runs event handlers whose memory is one, and reports whether they have changed it.
func (w *Walker) handleAlone(h *handling, at moment) (leaf *behavior.Leaf, changed bool, err error) {
	its, before := h.actor.domain.part(""), state.Value(0)
	if its != nil {
		before = w.Value(its.cell)
	}
	root, since, err := w.root(h.actor, &h.roots, its, at)
	if err != nil {
		return nil, false, err
	}
	leaf, err = w.run(h.actor, root, h.actor.handling(&h.event, since, at), plan{})
	return leaf, its != nil && w.Value(its.cell) != before, err
}

// stirred is a change on which the event handlers of a controller have acted, and whether they have changed the memory.
type stirred struct {
	by      *handling
	changed bool
}

// stir notes that event handlers have enqueued something or changed the memory that they share with others. If others
// have for the same change, and memory was changed, it matters who comes first and what is done in between, which is
// not searched.
func (w *Walker) stir(h *handling, changed bool) error {
	before, d := w.stirred, h.actor.domain
	w.stirred = stirred{h, changed}
	if before.by == nil || before.by.change != h.change || before.by.actor.domain != d || before.by.actor == h.actor || !before.changed && !changed || d.unordered {
		return nil
	}
	if w.Learn == nil {
		return ErrUnknown
	}
	d.unordered = true
	w.Machine.doubt("the event handlers of %s and %s both act on changes of %s and share memory (%s), and what happens between them, or if they come in the other order, was not searched. "+
		"If it makes no difference what they share, leave it out with --ignore-memory (Options.IgnoreMemory)",
		before.by.actor.Name, h.actor.Name, h.event.Key.Kind, strings.Join(w.sharedIn(d), ", "))
	return nil
}
