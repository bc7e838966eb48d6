package explore

import (
	"maps"
	"slices"
)

// export returns a footprint for a reducer, without the places that do not matter.
func (f *footprints) export(from *footprint, without map[Place]bool) Footprint {
	reads := maps.Clone(from.reads)
	for kind := range from.kinds {
		if h := f.handlers[kind]; h != nil {
			maps.Copy(reads, h.reads)
		}
	}
	gates := from.gates
	if from.guarded {
		gates = reads
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
	for i, known := range f.agents {
		agents[i] = f.export(known, without)
	}
	f.exported = make(map[stage]*Footprint, len(f.stages))
	for stage, known := range f.stages {
		exported := f.export(known, without)
		f.exported[stage] = &exported
	}
	return agents
}
