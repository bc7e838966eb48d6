package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// openLoops opens states so that the graph shows which loops are fair. A loop that a fair run can stay in needs no step of an
// agent that is enabled in all of its states; whether it is enabled can be seen only where it is not left
// out. So the states of a loop that leave out such an agent are opened. Properties that look at states on the way may be about
// parts of loops, whatever these are: then all states of loops are opened.
func (s *search) openLoops() bool {
	found, parts := false, slices.ContainsFunc(s.machine.system.Properties, func(p core.Property) bool { return p.Sees != nil })
	l := newLoops(s.Space)
	for id := range core.StateID(s.States()) {
		if l.order[id] != 0 {
			continue
		}
		for _, component := range l.from(id) {
			if !parts {
				component = s.neglects(component)
			}
			for _, id := range component {
				if s.partial.has(id) {
					s.reopen(id)
					found = true
				}
			}
		}
	}
	return found
}

// neglects returns the states of a component which leave out an agent that is enabled in all states of the component and takes no step
// within it.
func (s *search) neglects(component []core.StateID) []core.StateID {
	inside := make(map[core.StateID]bool, len(component))
	for _, id := range component {
		inside[id] = true
	}
	taken, enabled := map[int]bool{}, map[int]int{}
	left := map[core.StateID][]int{}
	for _, id := range component {
		followed := map[int]bool{}
		for _, h := range s.hops(id) {
			followed[h.agent] = true
			if inside[h.to] {
				taken[h.agent] = true
			}
		}
		s.reader.load(s.row(id))
		if err := s.reader.findEnabled(); err != nil {
			continue // a step that is not known is behind a cut
		}
		for _, e := range s.reader.enabled {
			if e.Due {
				enabled[e.Agent]++
			}
			if e.Due && !followed[e.Agent] {
				left[id] = append(left[id], e.Agent)
			}
		}
	}
	var neglecting []core.StateID
	for _, id := range component {
		for _, agent := range left[id] {
			if !taken[agent] && enabled[agent] == len(component) {
				neglecting = append(neglecting, id)
				break
			}
		}
	}
	return neglecting
}

// hop is a step that is followed: by whom, and where it leads.
type hop struct {
	agent int
	to    core.StateID
}

// hops returns the steps that are followed from a state.
func (s *Space) hops(id core.StateID) []hop {
	s.reader.load(s.row(id))
	var only []bool
	if !s.full.has(id) {
		only, _ = s.reader.reduce()
	}
	h := hopper{Space: s}
	if _, err := s.reader.steps(&h, only); err != nil {
		panic("explore: listing the steps of a state ended with " + err.Error())
	}
	return h.hops
}

// hopper lists hops.
type hopper struct {
	*Space
	hops []hop
}

// stopped implements [visitor]: what is not known is behind a cut.
func (h *hopper) stopped(*taken, error) error { return nil }

// took implements [visitor].
func (h *hopper) took(t *taken) error {
	w := h.reader
	row, tag, known := w.packKnown(w.buffer[:0])
	if !known {
		return nil
	}
	w.buffer = row
	if r, known := h.store.Find(tag, row); known {
		h.hops = append(h.hops, hop{agent: t.agent(), to: h.store.ID(r)})
	}
	return nil
}

// loops finds the components of the graph, by the algorithm of Tarjan.
type loops struct {
	space *Space
	// order is when a state was met, from 1, and low the first one that can be reached from it among those that are open.
	order, low []core.StateID
	on         []bool
	met        core.StateID
	open       []core.StateID
}

func newLoops(s *Space) *loops {
	return &loops{space: s, low: make([]core.StateID, s.States()), order: make([]core.StateID, s.States()), on: make([]bool, s.States())}
}

// from returns the components with steps inside of them that can be reached from a state, without those that were found
// before.
func (l *loops) from(root core.StateID) [][]core.StateID {
	var components [][]core.StateID
	var way []bend
	enter := func(id core.StateID) {
		l.met++
		l.order[id], l.low[id], l.on[id] = l.met, l.met, true
		l.open = append(l.open, id)
		way = append(way, bend{id: id, hops: l.space.hops(id)})
	}
	for enter(root); len(way) > 0; {
		at := &way[len(way)-1]
		if len(at.hops) > 0 {
			to := at.hops[0].to
			at.hops = at.hops[1:]
			at.loops = at.loops || to == at.id
			switch {
			case l.order[to] == 0:
				enter(to)
			case l.on[to]:
				l.low[at.id] = min(l.low[at.id], l.order[to])
			}
			continue
		}
		id, loops := at.id, at.loops
		way = way[:len(way)-1]
		if len(way) > 0 {
			above := way[len(way)-1].id
			l.low[above] = min(l.low[above], l.low[id])
		}
		if l.low[id] != l.order[id] {
			continue
		}
		var component []core.StateID
		for len(component) == 0 || component[len(component)-1] != id {
			last := l.open[len(l.open)-1]
			l.open = l.open[:len(l.open)-1]
			l.on[last] = false
			component = append(component, last)
		}
		if loops || len(component) > 1 {
			components = append(components, component)
		}
	}
	return components
}

// bend is a state on the way of the search for components, with what is not followed yet. It loops if a step leads back to it.
type bend struct {
	id    core.StateID
	hops  []hop
	loops bool
}
