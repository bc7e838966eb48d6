package transition

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// begin takes an item from its work queue, as one step: it is in flight then, at the root of its tree.
func (w *Walker) begin(it *Item) error {
	w.Set(it.Cell, w.Value(it.Cell)&^state.Queued)
	root, _, err := w.root(it.Actor, &it.roots, it.part(), w.moment(it))
	if err != nil {
		return err
	}
	w.beginDraw(it)
	return w.fly(it, root, nil)
}

// fly parks the run of an item at a node, and finds out what comes there.
func (w *Walker) fly(it *Item, node *behavior.Node, path behavior.Path) error {
	if at := w.drawn(node); at != nil && at.Explored() {
		node = at
	} else {
		if w.Learn == nil {
			return ErrUnknown
		}
		run, err := w.Learn.explore(nil, it.Actor, it.activation(nil, w.moment(it), w.drawing.number), path, node, w.drawing.number)
		if err != nil {
			return err
		}
		run.stop()
		node = w.drawn(node)
	}
	n, known := it.at[node]
	if !known {
		if w.Learn == nil {
			return ErrUnknown
		}
		n = w.Machine.park(it, node, path, w.moment(it))
	}
	w.Set(it.Cell, w.Value(it.Cell).ParkedAt(n))
	return nil
}

// ask answers the next call of an item in flight, as one step, as planned.
func (w *Walker) ask(it *Item, chosen plan) error {
	p := w.Flight(it)
	number := len(p.Path)
	w.goOnDrawing(it, p.Node)
	if w.Learn != nil {
		w.path = append(w.path[:0], p.Path...)
	}
	defer func() { w.path = w.path[:0] }()
	node := w.turned(it.Actor, chosen.turn(number, p.Node), chosen)
	if node == nil {
		return ErrUnknown
	}
	edge, err := w.call(it.Actor, it.activation(nil, w.moment(it), w.drawing.number), node, number, chosen)
	if err != nil {
		return err
	}
	w.released = append(w.released, p)
	if err := w.fly(it, edge.To, w.path); err != nil {
		return err
	}
	return w.normalize()
}

// land ends the run of an item in flight, as one step.
func (w *Walker) land(it *Item) (*behavior.Leaf, error) {
	p := w.Flight(it)
	leaf := p.Node.Leaf
	w.goOnDrawing(it, p.Node)
	if err := w.ended(it.Actor, it.activation(nil, w.moment(it), w.drawing.number), p.Path, leaf); err != nil {
		return nil, err
	}
	if leaf.Failure.Stuck() {
		return leaf, ErrStopped
	}
	w.released = append(w.released, p)
	if leaf.Result.Blocked {
		if it.blockedAt == 0 && w.Learn == nil {
			return nil, ErrUnknown
		}
		w.Set(it.Cell, w.Value(it.Cell).ParkedAt(w.Machine.parkBlocked(it)))
		return leaf, w.normalize()
	}
	w.Set(it.Cell, w.Value(it.Cell).ParkedAt(0))
	w.end(it, leaf)
	return leaf, w.normalize()
}

// MayBegin reports whether a run of an item can begin: it is in its work queue, and a worker is free. One whose last
// run was blocked begins again where a whole run would not be.
func (w *Walker) MayBegin(it *Item) (bool, error) {
	p := w.Flight(it)
	if p == nil && !w.Pending(it) || p != nil && !p.Blocked {
		return false, nil
	}
	busy := 0
	for _, other := range w.Machine.Items {
		if other.Actor != it.Actor {
			continue
		}
		if q := w.Flight(other); q != nil && !q.Blocked {
			busy++
		}
	}
	if busy >= max(1, it.Actor.Workers) {
		return false, nil
	}
	if p == nil {
		return true, nil
	}
	return w.Possible(it)
}

// Possible reports whether a run of an item, from its beginning to its end, would not be blocked in
// every order of its concurrent calls.
func (w *Walker) Possible(it *Item) (bool, error) {
	possible := false
	err := w.EachOrder(it, func(*Taken) bool {
		possible = true
		return false
	})
	if possible {
		w.undo()
	}
	return possible, err
}

// Ties are the objects of which a step does more than its calls say, where views and runs in flight hold versions of
// objects from one step to the next.
type Ties struct {
	// Held are those of which its run comes to hold versions, or lets go of them.
	Held []state.Cell
	// Normalized are those which it brings to their canonical forms: what comes of that depends on who else
	// holds which versions.
	Normalized []state.Cell
}

// Ties returns what the step of the walker does besides.
func (w *Walker) Ties(s *Taken) Ties {
	if !w.Machine.Holds {
		return Ties{}
	}
	var t Ties
	for _, p := range w.released {
		t.Held = append(t.Held, p.cells()...)
	}
	for _, touched := range w.Touched {
		for _, v := range slices.Concat(w.letGo(touched), w.letGo(state.Touch{Cell: touched.Cell, Was: w.Value(touched.Cell)})) {
			t.Held = append(t.Held, v.cell)
		}
	}
	t.Normalized = w.concerned()
	if s.Item != nil {
		if p := w.Flight(s.Item); p != nil {
			// What its own run goes on to hold keeps its name, whatever the others do.
			own := p.cells()
			t.Held = append(t.Held, own...)
			t.Normalized = slices.DeleteFunc(t.Normalized, func(c state.Cell) bool { return slices.Contains(own, c) })
		}
	}
	slices.Sort(t.Held)
	t.Held = slices.Compact(t.Held)
	return t
}

// cells returns the objects of which a run that is parked at the point holds versions.
func (p *point) cells() []state.Cell {
	var cells []state.Cell
	for _, v := range p.held {
		cells = append(cells, v.cell)
	}
	return cells
}

// Stage is a step of a run whose calls are steps of their own: that from a node of its tree, or its begin.
type Stage struct {
	Node  *behavior.Node
	Begun *Item
}

// Stage returns the stage that the walker's step was, and false for any other step.
func (w *Walker) Stage(s *Taken) (Stage, bool) {
	switch s.Kind {
	case core.Begin:
		return Stage{Begun: s.Item}, true
	case core.Ask:
		return Stage{Node: s.node}, true
	case core.Return:
		return Stage{Node: w.released[0].Node}, true
	}
	return Stage{}, false
}

// effect is what a step does to the state.
type effect struct {
	// leaf is how the run ends, nil if there is no such step.
	leaf  *behavior.Leaf
	wrote bool
	// to are the values after the step of the cells that it touches, and print is what it adds to the fingerprint.
	to    []put
	print state.Fingerprint
}

type put struct {
	cell state.Cell
	to   state.Value
}

// takesShortcuts reports whether the walker may leave out the calls of a run.
func (w *Walker) takesShortcuts() bool {
	return w.Learn == nil && w.Listener == nil && !w.noted && !w.Machine.Holds
}

// finish runs an item from its beginning to its end, as one step without faults, from the cache if it is there. See
// [walker.reconcile]. The cache does not show in which other orders concurrent calls may be answered, so that no step
// is there where that matters.
func (w *Walker) finish(it *Item) (*behavior.Leaf, error) {
	if !w.takesShortcuts() {
		return w.reconcile(it, plan{})
	}
	s := &w.StepCache
	if e := s.Find(it.Agent, w.Vector); e != nil {
		w.jump(e)
		return e.leaf, nil
	}
	s.Tracing, s.Trace = s.Room > 0, s.Trace[:0]
	leaf, err := w.reconcile(it, plan{})
	if s.Tracing && err == nil && len(w.Reversed) == 0 {
		s.Add(it.Agent, w.effect(leaf))
	}
	s.Tracing = false
	return leaf, err
}

// jump makes a step by its effect.
func (w *Walker) jump(e *effect) {
	for _, p := range e.to {
		w.Touched = append(w.Touched, state.Touch{Cell: p.cell, Was: w.Vector[p.cell]})
		w.Vector[p.cell] = p.to
	}
	w.Fingerprint.Toggle(e.print)
	w.Wrote = e.wrote
}

// effect returns the effect of the step that the walker has taken.
func (w *Walker) effect(leaf *behavior.Leaf) *effect {
	e := &effect{leaf: leaf, wrote: w.Wrote, print: w.Fingerprint}
	e.print.Toggle(w.origin)
	for i, t := range w.Touched {
		if !state.Touches(w.Touched[:i], t.Cell) {
			e.to = append(e.to, put{cell: t.Cell, to: w.Vector[t.Cell]})
		}
	}
	return e
}

// traced is a client that notes what is looked at.
type traced struct{ *ClientView }

var _ behavior.Cells = traced{}

// Value implements [behavior.Cells].
func (t traced) Value(c state.Cell) state.Value {
	t.Walker.depend(c)
	return t.ClientView.Value(c)
}

// Project implements [behavior.Cells].
func (t traced) Project(p *state.Projection, c state.Cell) (state.Value, bool) {
	t.Walker.depend(c)
	return t.ClientView.Project(p, c)
}

// AppendSignature implements [behavior.Cells]. A list depends on all that might be in it.
func (t traced) AppendSignature(buffer []byte, kind core.Kind, namespace string, selection *state.Selection) ([]byte, bool) {
	vocabulary := t.Walker.Machine.Vocabulary
	for _, c := range vocabulary.Kind(kind) {
		if key, _ := vocabulary.Key(c); namespace == "" || namespace == key.Namespace {
			t.Walker.depend(c)
		}
	}
	return t.ClientView.AppendSignature(buffer, kind, namespace, selection)
}

// depend notes that the run which is traced depends on a cell.
func (w *Walker) depend(c state.Cell) { w.StepCache.Depend(c, w.Vector[c]) }
