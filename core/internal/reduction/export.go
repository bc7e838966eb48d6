package reduction

import (
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// Selects finds out what is selected of what steps change, with all values that objects had so far.
func (f *footprints) Selects(vocabulary *state.Vocabulary) {
	for _, known := range f.agents {
		f.selectsOf(vocabulary, known)
	}
	for _, known := range f.stages {
		f.selectsOf(vocabulary, known)
	}
}

func (f *footprints) selectsOf(vocabulary *state.Vocabulary, known *footprint) {
	for c := range known.touched.All() {
		key, isObject := vocabulary.Key(c)
		if !isObject {
			continue
		}
		for _, s := range vocabulary.Selections(key.Kind) {
			if vocabulary.May(s, c) {
				grow(f, known.alters, f.place(placeName{listed: true, kind: s.Kind, namespace: s.Namespace, selection: s}))
			}
		}
	}
}

// gate notes what keeps items from being taken from their queues where each call is a step of its own: that all workers are
// busy.
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
	reads := maps.Clone(from.reads)
	for kind := range from.kinds {
		if h := f.handlers[kind]; h != nil {
			maps.Copy(reads, h.reads)
		}
	}
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

// all returns the footprints of all agents, by number, and keeps those of the stages.
func (f *footprints) all() []Footprint {
	without := f.unchanging()
	agents := make([]Footprint, len(f.agents))
	f.blocked, f.harmless = make([]bool, len(f.agents)), 0
	for i, known := range f.agents {
		agents[i] = f.export(known, without)
		agents[i].Missed, agents[i].MissedInViews, agents[i].Harmless = f.missed(i)
		f.harmless += len(agents[i].Harmless)
		f.blocked[i] = known.blocks
	}
	f.exported = make(map[transition.Stage]*Footprint, len(f.stages))
	for stage, known := range f.stages {
		exported := f.export(known, without)
		if it := stage.Begun; it != nil && f.blocked[it.Agent] {
			// Whether a run that was blocked can begin anew depends on all that it reads.
			exported.Reads = agents[it.Agent].Reads
		}
		f.exported[stage] = &exported
	}
	return agents
}
