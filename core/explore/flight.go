package explore

import (
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// begin takes an item from its work queue, as one step: it is in flight then, at the root of its tree.
func (w *walker) begin(it *item) error {
	w.acting = it.actor
	w.set(it.cell, w.Value(it.cell)&^state.Queued)
	return w.fly(it, it.root, nil)
}

// fly parks the run of an item at a node, and finds out what comes there.
func (w *walker) fly(it *item, node *behavior.Node, path behavior.Path) error {
	if !node.Explored() {
		if w.learn == nil {
			return errUnknown
		}
		lesson, err := w.learn.explore(nil, it.actor, behavior.Activation{Request: it.Request}, path, node)
		if err != nil {
			return err
		}
		lesson.stop()
	}
	n, known := it.at[node]
	if !known {
		if w.learn == nil {
			return errUnknown
		}
		n = w.machine.park(it, node, path)
	}
	w.set(it.cell, w.Value(it.cell).ParkedAt(n))
	return nil
}

// ask answers the next call of an item in flight, as one step, as planned.
func (w *walker) ask(it *item, chosen plan) error {
	w.acting = it.actor
	p := w.flight(it)
	number := len(p.path)
	if w.learn != nil {
		w.path = append(w.path[:0], p.path...)
	}
	defer func() { w.path = w.path[:0] }()
	edge, err := w.call(it.actor, behavior.Activation{Request: it.Request}, chosen.turn(number, p.node), number, chosen.fault(number))
	if err != nil {
		return err
	}
	w.released = append(w.released, p)
	if err := w.fly(it, edge.To, w.path); err != nil {
		return err
	}
	return w.settle()
}

// land ends the run of an item in flight, as one step.
func (w *walker) land(it *item) (*behavior.Leaf, error) {
	w.acting = it.actor
	p := w.flight(it)
	leaf := p.node.Leaf
	if err := w.ended(it.actor, behavior.Activation{Request: it.Request}, p.path, leaf); err != nil {
		return nil, err
	}
	if leaf.Failure.Stuck() {
		return leaf, errStopped
	}
	w.released = append(w.released, p)
	if leaf.Result.Blocked {
		if it.blockedAt == 0 && w.learn == nil {
			return nil, errUnknown
		}
		w.set(it.cell, w.Value(it.cell).ParkedAt(w.machine.parkBlocked(it)))
		return leaf, w.settle()
	}
	w.set(it.cell, w.Value(it.cell).ParkedAt(0))
	w.end(it, leaf)
	return leaf, w.settle()
}

// mayBegin reports whether a run of an item can begin: it is in its work queue, and a worker is free. One whose last run was blocked
// begins again where a whole run would not be.
func (w *walker) mayBegin(it *item) (bool, error) {
	p := w.flight(it)
	if p == nil && !w.pending(it) || p != nil && !p.blocked {
		return false, nil
	}
	busy := 0
	for _, other := range w.machine.items {
		if other.actor != it.actor {
			continue
		}
		if q := w.flight(other); q != nil && !q.blocked {
			busy++
		}
	}
	if busy >= max(1, it.actor.Workers) {
		return false, nil
	}
	if p == nil {
		return true, nil
	}
	return w.possible(it)
}

// possible reports whether a run of an item, from its beginning to its end, would not be blocked in
// every order of its concurrent calls.
func (w *walker) possible(it *item) (bool, error) {
	possible := false
	err := w.eachOrder(it, func(*taken) bool {
		possible = true
		return false
	})
	if possible {
		w.undo()
	}
	return possible, err
}
