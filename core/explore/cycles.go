package explore

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/scc"
)

// applyProvisos looks for states in which what is left out might be put off for ever, and opens them: what was left out
// there is followed, too. It reports whether there are any.
func (s *search) applyProvisos() bool {
	return !s.partial.Empty() && (s.expandCut() || !s.acyclic && s.expandLoops())
}

// expandCut opens the states in which a step cannot be taken to its end: nothing is done for the others then.
func (s *search) expandCut() bool {
	found := false
	for id := range core.StateID(s.States()) {
		if s.partial.Has(id) && s.cut.Has(id) {
			s.open(id, reduction.Full)
			found = true
		}
	}
	return found
}

// expandLoops opens states of loops: first so that nothing is put off for ever, and then so that it shows which loops
// are fair.
func (s *search) expandLoops() bool {
	loops := s.loops()
	d := depthFirst{space: s.Space, colour: make([]byte, s.States())}
	expandCycles := func(l loop) bool { return s.expandCycles(l, &d) }
	for _, expand := range []func(loop) bool{expandCycles, s.expandApart, s.expandIgnoring} {
		found := false
		for _, l := range loops {
			found = expand(l) || found
		}
		if found {
			return true
		}
	}
	return false
}

// expandCycles looks for cycles in a loop all of whose states leave out agents, and opens a state of each. Where
// several cycles share a state, one may do for all. In a loop that is apart, it is enough that no agent of its group is
// left out all the way round.
func (s *search) expandCycles(l loop, d *depthFirst) bool {
	var back []core.StateID
	for _, id := range l.lacking {
		d.colour[id] = white
	}
	for _, id := range l.lacking {
		if d.colour[id] == white {
			back = append(back, d.from(id)...)
		}
	}
	for _, id := range back {
		s.open(id, l.extent())
	}
	return len(back) > 0
}

// groupIn returns the group of the agents that are followed in a state that leaves out others, negative if too little
// is known of them, and whether all of it are followed that are enabled.
func (s *Space) groupIn(id core.StateID) (group int, whole bool) {
	s.reader.Load(s.row(id))
	if followed(s.reader, s.extent(id)) == nil {
		return -1, false
	}
	return s.reader.FollowedGroup()
}

// open has a state expanded once more, to another extent.
func (s *search) open(id core.StateID, extent reduction.Extent) {
	steps := len(s.list(id, s.extent(id))) - len(s.sleeps.at(id))
	s.Stats.Transitions -= steps
	s.Stats.FromTree -= steps
	s.partial.Remove(id)
	s.level.Remove(id)
	if extent == reduction.Full {
		s.full.Add(id)
	} else {
		s.grouped.Add(id)
	}
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
	outside = iota // not searched
	white          // not seen yet
	grey           // on the way
	black          // done
)

// depthFirst is a depth-first search in the states that are not outside. Every cycle among them has a step back to a
// state on the way.
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

// last returns the last state on the way, from one on, that follows more than an agent whose step does nothing. There
// is one: each such step makes a queue shorter.
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
	for _, e := range d.space.Edges(id) {
		if d.colour[e.To] != outside {
			v.next = append(v.next, e.To)
		}
	}
	d.way = append(d.way, v)
}

// loop is a strongly connected component of the steps that are followed, with a step inside.
type loop struct {
	states []core.StateID // in order
	// apart tells that all states leave out agents, and follow those of one group alone. Then what the others do can
	// wait as long as the loop is left again.
	apart bool
	group int
	// lacking are the states that leave out agents: of the group, if the loop is apart.
	lacking []core.StateID
}

// extent returns to which extent states of the loop are opened for the agents that go round in it.
func (l loop) extent() reduction.Extent {
	if l.apart {
		return reduction.Grouped
	}
	return reduction.Full
}

// loops returns all loops.
func (s *Space) loops() []loop {
	// Formulas judge parts of loops, whatever these are, and where names are exchanged it is not the same group that
	// goes on.
	never := s.judgesParts() || s.Symmetry != nil
	var all []loop
	s.eachLoop(func(states []core.StateID) bool {
		l := loop{states: slices.Sorted(slices.Values(states))}
		for _, id := range l.states {
			if s.partial.Has(id) {
				l.lacking = append(l.lacking, id)
			}
		}
		all = append(all, l)
		return true
	})
	for i := range all {
		if l := &all[i]; !never && len(l.lacking) == len(l.states) {
			s.setApart(l)
		}
	}
	return all
}

// setApart finds out whether a loop all of whose states leave out agents is apart.
func (s *Space) setApart(l *loop) {
	var lacking []core.StateID
	for i, id := range l.states {
		group, whole := s.groupIn(id)
		if group < 0 || i > 0 && group != l.group {
			return
		}
		l.group = group
		if !whole {
			lacking = append(lacking, id)
		}
	}
	l.apart, l.lacking = true, lacking
}

// judgesParts reports whether properties look at states on the way.
func (s *Space) judgesParts() bool {
	return slices.ContainsFunc(s.machine.System.Properties, func(p core.Property) bool { return p.Sees != nil })
}

// expandApart opens states of a loop that is apart. If it is not fair to its own group, it is left again, whatever
// others do. Otherwise, or if nothing leads out of it, a state is opened for the others.
func (s *search) expandApart(l loop) bool {
	if !l.apart {
		return false
	}
	switch ignoring, own := s.ignored(l); {
	case own:
		return s.openAll(ignoring, reduction.Grouped)
	case len(ignoring) > 0 || !s.leavable(l):
		s.open(s.anyOf(l), reduction.Full)
		return true
	}
	return false
}

// expandIgnoring opens states of a loop that is not apart so that the graph shows whether it is fair. One that a fair
// run can stay in needs no step that is possible in all of its states; whether it is possible can be seen only where it
// is not left out. So the states of a loop that leave out such a step are opened. Properties that look at states on the
// way may be about parts of loops, whatever these are: then all states of loops are opened.
func (s *search) expandIgnoring(l loop) bool {
	if l.apart {
		return false
	}
	ignoring := l.states
	if !s.judgesParts() {
		ignoring, _ = s.ignored(l)
	}
	return s.openAll(ignoring, reduction.Full)
}

// openAll opens those of some states that leave out agents, and reports whether there are any.
func (s *search) openAll(states []core.StateID, extent reduction.Extent) bool {
	found := false
	for _, id := range slices.Backward(states) {
		if s.partial.Has(id) {
			s.open(id, extent)
			found = true
		}
	}
	return found
}

// leavable reports whether a step leads out of a loop.
func (s *Space) leavable(l loop) bool {
	return slices.ContainsFunc(l.states, func(id core.StateID) bool {
		return slices.ContainsFunc(s.Edges(id), func(e core.Edge) bool { return !l.has(e.To) })
	})
}

func (l loop) has(id core.StateID) bool {
	_, inside := slices.BinarySearch(l.states, id)
	return inside
}

// anyOf returns the last state of a loop that follows more than an agent whose step does nothing. There is one, as in
// [depthFirst.last].
func (s *Space) anyOf(l loop) core.StateID {
	last := len(l.states) - 1
	for s.level.Has(l.states[last]) && last > 0 {
		last--
	}
	return l.states[last]
}

// ignored returns the states of a loop which leave out a step that is due in all states of the loop and not taken
// within it. If steps like that are of the group of a loop that is apart, it is about those alone. Fairness is of
// steps, not of agents: one that makes concurrent calls has a step for each order in which they are answered.
func (s *Space) ignored(l loop) (ignoring []core.StateID, own bool) {
	taken, due, ofGroup := map[core.Step]bool{}, map[core.Step]int{}, map[core.Step]bool{}
	left := map[core.StateID][]core.Step{}
	for _, id := range l.states {
		followed := map[core.Step]bool{}
		for _, e := range s.Edges(id) {
			followed[e.Step] = true
			if l.has(e.To) {
				taken[e.Step] = true
			}
		}
		steps, agents := s.dueSteps(id)
		for i, step := range steps {
			due[step]++
			ofGroup[step] = l.apart && s.reader.GroupOf(agents[i]) == l.group
			if !followed[step] {
				left[id] = append(left[id], step)
			}
		}
	}
	isIgnored := func(step core.Step) bool { return !taken[step] && due[step] == len(l.states) }
	for step, of := range ofGroup {
		own = own || of && isIgnored(step)
	}
	for _, id := range l.states {
		if slices.ContainsFunc(left[id], func(step core.Step) bool { return isIgnored(step) && ofGroup[step] == own }) {
			ignoring = append(ignoring, id)
		}
	}
	return ignoring, own
}

// dueSteps returns the steps that can be taken in a state and are due, or promised, each once, and the agents that take
// them.
func (s *Space) dueSteps(id core.StateID) (steps []core.Step, agents []int) {
	s.reader.Load(s.row(id))
	d := dueVisitor{space: s}
	if _, err := s.reader.Steps(&d, nil); err != nil {
		panic("explore: listing the steps of a state ended with " + err.Error())
	}
	return d.steps, d.agents
}

// dueVisitor lists steps that are due.
type dueVisitor struct {
	space *Space
	steps []core.Step
	// agents take them.
	agents []int
}

// Stopped implements [transition.Visitor]. What is not known was never taken.
func (d *dueVisitor) Stopped(t *transition.Taken, _ error) error { return d.Took(t) }

// Took implements [transition.Visitor].
func (d *dueVisitor) Took(t *transition.Taken) error {
	if step := t.Step(); d.space.expected(step) && !step.Kind.Timed() && !slices.Contains(d.steps, step) {
		d.steps, d.agents = append(d.steps, step), append(d.agents, t.Agent())
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
