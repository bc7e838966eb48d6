package explore

import "slices"

// dozes is the part of a walker that finds out whose steps need not be taken.
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
func (w *walker) turnout(full bool, asleep, woken []int) (reduced bool, only []bool, err error) {
	d := &w.dozes
	if w.learn != nil {
		w.machine.footprints.choosing = w
	}
	d.asleep, d.wakeful = d.asleep[:0], full || w.chooser == nil || w.faulty()
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
	d.awake = slices.Grow(d.awake[:0], len(w.machine.footprints.agents))[:len(w.machine.footprints.agents)]
	clear(d.awake)
	for _, e := range w.enabled {
		followed := !reduced || only[e.Agent]
		d.awake[e.Agent] = followed && (len(woken) == 0 && !contains(d.asleep, e.Agent) || contains(woken, e.Agent))
	}
	return reduced, d.awake, nil
}

// behind returns the agents that are asleep behind a step of the walker, in order, and takes note that it was taken. The slice is valid until the
// next call.
func (w *walker) behind(t *taken) []int {
	d := &w.dozes
	d.next = d.next[:0]
	if d.wakeful {
		return nil
	}
	agent := t.agent()
	if !w.machine.footprints.agents[agent].putOff {
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
