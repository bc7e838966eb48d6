package reduction

import (
	"maps"
	"reflect"
	"slices"

	"github.com/orrery-dev/orrery/core/internal/transition"
)

// knowledge is what choices are made from.
type knowledge struct {
	// agents are the footprints of all agents, by number, and stages those of the steps of runs whose calls are steps
	// of their own.
	agents []Footprint
	stages map[transition.Stage]*Footprint
	// blocked tells which agents are blocked now and then, by number, and putOff which are put off.
	blocked, putOff []bool
	// missed is what may change of what agents look at without waking them, by number.
	missed []missed
	// visible is what is looked at by what is checked, and allVisible tells that all of it is.
	visible    []Place
	allVisible bool
}

// comesTo reports whether the same is chosen from something else that is known.
func (k *knowledge) comesTo(other *knowledge) bool {
	if k.allVisible && other.allVisible {
		return true // nothing is left out
	}
	return slices.EqualFunc(k.agents, other.agents, sameFootprint) && maps.EqualFunc(k.stages, other.stages, func(one, other *Footprint) bool {
		return sameFootprint(*one, *other)
	}) &&
		slices.Equal(k.blocked, other.blocked) && slices.Equal(k.putOff, other.putOff) && slices.Equal(k.visible, other.visible) && k.allVisible == other.allVisible
}

func sameFootprint(one, other Footprint) bool { return reflect.DeepEqual(one, other) }

// known returns what is known of the steps of a machine.
func (f *footprints) known(m *transition.Machine) knowledge {
	f.selects()
	f.gate(m)
	k := knowledge{visible: sorted(f.visible.reads), allVisible: f.allVisible}
	without := f.unchanging()
	entries := f.entries()
	for i, touched := range f.agents {
		exported := f.export(touched, without)
		f.pick(i, &exported, entries)
		missed := f.missed(i)
		exported.Missed, exported.MissedInViews = missed.places, missed.inViews
		k.missed = append(k.missed, missed)
		k.agents, k.blocked, k.putOff = append(k.agents, exported), append(k.blocked, touched.blocks), append(k.putOff, touched.putOff)
	}
	k.stages = make(map[transition.Stage]*Footprint, len(f.stages))
	for stage, touched := range f.stages {
		exported := f.export(touched, without)
		if it := stage.Begun; it != nil && k.blocked[it.Agent] {
			// Whether a run that was blocked can begin anew depends on all that it reads.
			exported.Reads = k.agents[it.Agent].Reads
		}
		k.stages[stage] = &exported
	}
	return k
}

// selects finds out what is selected of what steps change, with all values that objects had so far.
func (f *footprints) selects() {
	for _, known := range f.agents {
		f.selectsOf(known)
	}
	for _, known := range f.stages {
		f.selectsOf(known)
	}
}

func (f *footprints) selectsOf(known *footprint) {
	for c := range known.touched.All() {
		key, _ := f.vocabulary.Key(c) // what is no object is of no kind, of which nothing is selected
		for _, s := range f.vocabulary.Selections(key.Kind) {
			if f.vocabulary.May(s, c) {
				grow(f, known.alters, f.place(placeName{listed: true, kind: s.Kind, namespace: s.Namespace, selection: s}))
			}
		}
	}
}

// gate notes what keeps items from being taken from their queues where each call is a step of its own: that all workers
// are busy.
func (f *footprints) gate(m *transition.Machine) {
	if m.Conditions.Granularity != transition.PerCall {
		return
	}
	for _, it := range m.Items {
		if !it.Actor.Atomic {
			grow(f, f.agents[it.Agent].gates, f.place(placeName{workers: it.Actor.Name}))
		}
	}
}

// unchanging returns the places that say who holds versions of objects which nobody changes: it does not matter.
func (f *footprints) unchanging() map[Place]bool {
	written := map[Place]bool{}
	for _, known := range f.agents {
		for place := range known.writes {
			written[place] = true
		}
	}
	unchanging := map[Place]bool{}
	for name, place := range f.places {
		if name.held && !written[f.places[placeName{sight: sight{cell: name.cell}}]] {
			unchanging[place] = true
		}
	}
	return unchanging
}

// export returns a footprint for a reducer, without the places that do not matter.
func (f *footprints) export(from *footprint, without map[Place]bool) Footprint {
	reads := f.readsOf(from)
	gates := maps.Clone(from.gates)
	if from.blocks {
		maps.Copy(gates, reads)
	}
	idle := func(place Place) bool { return without[place] }
	return Footprint{
		Known:  from.known,
		Takes:  from.takes,
		Reads:  slices.DeleteFunc(sorted(reads), idle),
		Writes: sorted(from.writes),
		Alters: slices.DeleteFunc(sorted(from.alters), idle),
		Wakes:  sorted(from.wakes),
		Gates:  sorted(gates),
	}
}

func sorted[K int | Place](members map[K]bool) []K {
	list := make([]K, 0, len(members))
	for member := range members {
		list = append(list, member)
	}
	slices.Sort(list)
	return list
}
