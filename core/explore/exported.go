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
	f.blocked = make([]bool, len(f.agents))
	for i, known := range f.agents {
		agents[i] = f.export(known, without)
		f.blocked[i] = known.blocks
	}
	f.exported = make(map[stage]*Footprint, len(f.stages))
	for stage, known := range f.stages {
		exported := f.export(known, without)
		if it := stage.begun; it != nil && f.blocked[it.agent] {
			// Whether a run that was blocked can begin anew depends on all that it reads.
			exported.Reads = agents[it.agent].Reads
		}
		f.exported[stage] = &exported
	}
	return agents
}
