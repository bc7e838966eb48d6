package explore

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// shortcuts lead from what a run depends on straight to what it does to the state, past its calls and the event handlers
// that they set off. What a run does follows from the values of the cells that it looks at, as long as nobody holds
// versions of objects. Each walker that only reads has its own: they save time, and change nothing.
type shortcuts struct {
	// roots are where the shortcuts of items begin, by agent.
	roots []*fork
	// room is how many more forks there may be.
	room int

	// tracing tells that a run is followed to make a shortcut of it, and trace what it depends on so far: cells, in the
	// order in which it came to look at them, with their values before the step.
	tracing bool
	trace   []touch
}

// mostForks bounds the memory that shortcuts take: some megabytes for a walker.
const mostForks = 1 << 16

// fork is where a shortcut goes on by the value of a cell, or ends with an effect.
type fork struct {
	cell   state.Cell
	ways   state.Fan[*fork]
	effect *effect
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

// find returns what the step of an agent does in a state, nil if there is no shortcut.
func (s *shortcuts) find(agent int, vector state.Vector) *effect {
	if agent >= len(s.roots) {
		return nil
	}
	at := s.roots[agent]
	for at != nil && at.effect == nil {
		at = at.ways.Get(vector[at.cell])
	}
	if at == nil {
		return nil
	}
	return at.effect
}

// depend takes note that the run which is traced depends on what a cell held before the step.
func (s *shortcuts) depend(c state.Cell, value state.Value) {
	for i := range s.trace {
		if s.trace[i].cell == c {
			return
		}
	}
	s.trace = append(s.trace, touch{cell: c, was: value})
}

// add makes a shortcut of what was traced.
func (s *shortcuts) add(agent int, e *effect) {
	for agent >= len(s.roots) {
		s.roots = append(s.roots, nil)
	}
	at := s.roots[agent]
	if at == nil {
		at = s.fork(0, e)
		s.roots[agent] = at
	}
	for i, t := range s.trace {
		if at.cell != t.cell {
			panic("explore: what a run looks at next does not follow from what it saw")
		}
		next := at.ways.Get(t.was)
		if next == nil {
			next = s.fork(i+1, e)
			at.ways.Put(t.was, next)
		}
		at = next
	}
}

// remember makes a shortcut without an effect, for a vector of which nothing is known yet. What is looked at may come in any order, as for
// predicates that go through maps: first comes what was looked at before, even if it was not this time. That takes more shortcuts, and is right.
func (s *shortcuts) remember(agent int, vector state.Vector, trace []touch) {
	s.trace = nil
	if agent < len(s.roots) {
		for at := s.roots[agent]; at != nil && at.effect == nil; {
			value := valueIn(vector, at.cell)
			s.trace = append(s.trace, touch{cell: at.cell, was: value})
			at = at.ways.Get(value)
		}
	}
	for _, t := range trace {
		s.depend(t.cell, t.was)
	}
	s.add(agent, &effect{})
}

// fork returns a fork for the cell at a place in the trace, or the end of the shortcut behind the last.
func (s *shortcuts) fork(at int, e *effect) *fork {
	s.room--
	if at == len(s.trace) {
		return &fork{effect: e}
	}
	return &fork{cell: s.trace[at].cell}
}

// forget drops all shortcuts: a list depends on all cells of a kind, and there are new ones.
func (s *shortcuts) forget() { clear(s.roots); s.room = mostForks }

// takesShortcuts tells whether the walker may leave out the calls of a run.
func (w *walker) takesShortcuts() bool {
	return w.learn == nil && w.listener == nil && !w.noted && !w.machine.holds
}

// finish runs an item from its beginning to its end, as one step without faults, by a shortcut if there is one. See [walker.reconcile].
// A shortcut does not show in which other orders concurrent calls may be answered, so there is none where that matters.
func (w *walker) finish(it *item) (*behavior.Leaf, error) {
	if !w.takesShortcuts() {
		return w.reconcile(it, plan{})
	}
	s := &w.shortcuts
	if e := s.find(it.agent, w.vector); e != nil {
		w.jump(e)
		return e.leaf, nil
	}
	s.tracing, s.trace = s.room > 0, s.trace[:0]
	leaf, err := w.reconcile(it, plan{})
	if s.tracing && err == nil && len(w.reversed) == 0 {
		s.add(it.agent, w.effect(leaf))
	}
	s.tracing = false
	return leaf, err
}

// jump makes a step by its effect.
func (w *walker) jump(e *effect) {
	for _, p := range e.to {
		w.touched = append(w.touched, touch{cell: p.cell, was: w.vector[p.cell]})
		w.vector[p.cell] = p.to
	}
	w.fingerprint.Toggle(e.print)
	w.wrote = e.wrote
}

// effect returns the effect of the step that the walker has taken.
func (w *walker) effect(leaf *behavior.Leaf) *effect {
	e := &effect{leaf: leaf, wrote: w.wrote, print: w.fingerprint}
	e.print.Toggle(w.origin)
	for i, t := range w.touched {
		if !touches(w.touched[:i], t.cell) {
			e.to = append(e.to, put{cell: t.cell, to: w.vector[t.cell]})
		}
	}
	return e
}

func touches(touched []touch, c state.Cell) bool {
	for i := range touched {
		if touched[i].cell == c {
			return true
		}
	}
	return false
}

// traced is a sight that takes note of what is looked at.
type traced struct{ *sight }

var _ behavior.Glance = traced{}

// Value implements [behavior.Glance].
func (t traced) Value(c state.Cell) state.Value {
	t.walker.depend(c)
	return t.sight.Value(c)
}

// AppendSignature implements [behavior.Glance]. A list depends on all that might be in it.
func (t traced) AppendSignature(buffer []byte, kind core.Kind, namespace string, selection *state.Selection) ([]byte, bool) {
	vocabulary := t.walker.machine.vocabulary
	for _, c := range vocabulary.Kind(kind) {
		if key, _ := vocabulary.Key(c); namespace == "" || namespace == key.Namespace {
			t.walker.depend(c)
		}
	}
	return t.sight.AppendSignature(buffer, kind, namespace, selection)
}

// depend takes note that the run which is traced depends on a cell.
func (w *walker) depend(c state.Cell) { w.shortcuts.depend(c, w.vector[c]) }

// valueIn returns the value of a cell in a vector that may be shorter.
func valueIn(vector state.Vector, c state.Cell) state.Value {
	if int(c) >= len(vector) {
		return 0
	}
	return vector[c]
}
