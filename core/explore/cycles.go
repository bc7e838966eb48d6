package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// unroll makes sure that nothing is put off for ever where agents are left out. It has states expanded again, in full, and
// returns false if there is none that has to be.
func (s *search) unroll() bool {
	return !s.partial.empty() && (s.openCut() || !s.acyclic && (s.openCycles() || s.openLoops()))
}

// openCut opens the states in which a step cannot be taken to its end: nothing is done for the others then.
func (s *search) openCut() bool {
	found := false
	for id := range core.StateID(s.States()) {
		if s.partial.has(id) && s.cut.has(id) {
			s.reopen(id)
			found = true
		}
	}
	return found
}

// openCycles looks for cycles all of whose states leave out agents, and opens a state of each. Where several cycles
// share a state, one may do for all.
func (s *search) openCycles() bool {
	found := false
	d := descent{space: s.Space, colour: make([]byte, s.States())}
	for id := range core.StateID(s.States()) {
		if s.partial.has(id) && d.colour[id] == white {
			for _, last := range d.from(id) {
				s.reopen(last)
				found = true
			}
		}
	}
	return found
}

// reopen has a state expanded once more, in full.
func (s *search) reopen(id core.StateID) {
	steps := len(s.list(id, false)) - len(s.sleeps.at(id))
	s.Stats.Transitions -= steps
	s.Stats.FromTree -= steps
	s.partial.remove(id)
	s.full.add(id)
	s.sleeps.clear(id)
	s.expanded.remove(id)
	s.frontier.push(waiting{ref: s.store.At(id), depth: s.depthOf(id)})
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

// descent is a depth-first search in the states that leave out agents. Every cycle among them has a step back to
// a state on the way.
type descent struct {
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
func (d *descent) from(root core.StateID) []core.StateID {
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
			if !slices.Contains(back, at.id) {
				back = append(back, at.id)
			}
		}
	}
	return back
}

func (d *descent) enter(id core.StateID) {
	d.colour[id] = grey
	v := visit{id: id}
	for _, e := range d.space.list(id, false) {
		if d.space.partial.has(e.To) {
			v.next = append(v.next, e.To)
		}
	}
	d.way = append(d.way, v)
}
