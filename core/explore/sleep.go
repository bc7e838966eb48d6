package explore

import (
	"encoding/binary"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// sleeps keeps the sleep set of each stored state: agents that are followed there, but whose steps are not taken, as
// another order of the same steps leads where they lead (Godefroid, "Partial-order methods for the verification of
// concurrent systems", 1996). When the state is reached in another way, and some are not asleep then, they are woken,
// and the state is expanded once more with them alone.
type sleeps struct {
	needed bool
	// sets are all there are, each in order and once, by numbers; the first is empty.
	sets    [][]int
	numbers map[string]uint32
	of      store.Pages[uint32]
	// woken are agents that were woken since their state was expanded.
	woken map[core.StateID][]int
	// disturbed tells that all were woken since the batch was expanded: who falls asleep behind its steps must not.
	disturbed bool
	name      []byte
}

// at returns the agents that are asleep in a state.
func (s *sleeps) at(id core.StateID) []int {
	if !s.needed {
		return nil
	}
	return s.sets[s.of.At(int(id))]
}

// add keeps the agents that are asleep in a new state.
func (s *sleeps) add(agents []int) {
	if s.needed {
		s.of.Add(s.number(agents))
	}
}

// put changes which agents are asleep in a state.
func (s *sleeps) put(id core.StateID, agents []int) { s.of.Put(int(id), s.number(agents)) }

// number returns the number of a set.
func (s *sleeps) number(agents []int) uint32 {
	if s.numbers == nil {
		s.sets, s.numbers, s.woken = [][]int{nil}, map[string]uint32{"": 0}, map[core.StateID][]int{}
	}
	s.name = s.name[:0]
	for _, agent := range agents {
		s.name = binary.AppendUvarint(s.name, uint64(agent))
	}
	n, known := s.numbers[string(s.name)]
	if !known {
		n = uint32(len(s.sets))
		s.sets = append(s.sets, slices.Clone(agents))
		s.numbers[string(s.name)] = n
	}
	return n
}

// wakes reports whether somebody wakes up in a state when it is reached with only these agents asleep.
func (s *sleeps) wakes(id core.StateID, asleep []int) bool {
	if !s.needed {
		return false
	}
	return slices.ContainsFunc(s.at(id), func(agent int) bool { return !reduction.Contains(asleep, agent) })
}

// takeWoken returns the agents that were woken since the state was expanded, which are then taken care of.
func (s *sleeps) takeWoken(id core.StateID) []int {
	woken := s.woken[id]
	delete(s.woken, id)
	return woken
}

// clear has nobody sleep in a state.
func (s *sleeps) clear(id core.StateID) {
	if s.needed {
		s.put(id, nil)
		delete(s.woken, id)
	}
}

// wake wakes the agents that are not among those asleep when a state is reached once more.
func (s *search) wake(id core.StateID, depth uint32, asleep []int) {
	if !s.sleeps.wakes(id, asleep) {
		return
	}
	before := s.sleeps.at(id)
	s.sleeps.put(id, reduction.Only(before, func(agent int) bool { return reduction.Contains(asleep, agent) }))
	if s.expanded.Has(id) {
		s.expandWith(id, depth, reduction.Only(before, func(agent int) bool { return !reduction.Contains(asleep, agent) }))
	}
}

// slept notes who was asleep in a state when it was expanded for the first time. Those who woke up meanwhile, and those
// who were not to be followed anyhow, are not asleep any more.
func (s *search) slept(id core.StateID, depth uint32, asleep []int) {
	still := s.sleeps.at(id)
	if len(still) == 0 && len(asleep) == 0 {
		return
	}
	isStill := func(agent int) bool { return reduction.Contains(still, agent) }
	s.sleeps.put(id, reduction.Only(asleep, isStill))
	if woken := reduction.Only(asleep, func(agent int) bool { return !isStill(agent) }); len(woken) > 0 {
		s.expandWith(id, depth, woken)
	}
}

// expandWith has a state that was expanded already expanded once more, with some agents alone.
func (s *search) expandWith(id core.StateID, depth uint32, agents []int) {
	before := s.sleeps.woken[id]
	if before == nil {
		s.frontier.push(waiting{id: id, depth: depth})
	}
	agents = append(agents, before...)
	slices.Sort(agents)
	s.sleeps.woken[id] = slices.Compact(agents)
}

// wakeAll wakes all agents in all states: some may have fallen asleep behind steps of agents that were found to be put
// off.
func (s *search) wakeAll() {
	s.sleeps.disturbed = true
	for id := range core.StateID(s.States()) {
		asleep := s.sleeps.at(id)
		if len(asleep) == 0 {
			continue
		}
		s.sleeps.put(id, nil)
		if s.expanded.Has(id) {
			s.expandWith(id, s.depthOf(id), asleep)
		}
	}
}
