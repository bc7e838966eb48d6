package reduction

import (
	"slices"

	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// Only returns those agents of a list for which something is true.
func Only(agents []int, is func(int) bool) []int {
	return slices.DeleteFunc(slices.Clone(agents), func(agent int) bool { return !is(agent) })
}

// Contains reports whether an agent is in a list in order.
func Contains(agents []int, agent int) bool {
	_, found := slices.BinarySearch(agents, agent)
	return found
}

// sleepSet is the part of an explorer that finds out whose steps need not be taken.
type sleepSet struct {
	// Asleep are the agents that are asleep, in order: first those whose steps are not taken in the state, and then
	// also those whose steps were taken already.
	Asleep []int
	// Wakeful tells that nobody can fall asleep in the state.
	Wakeful bool
	// Disturbs tells that agents were found to be put off behind whose steps others may be asleep.
	Disturbs bool
	awake    []bool
	next     []int
}

// Follow returns whose steps are to be taken in the state of the walker, nil for all, and whether some agent is left
// out, other than those asleep. If some were woken, it is those alone. Where more is followed than was chosen nobody is
// asleep. The slice is valid until the next call.
func (w *Explorer) Follow(extent Extent, asleep, woken []int) (reduced bool, only []bool, err error) {
	d := &w.sleepSet
	if w.Learn != nil && w.Footprints != nil {
		w.Footprints.choosing = w.Walker
	}
	d.Asleep, d.Wakeful = d.Asleep[:0], extent != Chosen || w.chooser == nil || w.Faulty()
	if extent == Full {
		return false, nil, nil
	}
	if only, err = w.Reduce(extent); err != nil {
		d.Wakeful = true
		return false, nil, err
	}
	reduced = only != nil
	// Nothing commutes with what happens once controllers are idle. Behind the one that is followed alone nobody
	// sleeps.
	d.Wakeful = d.Wakeful || w.users || w.Level
	if d.Wakeful || len(asleep) == 0 && len(woken) == 0 {
		return reduced, only, nil
	}
	for _, agent := range asleep {
		if !reduced || only[agent] {
			d.Asleep = append(d.Asleep, agent)
		}
	}
	d.awake = slices.Grow(d.awake[:0], w.Machine.Agents)[:w.Machine.Agents]
	clear(d.awake)
	for _, e := range w.enabled {
		followed := !reduced || only[e.Agent]
		d.awake[e.Agent] = followed && (len(woken) == 0 && !Contains(d.Asleep, e.Agent) || Contains(woken, e.Agent))
	}
	return reduced, d.awake, nil
}

// SleepersBehind returns the agents that are asleep behind a step of the walker, in order, and notes that it was taken.
// The slice is valid until the next call.
func (w *Explorer) SleepersBehind(t *transition.Taken) []int {
	d := &w.sleepSet
	d.next = d.next[:0]
	if d.Wakeful || t.WhenIdle() {
		return nil
	}
	agent := t.Agent()
	if !w.Footprints.agents[agent].putOff {
		// Its own steps, of which there are several where calls are concurrent, are all taken.
		for _, other := range d.Asleep {
			if other != agent && w.chooser.Commute(other, agent) {
				d.next = append(d.next, other)
			}
		}
	}
	if at, found := slices.BinarySearch(d.Asleep, agent); !found {
		d.Asleep = slices.Insert(d.Asleep, at, agent)
	}
	return d.next
}

// enabling notes the work that a step puts into queues, or sets timers for, also where it is there already: with
// another order of steps it may not be. It implements [transition.Listener].
type enabling struct {
	changes
	walker *transition.Walker
	// woken is what is put into queues. What a timer is set for is not woken: it comes once nothing else can be done,
	// when much may have happened to it.
	woken, timed []state.Cell
	awake        bitset.Set[int]
	// memories are what is remembered before the step.
	memories []transition.Remembered
}

var _ transition.Listener = (*enabling)(nil)

// listen has an explorer note what it wakes.
func listen(w *Explorer) {
	w.wakes = &enabling{walker: w.Walker}
	w.Listener = w.wakes
}

// Began implements [transition.Listener].
func (k *enabling) Began() {
	k.woken, k.timed, k.seen = k.woken[:0], k.timed[:0], k.seen[:0]
}

// Called implements [transition.Listener]: what a call puts into a queue is there at once, and so is a timer.
func (k *enabling) Called(_ *transition.Actor, _ behavior.Activation, call transition.CallEvent) {
	k.wrote(k.walker, call.Writes)
	k.wrote(k.walker, call.Overtaken)
	k.woken = append(k.woken, call.Enqueued...)
	k.timed = append(k.timed, call.Timed...)
}

// Ended implements [transition.Listener]: what event handlers ask for is put into the queue.
func (k *enabling) Ended(_ *transition.Actor, activation behavior.Activation, _ behavior.Path, leaf *behavior.Leaf) {
	if activation.Event != nil {
		k.woken = append(k.woken, leaf.Cells...)
	}
}

// agents calls a function with the agents that the walker's step wakes, or sets timers for, other than the one that
// takes it.
func (k *enabling) agents(s *transition.Taken, call func(agent int)) {
	for _, c := range k.woken {
		if it := k.walker.Machine.ItemAt[c]; it != s.Item {
			call(it.Agent)
		}
	}
	k.timers(s, func(c state.Cell) { call(k.walker.Machine.ItemAt[c].Agent) })
}

// timers calls a function with the cells of the items that the walker's step sets timers for, other than its own.
func (k *enabling) timers(s *transition.Taken, call func(state.Cell)) {
	for _, c := range k.timed {
		if k.walker.Machine.ItemAt[c] != s.Item {
			call(c)
		}
	}
}
