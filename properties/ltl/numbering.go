package ltl

import "github.com/orrery-dev/orrery/core"

// place is a node of the product: a state of the graph whose letter a state of the automaton
// is about to read.
type place struct {
	id   core.StateID
	mode uint32
}

// numbering gives places numbers.
type numbering interface {
	// find returns the number of a place.
	find(place) uint32
	// at returns the place of a number.
	at(uint32) place
	// len is above all numbers that were given.
	len() int
}

// fewModes is up to how many states of an automaton every place has a number from the start. Then nothing has to be looked up, and
// memory is lost for those that are in no run.
const fewModes = 8

func newNumbering(states, modes int) numbering {
	if modes <= fewModes && states <= (1<<32-1)/fewModes {
		return &grid{states: states, modes: uint32(modes)}
	}
	return &register{head: make([]uint32, states)}
}

// grid numbers all places there can be.
type grid struct {
	states int
	modes  uint32
}

func (g *grid) find(p place) uint32 { return uint32(p.id)*g.modes + p.mode }

func (g *grid) at(n uint32) place { return place{core.StateID(n / g.modes), n % g.modes} }

func (g *grid) len() int { return g.states * int(g.modes) }

// register numbers places as they are found.
type register struct {
	entries []entry
	// head has the last entry for each state: numbers from 1, 0 for none.
	head []uint32
}

// entry is a place with a number, and the entry before it for the same state.
type entry struct {
	place
	before uint32
}

func (r *register) find(p place) uint32 {
	for n := r.head[p.id]; n != 0; n = r.entries[n-1].before {
		if r.entries[n-1].mode == p.mode {
			return n - 1
		}
	}
	r.entries = append(r.entries, entry{p, r.head[p.id]})
	r.head[p.id] = uint32(len(r.entries))
	return uint32(len(r.entries) - 1)
}

func (r *register) at(n uint32) place { return r.entries[n].place }

func (r *register) len() int { return len(r.entries) }
