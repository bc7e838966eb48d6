package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// States implements [core.Graph].
func (s *Space) States() int { return s.arena.len() }

// BreadthFirst tells that states are numbered in the order of their distance from
// the start.
func (s *Space) BreadthFirst() bool { return s.order == BreadthFirst }

// Initial implements [core.Graph].
func (s *Space) Initial() []core.StateID { return s.initial }

// State implements [core.Graph]. The state is valid until the next call of any
// method of the space.
func (s *Space) State(id core.StateID) core.State { return s.look(s.row(id)) }

// Cut implements [core.Graph].
func (s *Space) Cut(id core.StateID) bool { return s.cut.has(id) }

// Quiescent implements [core.Graph].
func (s *Space) Quiescent() []core.StateID {
	return slices.Sorted(slices.Values(s.quiescent))
}

// Acyclic implements [core.Graph]: every step led to a state with a higher number.
func (s *Space) Acyclic() bool { return s.acyclic }

// Incidents implements [core.Graph].
func (s *Space) Incidents() []core.Incident { return s.learner.incidents }

// Fair implements [core.Graph].
func (s *Space) Fair(it core.Item) bool { return !s.machine.byName[it.Strategy].Unfair }

// Items implements [core.Graph].
func (s *Space) Items() []core.Item {
	var items []core.Item
	for _, it := range s.machine.items {
		if !it.standing && !it.actor.Messages {
			items = append(items, it.Item)
		}
	}
	return items
}

// Edges implements [core.Graph].
func (s *Space) Edges(id core.StateID) []core.Edge {
	s.edges = s.edges[:0]
	w := s.reader
	w.load(s.row(id))
	quiescent := true
	for _, it := range s.machine.items {
		if !w.pending(it) {
			continue
		}
		leaf, err := w.reconcile(it)
		if err != nil || leaf != nil {
			quiescent = false
		}
		// What is not known is behind the cut.
		if err == nil && leaf != nil {
			s.edge(id, it.step(), leaf)
		}
	}
	if quiescent {
		for _, it := range s.machine.items {
			if w.timed(it) {
				w.fire(it)
				s.edge(id, core.Step{Kind: core.Fire, Item: it.Item}, nil)
			}
		}
	}
	return s.edges
}

// edge adds the step that the reader has just taken, and takes it back. A step to a
// state that was not stored is left out.
func (s *Space) edge(from core.StateID, step core.Step, leaf *behavior.Leaf) {
	w := s.reader
	w.buffer = w.vector.AppendRow(w.buffer[:0])
	if r, known := s.visited.find(uint32(w.fingerprint.Lo), w.buffer); known {
		e := core.Edge{From: from, To: s.arena.number(r), Step: step, Wrote: w.wrote}
		if leaf != nil {
			e.Failed, e.Requeued = failed(leaf), leaf.Result.Requeue
		}
		s.edges = append(s.edges, e)
	}
	w.undo()
}

// failed returns the error that a run ended with, empty if none.
func failed(leaf *behavior.Leaf) string {
	switch {
	case leaf.Failure != behavior.None:
		return leaf.String()
	case leaf.Result.Err != nil:
		return leaf.Result.Err.Error()
	}
	return ""
}

// Relisted implements [core.Graph].
func (s *Space) Relisted(id core.StateID) []core.Item {
	w := s.scholar
	w.load(s.row(id))
	for _, it := range s.machine.items {
		if !it.standing {
			w.set(it.cell, 0)
		}
	}
	s.learner.where = moment{state: id}
	if err := w.relist(); err != nil {
		s.untried(err)
		return nil
	}
	var items []core.Item
	for _, it := range s.machine.items {
		if !it.standing && !it.actor.Messages && w.pending(it) {
			items = append(items, it.Item)
		}
	}
	return items
}

// Try implements [core.Graph].
func (s *Space) Try(id core.StateID, item core.Item) (core.Effect, bool) {
	a, err := s.machine.actor(item.Strategy)
	if err != nil {
		return core.Effect{}, false
	}
	it := s.machine.item(a, item.Request)
	w := s.scholar
	w.load(s.row(id))
	s.learner.where = moment{state: id, item: it}
	leaf, err := w.reconcile(it)
	if err != nil {
		s.untried(err)
		return core.Effect{}, false
	}
	if leaf == nil {
		return core.Effect{}, false
	}
	return core.Effect{Changes: w.changes(), Wrote: w.wrote, Failed: failed(leaf)}, true
}

// untried takes note that something could not be tried in a stored state. What is wrong
// with a run that never came back is an incident already.
func (s *Space) untried(err error) {
	if !s.stops(err) {
		s.because(err.Error())
	}
}

// changes returns how the objects differ from the state the step began in.
func (w *walker) changes() []core.Change {
	var changes []core.Change
	seen := map[state.Cell]bool{}
	for _, t := range w.touched {
		key, isObject := w.machine.vocabulary.Key(t.cell)
		if !isObject || seen[t.cell] {
			continue
		}
		seen[t.cell] = true
		now := w.vector[t.cell]
		if now == t.was {
			continue
		}
		change := core.Change{
			Key:    key,
			Before: w.machine.vocabulary.Content(t.cell, t.was),
			After:  w.machine.vocabulary.Content(t.cell, now),
		}
		if w.machine.matters(core.Object{Key: key, Content: change.Before}) || w.machine.matters(core.Object{Key: key, Content: change.After}) {
			changes = append(changes, change)
		}
	}
	slices.SortFunc(changes, func(a, b core.Change) int { return a.Key.Compare(b.Key) })
	return changes
}

// Outcome implements [core.Graph].
func (s *Space) Outcome(id core.StateID) map[core.Key]any {
	outcome := map[core.Key]any{}
	for _, object := range s.look(s.row(id)).Objects() {
		if fields := s.machine.system.Store.Outcome(object.Key, object.Content); fields != nil {
			outcome[object.Key] = fields
		}
	}
	return outcome
}

// Shortest implements [core.Graph].
func (s *Space) Shortest(accept func(core.StateID) bool) (core.Run, bool) {
	if s.order == BreadthFirst {
		for id := range core.StateID(s.States()) {
			if accept(id) {
				return s.ancestry(id), true
			}
		}
		return nil, false
	}
	return s.nearest(accept)
}

// ancestry returns the run by which a state was first reached.
func (s *Space) ancestry(id core.StateID) core.Run {
	var run core.Run
	for {
		parent := s.arena.parent(s.arena.at(id))
		if parent == noParent {
			slices.Reverse(run)
			return run
		}
		edges := s.Edges(parent)
		at := slices.IndexFunc(edges, func(e core.Edge) bool { return e.To == id })
		if at < 0 {
			panic("explore: a stored state has no step to it from its parent")
		}
		run = append(run, edges[at])
		id = parent
	}
}

// nearest searches breadth-first in what is stored.
func (s *Space) nearest(accept func(core.StateID) bool) (core.Run, bool) {
	into := make(map[core.StateID]core.Edge)
	var queue []core.StateID
	var seen idSet
	for _, id := range s.initial {
		seen.add(id)
		queue = append(queue, id)
	}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if accept(id) {
			var run core.Run
			for {
				edge, known := into[id]
				if !known {
					slices.Reverse(run)
					return run, true
				}
				run = append(run, edge)
				id = edge.From
			}
		}
		for _, e := range s.Edges(id) {
			if !seen.has(e.To) {
				seen.add(e.To)
				into[e.To] = e
				queue = append(queue, e.To)
			}
		}
	}
	return nil, false
}
