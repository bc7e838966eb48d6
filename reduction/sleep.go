package reduction

import (
	"slices"

	"github.com/orrery-dev/orrery/core/explore"
)

// sleeping is the part of a chooser that tells which agents may sleep behind the step of another (Godefroid,
// "Partial-order methods for the verification of concurrent systems", 1996).
//
// A step is slept through only if what is followed stays the same: the states that are found are those of a search in
// which nobody sleeps, whatever is left out otherwise. So both orders have to be followed. Agents of one group are,
// unless one is put off.
type sleeping struct {
	// mixed tells that agents of several groups are followed in the state.
	mixed bool
	late  []int
	// pairs remembers which steps can be swapped.
	pairs map[pair]bool
}

// pair is two agents, with what their steps may touch.
type pair struct {
	one, other         int
	oneStep, otherStep *explore.Footprint
}

// Commute implements [explore.Chooser].
func (c *chooser) Commute(agent, other int) bool {
	if c.mixed {
		return false
	}
	p := pair{agent, other, c.now[agent], c.now[other]}
	if p.oneStep == nil && p.otherStep == nil {
		return !c.dependents[agent].Has(other) && !c.dependents[other].Has(agent)
	}
	commute, known := c.pairs[p]
	if !known {
		commute = c.commute(p)
		c.pairs[p] = commute
	}
	return commute
}

// commute reports whether two steps are independent.
func (c *chooser) commute(p pair) bool {
	one, other := p.oneStep, p.otherStep
	if one == nil {
		one = &c.footprints[p.one]
	}
	if other == nil {
		other = &c.footprints[p.other]
	}
	return commutes(one, p.other, other) && commutes(other, p.one, one)
}

// commutes reports whether a step leaves alone what another one, of an agent, looks at, changes, and takes out of its
// queue.
func commutes(f *explore.Footprint, agent int, other *explore.Footprint) bool {
	switch {
	case !f.Known || f.Everything:
		return false
	case other.Takes && slices.Contains(f.Wakes, agent):
		return false
	}
	return !meet(f.Writes, other.Reads) && !meet(f.Writes, other.Writes) && !meet(f.Alters, other.Reads)
}

// meet reports whether two lists in order have something in common.
func meet(one, other []explore.Place) bool {
	for len(one) > 0 && len(other) > 0 {
		switch {
		case one[0] == other[0]:
			return true
		case one[0] < other[0]:
			one = one[1:]
		default:
			other = other[1:]
		}
	}
	return false
}

// putOff returns the enabled agents that are put off where a set of agents of a component is followed. Those of later
// groups are not: no step in this one has made them wait.
func (c *chooser) putOff(enabled []explore.Enabled, component int) []int {
	c.late = c.late[:0]
	for _, e := range enabled {
		if c.group[e.Agent] <= component && !slices.Contains(c.best, e.Agent) {
			c.late = append(c.late, e.Agent)
		}
	}
	return c.late
}

// mixes reports whether agents are of several groups.
func (c *chooser) mixes(enabled []explore.Enabled) bool {
	return slices.ContainsFunc(enabled, func(e explore.Enabled) bool { return c.group[e.Agent] != c.group[enabled[0].Agent] })
}
