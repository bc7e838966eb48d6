package transition

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// StepCache leads from what a run depends on straight to what it does to the state, past its calls and the event
// handlers that they set off. What a run does follows from the values of the cells that it looks at, as long as nobody
// holds versions of objects. Each walker that only reads has its own: it saves time, and changes nothing.
type StepCache struct {
	// roots are where the cached steps of items begin, by agent.
	roots []*decision
	// Room is how many more decisions there may be.
	Room int

	// Tracing tells that a run is followed to make a cached step of it, and trace what it depends on so far: cells, in
	// the order in which it came to look at them, with their values before the step.
	Tracing bool
	Trace   []Touch
}

// mostDecisions bounds the memory that cached steps take: some megabytes for a walker.
const mostDecisions = 1 << 16

// decision is where a cached step goes on by the value of a cell, or ends with an effect.
type decision struct {
	cell   state.Cell
	ways   state.Fan[*decision]
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

// Find returns what the step of an agent does in a state, nil if there is no cached step.
func (s *StepCache) Find(agent int, vector state.Vector) *effect {
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

// depend notes that the run which is traced depends on what a cell held before the step.
func (s *StepCache) depend(c state.Cell, value state.Value) {
	for i := range s.Trace {
		if s.Trace[i].Cell == c {
			return
		}
	}
	s.Trace = append(s.Trace, Touch{Cell: c, Was: value})
}

// add makes a cached step of what was traced.
func (s *StepCache) add(agent int, e *effect) {
	for agent >= len(s.roots) {
		s.roots = append(s.roots, nil)
	}
	at := s.roots[agent]
	if at == nil {
		at = s.decide(0, e)
		s.roots[agent] = at
	}
	for i, t := range s.Trace {
		if at.cell != t.Cell {
			panic("explore: what a run looks at next does not follow from what it saw")
		}
		next := at.ways.Get(t.Was)
		if next == nil {
			next = s.decide(i+1, e)
			at.ways.Put(t.Was, next)
		}
		at = next
	}
}

// Remember makes a cached step without an effect, for a vector of which nothing is known yet. What is looked at may
// come in any order, as for predicates that go through maps: first comes what was looked at before, even if it was not
// this time. That takes more cached steps, and is right.
func (s *StepCache) Remember(agent int, vector state.Vector, trace []Touch) {
	s.Trace = nil
	if agent < len(s.roots) {
		for at := s.roots[agent]; at != nil && at.effect == nil; {
			value := ValueIn(vector, at.cell)
			s.Trace = append(s.Trace, Touch{Cell: at.cell, Was: value})
			at = at.ways.Get(value)
		}
	}
	for _, t := range trace {
		s.depend(t.Cell, t.Was)
	}
	s.add(agent, &effect{})
}

// decide returns a decision for the cell at a place in the trace, or the end of the cached step behind the last.
func (s *StepCache) decide(at int, e *effect) *decision {
	s.Room--
	if at == len(s.Trace) {
		return &decision{effect: e}
	}
	return &decision{cell: s.Trace[at].Cell}
}

// forget drops all cached steps: a list depends on all cells of a kind, and there are new ones.
func (s *StepCache) forget() { clear(s.roots); s.Room = mostDecisions }

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
		s.add(it.Agent, w.effect(leaf))
	}
	s.Tracing = false
	return leaf, err
}

// jump makes a step by its effect.
func (w *Walker) jump(e *effect) {
	for _, p := range e.to {
		w.Touched = append(w.Touched, Touch{Cell: p.cell, Was: w.Vector[p.cell]})
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
		if !Touches(w.Touched[:i], t.Cell) {
			e.to = append(e.to, put{cell: t.Cell, to: w.Vector[t.Cell]})
		}
	}
	return e
}

// Touches reports whether a cell was touched.
func Touches(touched []Touch, c state.Cell) bool {
	for i := range touched {
		if touched[i].Cell == c {
			return true
		}
	}
	return false
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
func (w *Walker) depend(c state.Cell) { w.StepCache.depend(c, w.Vector[c]) }

// ValueIn returns the value of a cell in a vector that may be shorter.
func ValueIn(vector state.Vector, c state.Cell) state.Value {
	if int(c) >= len(vector) {
		return 0
	}
	return vector[c]
}
