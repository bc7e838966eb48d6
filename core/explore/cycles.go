package explore

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/scc"
)

// applyProvisos makes sure that nothing is put off for ever where agents are left out. It has states expanded again, in full, and
// returns false if there is none that has to be.
func (s *search) applyProvisos() bool {
	return !s.partial.Empty() && (s.expandCut() || !s.acyclic && (s.expandCycles() || s.expandComponents()))
}

// expandCut opens the states in which a step cannot be taken to its end: nothing is done for the others then.
func (s *search) expandCut() bool {
	found := false
	for id := range core.StateID(s.States()) {
		if s.partial.Has(id) && s.cut.Has(id) {
			s.expandFully(id)
			found = true
		}
	}
	return found
}

// expandCycles looks for cycles all of whose states leave out agents, and opens a state of each. Where several cycles
// share a state, one may do for all.
func (s *search) expandCycles() bool {
	found := false
	d := depthFirst{space: s.Space, colour: make([]byte, s.States())}
	for id := range core.StateID(s.States()) {
		if s.partial.Has(id) && d.colour[id] == white {
			for _, last := range d.from(id) {
				s.expandFully(last)
				found = true
			}
		}
	}
	return found
}

// expandFully has a state expanded once more, in full.
func (s *search) expandFully(id core.StateID) {
	steps := len(s.list(id, false)) - len(s.sleeps.at(id))
	s.Stats.Transitions -= steps
	s.Stats.FromTree -= steps
	s.partial.Remove(id)
	s.level.Remove(id)
	s.full.Add(id)
	s.sleeps.clear(id)
	s.expanded.Remove(id)
	s.frontier.push(waiting{id: id, depth: s.depthOf(id)})
}

// depthOf returns the length of the run by which a state was first reached.
func (s *Space) depthOf(id core.StateID) uint32 {
	depth := uint32(0)
	for {
		parent := s.store.Parent(s.store.At(id))
		if parent == store.NoParent {
			return depth
		}
		id = parent
		depth++
	}
}

// The colours of states in a depth-first search.
const (
	white = iota // not seen yet
	grey         // on the way
	black        // done
)

// depthFirst is a depth-first search in the states that leave out agents. Every cycle among them has a step back to
// a state on the way.
type depthFirst struct {
	space  *Space
	colour []byte
	way    []visit
}

// visit is a state on the way, with the steps from it that are not taken yet.
type visit struct {
	id   core.StateID
	next []core.StateID
}

// from searches from a state and returns those with a step back.
func (d *depthFirst) from(root core.StateID) []core.StateID {
	var back []core.StateID
	d.enter(root)
	for len(d.way) > 0 {
		at := &d.way[len(d.way)-1]
		if len(at.next) == 0 {
			d.colour[at.id] = black
			d.way = d.way[:len(d.way)-1]
			continue
		}
		to := at.next[0]
		at.next = at.next[1:]
		switch d.colour[to] {
		case white:
			d.enter(to)
		case grey:
			if last := d.last(to); !slices.Contains(back, last) {
				back = append(back, last)
			}
		}
	}
	return back
}

// last returns the last state on the way, from one on, that follows more than an agent whose step does nothing. There is one: each such step makes a
// queue shorter.
func (d *depthFirst) last(from core.StateID) core.StateID {
	last := len(d.way) - 1
	for d.space.level.Has(d.way[last].id) && d.way[last].id != from {
		last--
	}
	return d.way[last].id
}

func (d *depthFirst) enter(id core.StateID) {
	d.colour[id] = grey
	v := visit{id: id}
	for _, e := range d.space.list(id, false) {
		if d.space.partial.Has(e.To) {
			v.next = append(v.next, e.To)
		}
	}
	d.way = append(d.way, v)
}

// expandComponents opens states so that the graph shows which loops are fair. A loop that a fair run can stay in needs no step that
// is possible in all of its states; whether it is possible can be seen only where it is not left
// out. So the states of a loop that leave out such a step are opened. Properties that look at states on the way may be about
// parts of loops, whatever these are: then all states of loops are opened.
func (s *search) expandComponents() bool {
	found, parts := false, slices.ContainsFunc(s.machine.System.Properties, func(p core.Property) bool { return p.Sees != nil })
	s.eachLoop(func(component []core.StateID) bool {
		if !parts {
			component = s.ignored(component)
		}
		for _, id := range slices.Backward(component) {
			if s.partial.Has(id) {
				s.expandFully(id)
				found = true
			}
		}
		return true
	})
	return found
}

// ignored returns the states of a component which leave out a step that is due in all states of the component and not taken within it. Fairness is
// of steps, not of agents: one that makes concurrent calls has a step for each order in which they are answered.
func (s *Space) ignored(component []core.StateID) []core.StateID {
	inside := make(map[core.StateID]bool, len(component))
	for _, id := range component {
		inside[id] = true
	}
	taken, due := map[core.Step]bool{}, map[core.Step]int{}
	left := map[core.StateID][]core.Step{}
	for _, id := range component {
		followed := map[core.Step]bool{}
		for _, e := range s.Edges(id) {
			followed[e.Step] = true
			if inside[e.To] {
				taken[e.Step] = true
			}
		}
		for _, step := range s.dueSteps(id) {
			due[step]++
			if !followed[step] {
				left[id] = append(left[id], step)
			}
		}
	}
	var ignoring []core.StateID
	for _, id := range component {
		if slices.ContainsFunc(left[id], func(step core.Step) bool { return !taken[step] && due[step] == len(component) }) {
			ignoring = append(ignoring, id)
		}
	}
	return ignoring
}

// dueSteps returns the steps that can be taken in a state and are due, each once.
func (s *Space) dueSteps(id core.StateID) []core.Step {
	s.reader.Load(s.row(id))
	d := dueVisitor{space: s}
	if _, err := s.reader.Steps(&d, nil); err != nil {
		panic("explore: listing the steps of a state ended with " + err.Error())
	}
	return d.steps
}

// dueVisitor lists steps that are due.
type dueVisitor struct {
	space *Space
	steps []core.Step
}

// Stopped implements [transition.Visitor]. What is not known was never taken.
func (d *dueVisitor) Stopped(t *transition.Taken, _ error) error { return d.Took(t) }

// Took implements [transition.Visitor].
func (d *dueVisitor) Took(t *transition.Taken) error {
	if step := t.Step(); d.space.Fair(step) && !step.Kind.Timed() && !slices.Contains(d.steps, step) {
		d.steps = append(d.steps, step)
	}
	return nil
}

// followedSteps is the graph of the steps that are followed. It implements [scc.Graph].
type followedSteps struct {
	space *Space
	// next is the next state to begin with.
	next core.StateID
}

// Root implements [scc.Graph].
func (f *followedSteps) Root() (core.StateID, bool) {
	f.next++
	return f.next - 1, int(f.next) <= f.space.States()
}

// Next implements [scc.Graph].
func (f *followedSteps) Next(id core.StateID, at *scc.Targets[core.StateID]) (core.StateID, bool) {
	return at.Next(func() []core.StateID {
		var targets []core.StateID
		for _, e := range f.space.Edges(id) {
			targets = append(targets, e.To)
		}
		return targets
	})
}

// eachLoop calls a function with the components that have a step inside, until it returns false.
func (s *Space) eachLoop(yield func(states []core.StateID) bool) {
	// Without a context that ends, there is no error.
	_ = scc.Search(context.Background(), &followedSteps{space: s}, func(c scc.Component[core.StateID]) bool {
		return !c.Cyclic || yield(c.Nodes)
	})
}
