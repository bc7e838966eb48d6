package explore

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// callNote is what a call of a run did. Whether it changed objects or sent messages does not matter: both outlive a crash.
type callNote struct {
	node     *behavior.Node
	effected bool
}

// told is a call as a listener is told of it, before the writes are applied.
type told struct {
	node     *behavior.Node
	response core.Response
	writes   []behavior.Write
	// sends tells that it puts items into work queues directly, as messages are.
	sends bool
	// fault is how the call fails, nil if it does not.
	fault *behavior.Fault
}

// reconcile runs an item from its beginning to its end, as one step, as planned. A nil leaf
// means that there is no such step here; then nothing has changed. On an error, too, nothing has. If the controller
// is to crash, the leaf is that of a crashed run.
func (w *walker) reconcile(it *item, p plan) (*behavior.Leaf, error) {
	w.acting = it.actor
	if !it.standing {
		w.set(it.cell, w.Value(it.cell)&^state.Queued)
	}
	leaf, err := w.run(it.actor, it.root, behavior.Activation{Request: it.Request}, p)
	if err == nil && leaf.Failure.Stuck() {
		err = errStopped
	}
	if err != nil || leaf.Result.Blocked {
		w.undo()
		return nil, err
	}
	if leaf.Failure == behavior.CutOff {
		return leaf, nil
	}
	w.end(it, leaf)
	return leaf, w.settle()
}

// end puts an item where the end of its run says.
func (w *walker) end(it *item, leaf *behavior.Leaf) {
	if it.standing {
		return
	}
	value := w.Value(it.cell)
	if leaf.Retried() {
		value |= state.Queued
	}
	if leaf.Later() {
		value |= state.Timed
	}
	w.set(it.cell, value)
}

// fire moves a timed item to its work queue, as one step.
func (w *walker) fire(it *item) {
	w.set(it.cell, w.Value(it.cell)&^state.Timed|state.Queued)
}

// run follows a run of an actor through its behaviour tree to a leaf, with the
// effects of its calls applied. Where the tree ends, it learns.
func (w *walker) run(a *actor, root *behavior.Node, activation behavior.Activation, p plan) (*behavior.Leaf, error) {
	node, base, outer, made := root, len(w.path), w.base, w.made
	w.base, w.made = base, nil
	defer func() { w.path, w.base, w.made = w.path[:base], outer, made }()
	var lesson *lesson
	for calls := 0; ; calls++ {
		if node.Explored() {
			// A handler of what this very run wrote may have come by here first.
			lesson.stop()
			lesson = nil
		} else {
			if w.learn == nil {
				return nil, errUnknown
			}
			var err error
			if lesson, err = w.learn.explore(lesson, a, activation, w.path[base:], node); err != nil {
				return nil, err
			}
		}
		if node.Leaf != nil {
			if err := w.races(a, activation, p, node.Leaf); err != nil {
				return nil, err
			}
			return node.Leaf, w.ended(a, activation, w.path[base:], node.Leaf)
		}
		node = p.turn(calls, node)
		if w.made == nil && len(node.Parked) > 0 {
			w.made = []behavior.Made{}
			if !w.gathers {
				w.gathers, w.answers = true, nil
				defer func() { w.gathers, w.answers = false, nil }()
			}
		}
		fault := p.fault(calls)
		if fault == crash {
			lesson.stop()
			cut := &behavior.Leaf{Failure: behavior.CutOff}
			if w.listener != nil {
				w.listener.ended(a, activation, w.path[base:], cut)
			}
			return cut, nil
		}
		edge, err := w.call(a, activation, node, calls, fault)
		if err != nil {
			lesson.stop()
			return nil, err
		}
		lesson.answer(node, edge.Response)
		node = edge.To
	}
}

// ended tells of the end of a run.
func (w *walker) ended(a *actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf) error {
	if w.listener != nil {
		w.listener.ended(a, activation, path, leaf)
	}
	if leaf.Failure == behavior.None {
		return nil
	}
	if w.learn != nil {
		w.learn.failed(a, activation, path, leaf)
	} else if w.ahead {
		return errUnknown // the searching goroutine has to report it
	}
	return nil
}

// call answers the call of a node, which is the call of that number in its run, with its effects applied, and returns where the run
// goes on. A fault that is not negative makes it fail so.
func (w *walker) call(a *actor, activation behavior.Activation, node *behavior.Node, number, fault int) (*behavior.Edge, error) {
	edge, commits := (*behavior.Edge)(nil), true
	made := behavior.Made{Number: number, Node: node}
	call := told{node: node}
	if fault >= 0 {
		call.fault = &node.Faults[fault]
		edge, commits = call.fault.Edge, call.fault.Commits
	}
	if commits {
		sight := w.live
		if len(a.views) > 0 && node.Call.Source() == core.Cached {
			sight = w.sights[a.index]
		}
		glance := behavior.Glance(sight)
		if w.shortcuts.tracing {
			glance = traced{sight}
		}
		answered := node.Look(glance, w.buffer)
		if answered == nil {
			if w.learn == nil {
				return nil, errUnknown
			}
			var err error
			if answered, err = w.learn.answer(sight, a, activation, node); err != nil {
				return nil, err
			}
		}
		if edge == nil {
			edge = answered.Edge
		}
		call.response, call.writes, call.sends = edge.Response, answered.Writes, len(answered.Enqueue) > 0
		w.hear(a, activation, call)
		first := len(w.answers)
		if w.gathers {
			w.answers = append(w.answers, answered)
		}
		if err := w.apply(answered); err != nil {
			return nil, err
		}
		made.Answers = w.answers[first:len(w.answers):len(w.answers)]
	} else {
		call.response = edge.Response
		w.hear(a, activation, call)
		made.Answers = []*behavior.Answered{{}}
	}
	if w.made != nil {
		made.Response = edge.Response
		w.made = append(w.made, made)
	}
	if w.noted && w.nested == 0 {
		w.notes = append(w.notes, callNote{node: node, effected: len(call.writes) > 0 || call.sends})
	}
	if w.learn != nil {
		w.path = append(w.path, edge)
	}
	return edge, nil
}

func (w *walker) hear(a *actor, activation behavior.Activation, call told) {
	if w.listener != nil {
		w.listener.called(a, activation, call)
	}
}

// apply commits the effects of a call, and delivers them.
func (w *walker) apply(answered *behavior.Answered) error {
	for _, write := range answered.Writes {
		was := w.Value(write.Cell)
		w.set(write.Cell, write.To)
		w.wrote = true
		if write.Unwatched {
			continue
		}
		if err := w.publish(write.Cell, transition{from: was, to: write.To}); err != nil {
			return err
		}
	}
	for _, c := range answered.Enqueue {
		w.mark(c, state.Queued)
	}
	return nil
}

// publish brings a committed change to everybody who watches: at once to views that are fresh, and into the backlog of the
// others, which may have to be told of older changes then.
func (w *walker) publish(c state.Cell, change transition) error {
	d, err := w.delivery(c, change)
	if err != nil || len(*d) == 0 {
		return err
	}
	if !w.machine.lags {
		return w.handle(*d, nil)
	}
	// All backlogs first: what handlers write comes after it in each of them.
	kind := (*d)[0].event.Key.Kind
	for i := range *d {
		if v := (*d)[i].actor.view(kind); v != nil {
			if err := w.commit(v, view.Change{Cell: c, From: change.from, To: change.to}); err != nil {
				return err
			}
		}
	}
	acting := w.acting
	for i := range *d {
		a := (*d)[i].actor
		v := a.view(kind)
		if v == nil {
			if err := w.handle((*d)[i:i+1], nil); err != nil {
				return err
			}
			continue
		}
		for n := v.Forced(w.Value(v.Cell()), a == acting); n > 0; n-- {
			if err := w.receive(a, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit puts a change into the backlog of a view.
func (w *walker) commit(v *view.View, change view.Change) error {
	after, known := v.Committed(w.Value(v.Cell()), change)
	if !known {
		if w.learn == nil {
			return errUnknown
		}
		after = v.Commit(w.Value(v.Cell()), change)
	}
	w.set(v.Cell(), after)
	if w.listener != nil {
		w.listener.committed(v)
	}
	return nil
}

// receive makes the next delivery to a view: its actor is told of the changes.
func (w *walker) receive(a *actor, v *view.View) error {
	changes, rest := v.Deliver(w.Value(v.Cell()))
	w.set(v.Cell(), rest)
	if w.listener != nil {
		w.listener.refreshed(v)
	}
	for _, change := range changes {
		missed := v.Rule() == view.Relist() && change.To == 0
		d, err := w.delivery(change.Cell, transition{from: change.From, to: change.To, missed: missed})
		if err != nil {
			return err
		}
		if err := w.handle(*d, a); err != nil {
			return err
		}
	}
	return nil
}

// delivery returns who handles a change of a cell.
func (w *walker) delivery(c state.Cell, change transition) (*delivery, error) {
	d := w.machine.delivery(c, change)
	if d == nil {
		if w.learn == nil {
			return nil, errUnknown
		}
		d = w.machine.deliver(c, change)
	}
	return d, nil
}

// handle runs the event handlers for a change, those of one actor or of all, and enqueues what they ask for.
func (w *walker) handle(d delivery, only *actor) error {
	if w.nested == maxNested {
		if w.learn == nil {
			return errUnknown
		}
		return w.learn.endless(d)
	}
	outer := w.handling
	w.nested++
	defer func() { w.nested--; w.handling = outer }()
	for i := range d {
		h := &d[i]
		if only != nil && h.actor != only || h.root == nil {
			continue
		}
		w.handling = &h.event
		leaf, err := w.run(h.actor, h.root, behavior.Activation{Event: &h.event}, plan{})
		if err != nil {
			return err
		}
		if leaf.Failure.Stuck() {
			return errStopped
		}
		for _, enqueued := range leaf.Cells {
			w.mark(enqueued, state.Queued)
		}
	}
	return nil
}
