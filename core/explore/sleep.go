package explore

import (
	"encoding/binary"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// sleeps keeps the sleep set of each stored state: agents that are followed there, but whose steps are not taken, as another order of
// the same steps leads where they lead (Godefroid, "Partial-order methods for the verification of concurrent systems", 1996).
// When the state is reached in another way, and some are not asleep then, they are woken, and the state is expanded once more with them
// alone.
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

// wakes tells whether somebody wakes up in a state when it is reached with only these agents asleep.
func (s *sleeps) wakes(id core.StateID, asleep []int) bool {
	if !s.needed {
		return false
	}
	return slices.ContainsFunc(s.at(id), func(agent int) bool { return !contains(asleep, agent) })
}

// rouse returns the agents that were woken since the state was expanded, which are then taken care of.
func (s *sleeps) rouse(id core.StateID) []int {
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
	s.sleeps.put(id, only(before, func(agent int) bool { return contains(asleep, agent) }))
	if s.expanded.has(id) {
		s.expandWith(id, depth, only(before, func(agent int) bool { return !contains(asleep, agent) }))
	}
}

// slept takes note of who was asleep in a state when it was expanded for the first time. Those who woke up meanwhile, and those who
// were not to be followed anyhow, are not asleep any more.
func (s *search) slept(id core.StateID, depth uint32, asleep []int) {
	still := s.sleeps.at(id)
	if len(still) == 0 && len(asleep) == 0 {
		return
	}
	isStill := func(agent int) bool { return contains(still, agent) }
	s.sleeps.put(id, only(asleep, isStill))
	if woken := only(asleep, func(agent int) bool { return !isStill(agent) }); len(woken) > 0 {
		s.expandWith(id, depth, woken)
	}
}

// expandWith has a state that was expanded already expanded once more, with some agents alone.
func (s *search) expandWith(id core.StateID, depth uint32, agents []int) {
	before := s.sleeps.woken[id]
	if before == nil {
		s.frontier.push(waiting{ref: s.store.At(id), depth: depth})
	}
	agents = append(agents, before...)
	slices.Sort(agents)
	s.sleeps.woken[id] = slices.Compact(agents)
}

// wakeAll wakes all agents in all states: some may have fallen asleep behind steps of agents that were found to be put off.
func (s *search) wakeAll() {
	s.sleeps.disturbed = true
	for id := range core.StateID(s.States()) {
		asleep := s.sleeps.at(id)
		if len(asleep) == 0 {
			continue
		}
		s.sleeps.put(id, nil)
		if s.expanded.has(id) {
			s.expandWith(id, s.depthOf(id), asleep)
		}
	}
}

// only returns those agents of a list for which something is true.
func only(agents []int, is func(int) bool) []int {
	return slices.DeleteFunc(slices.Clone(agents), func(agent int) bool { return !is(agent) })
}

// contains tells whether an agent is in a list in order.
func contains(agents []int, agent int) bool {
	_, found := slices.BinarySearch(agents, agent)
	return found
}

// dozes is the part of an explorer that finds out whose steps need not be taken.
type dozes struct {
	// asleep are the agents that are asleep, in order: first those whose steps are not taken in the state, and then also those whose steps were
	// taken already.
	asleep []int
	// wakeful tells that nobody can fall asleep in the state.
	wakeful bool
	// disturbs tells that agents were found to be put off behind whose steps others may be asleep.
	disturbs bool
	awake    []bool
	next     []int
}

// turnout returns whose steps are to be taken in the state of the walker, nil for all, and whether some agent is left out, other than
// those asleep. If some were woken, it is those alone. In full states nobody is left out or asleep. The slice is valid until the
// next call.
func (w *explorer) turnout(full bool, asleep, woken []int) (reduced bool, only []bool, err error) {
	d := &w.dozes
	if w.Learn != nil && w.footprints != nil {
		w.footprints.choosing = w.Walker
	}
	d.asleep, d.wakeful = d.asleep[:0], full || w.chooser == nil || w.Faulty()
	if full {
		return false, nil, nil
	}
	if only, err = w.reduce(); err != nil {
		d.wakeful = true
		return false, nil, err
	}
	reduced = only != nil
	// Where controllers are done timers fire, and nothing commutes with that.
	d.wakeful = d.wakeful || w.users
	if d.wakeful || len(asleep) == 0 && len(woken) == 0 {
		return reduced, only, nil
	}
	for _, agent := range asleep {
		if !reduced || only[agent] {
			d.asleep = append(d.asleep, agent)
		}
	}
	d.awake = slices.Grow(d.awake[:0], w.Machine.Agents)[:w.Machine.Agents]
	clear(d.awake)
	for _, e := range w.enabled {
		followed := !reduced || only[e.Agent]
		d.awake[e.Agent] = followed && (len(woken) == 0 && !contains(d.asleep, e.Agent) || contains(woken, e.Agent))
	}
	return reduced, d.awake, nil
}

// behind returns the agents that are asleep behind a step of the walker, in order, and takes note that it was taken. The slice is valid until the
// next call.
func (w *explorer) behind(t *transition.Taken) []int {
	d := &w.dozes
	d.next = d.next[:0]
	if d.wakeful {
		return nil
	}
	agent := t.Agent()
	if !w.footprints.agents[agent].putOff {
		// Its own steps, of which there are several where calls are concurrent, are all taken.
		for _, other := range d.asleep {
			if other != agent && w.chooser.Commute(other, agent) {
				d.next = append(d.next, other)
			}
		}
	}
	if at, found := slices.BinarySearch(d.asleep, agent); !found {
		d.asleep = slices.Insert(d.asleep, at, agent)
	}
	return d.next
}

// waking takes note of the work that a step puts into queues, also where it is there already: with another order of
// steps it may not be. It implements [transition.Listener].
type waking struct {
	walker *transition.Walker
	// messages tells that calls may put something into a queue.
	messages bool
	woken    []state.Cell
}

var _ transition.Listener = (*waking)(nil)

// listen has an explorer take note of what it wakes.
func listen(w *explorer) {
	messages := slices.ContainsFunc(w.Machine.Actors, func(a *transition.Actor) bool { return a.Messages && !a.User })
	w.wakes = &waking{walker: w.Walker, messages: messages}
	w.Listener = w.wakes
}

// Began implements [transition.Listener].
func (k *waking) Began() { k.woken = k.woken[:0] }

// Called implements [transition.Listener]: messages are there at once.
func (k *waking) Called(_ *transition.Actor, _ behavior.Activation, call transition.Told) {
	w := k.walker
	if !k.messages || call.Node.Call.Source() != core.Live {
		return
	}
	if answered := call.Node.Look(w.Live, w.Buffer); answered != nil {
		k.woken = append(k.woken, answered.Enqueue...)
	}
}

// Ended implements [transition.Listener]: what event handlers ask for is put into the queue.
func (k *waking) Ended(_ *transition.Actor, activation behavior.Activation, _ behavior.Path, leaf *behavior.Leaf) {
	if activation.Event != nil {
		k.woken = append(k.woken, leaf.Cells...)
	}
}

// Committed implements [transition.Listener].
func (k *waking) Committed(*view.View) {}

// Refreshed implements [transition.Listener].
func (k *waking) Refreshed(*view.View) {}

// agents calls a function with the agents that the walker's step wakes, other than the one that takes it.
func (k *waking) agents(s *transition.Taken, call func(agent int)) {
	for _, c := range k.woken {
		if it := k.walker.Machine.ItemAt[c]; it != s.Item {
			call(it.Agent)
		}
	}
}
