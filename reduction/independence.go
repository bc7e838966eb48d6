package reduction

import (
	"slices"

	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// agents is a set of agents.
type agents = bitset.Set[int]

// independence tells which agents may be in each other's way.
//
// Two steps are independent if neither writes what the other reads or writes, and neither puts the work into a
// queue that the other takes out. That both put the same work into a queue is no matter, as a queue is a
// set. What is not known of an agent is taken to be everything.
type independence struct {
	footprints []explore.Footprint
	agents     int
	// readers and writers are who may read and write a place, and changers who may write or alter it.
	readers, writers, changers map[explore.Place]agents
	// wakers are who may put the work of an agent into a queue.
	wakers []agents
	// wild are the agents that may touch everything.
	wild agents
	// watched are the agents that may write what is looked at by what is checked.
	watched agents
	visible map[explore.Place]bool
	// dependents and enablers are by agent.
	dependents, enablers []agents
	// component numbers the groups of agents that have nothing to do with each other.
	component []int
	// group numbers the groups of components of which members may be followed together, as what is looked at ties them
	// to each other, by their first component.
	group []int
}

func newIndependence(footprints []explore.Footprint, visible []explore.Place) *independence {
	n := len(footprints)
	d := &independence{
		footprints: footprints,
		agents:     n,
		readers:    map[explore.Place]agents{},
		writers:    map[explore.Place]agents{},
		changers:   map[explore.Place]agents{},
		wakers:     make([]agents, n),
		visible:    map[explore.Place]bool{},
	}
	for _, place := range visible {
		d.visible[place] = true
	}
	for i, f := range footprints {
		if !f.Known || f.Everything {
			d.wild.Add(i)
		}
		enter(d.readers, f.Reads, i)
		enter(d.writers, f.Writes, i)
		enter(d.changers, f.Writes, i)
		enter(d.changers, f.Alters, i)
		for _, woken := range f.Wakes {
			d.wakers[woken].Add(i)
		}
		if d.sees(&f) {
			d.watched.Add(i)
		}
	}
	d.watched.AddAll(d.wild)
	for i := range footprints {
		d.dependents = append(d.dependents, d.dependsOn(i, &footprints[i]))
		d.enablers = append(d.enablers, d.enables(i))
	}
	d.component = d.components()
	d.group = d.groups()
	return d
}

func enter(index map[explore.Place]agents, places []explore.Place, agent int) {
	for _, place := range places {
		entered := index[place]
		entered.Add(agent)
		index[place] = entered
	}
}

// sees reports whether something that is checked looks at what a step writes.
func (d *independence) sees(f *explore.Footprint) bool {
	sees := func(place explore.Place) bool { return d.visible[place] }
	return slices.ContainsFunc(f.Writes, sees) || slices.ContainsFunc(f.Alters, sees)
}

// dependsOn returns the agents, other than the one that takes it, of which some step, now or later, may depend on a
// step that touches this.
func (d *independence) dependsOn(agent int, f *explore.Footprint) agents {
	var s agents
	s.AddAll(d.wild)
	if !f.Known || f.Everything {
		for i := range d.agents {
			s.Add(i)
		}
		return s
	}
	for _, place := range f.Writes {
		s.AddAll(d.readers[place])
		s.AddAll(d.writers[place])
	}
	for _, place := range f.Alters {
		s.AddAll(d.readers[place])
	}
	for _, place := range f.Reads {
		s.AddAll(d.changers[place])
	}
	for _, woken := range f.Wakes {
		s.Add(woken)
	}
	if f.Takes {
		s.AddAll(d.wakers[agent])
	}
	return s
}

// enables returns the agents of which one must take a step before an agent that is not enabled can be: those that wake
// it, and those that write what keeps it from taking one.
func (d *independence) enables(agent int) agents {
	var s agents
	s.AddAll(d.wakers[agent])
	s.AddAll(d.wild)
	for _, place := range d.footprints[agent].Gates {
		s.AddAll(d.changers[place])
	}
	return s
}

// components numbers the groups of agents that are connected by dependence, in the order of their first members.
func (d *independence) components() []int {
	component := make([]int, d.agents)
	for i := range component {
		component[i] = -1
	}
	for i := range component {
		if component[i] >= 0 {
			continue
		}
		component[i] = i
		open := []int{i}
		for len(open) > 0 {
			at := open[len(open)-1]
			open = open[:len(open)-1]
			for _, s := range []agents{d.dependents[at], d.enablers[at]} {
				for j := range s.All() {
					if component[j] < 0 {
						component[j] = i
						open = append(open, j)
					}
				}
			}
		}
	}
	return component
}

// groups numbers the groups of components.
func (d *independence) groups() []int {
	first := d.agents
	watched := map[int]bool{}
	for i := range d.watched.All() {
		first = min(first, d.component[i])
		watched[d.component[i]] = true
	}
	group := make([]int, d.agents)
	for i, component := range d.component {
		group[i] = component
		if watched[component] {
			group[i] = first
		}
	}
	return group
}
