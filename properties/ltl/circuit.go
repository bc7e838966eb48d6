package ltl

import (
	"math/bits"
	"slices"
)

// circuit finds cycles through a part of a product in which a fair run can pass through every place.
type circuit struct {
	*product
	strong bool
	inside map[uint32]bool
}

// duty is what a cycle has to do: come by a mark, or be fair to a step by taking it. With weak fairness, it is
// also done where the step is not possible.
type duty struct {
	mark uint64
	step int
}

// maxWalked bounds the search for a shortest cycle, in places times sets of duties. Beyond it,
// a short one has to do.
const maxWalked = 1 << 20

// through returns a cycle through a place that comes by all marks and is fair. With weak fairness it is a
// shortest one unless the part is very large: duties are only added that every fair cycle has to do.
func (c *circuit) through(at uint32) []crossing {
	var duties []duty
	for marks := c.automaton.marks; marks != 0; marks &= marks - 1 {
		duties = append(duties, duty{mark: marks & -marks})
	}
	for {
		way := c.close(at, duties)
		neglected := c.neglected(way)
		if len(neglected) == 0 {
			return way
		}
		for _, step := range neglected {
			duties = append(duties, duty{step: step})
		}
	}
}

// neglected returns the steps that a cycle is unfair to, in order.
func (c *circuit) neglected(way []crossing) []int {
	able := map[int]int{}
	for _, step := range way {
		c.enabled(c.at(step.node).id, func(step int) { able[step]++ })
	}
	for _, step := range way {
		delete(able, c.labels[step.label].step)
	}
	var neglected []int
	for step, n := range able {
		if c.recurs(step, c.strong) || n == len(way) {
			neglected = append(neglected, step)
		}
	}
	slices.Sort(neglected)
	return neglected
}

// close returns a cycle through a place that does all duties.
func (c *circuit) close(at uint32, duties []duty) []crossing {
	if len(duties) < 16 && len(c.inside)<<len(duties) <= maxWalked {
		return c.walk(at, at, duties)
	}
	// One duty after the other, each by the shortest way.
	var way []crossing
	here := at
	for _, d := range duties {
		if c.done(d, at, way) {
			continue
		}
		part := c.walk(here, anywhere, []duty{d})
		way = append(way, part...)
		here = way[len(way)-1].node
	}
	if here == at && len(way) > 0 {
		return way
	}
	return append(way, c.walk(here, at, nil)...)
}

// done tells whether a way from a place does a duty.
func (c *circuit) done(d duty, at uint32, way []crossing) bool {
	return c.passes(d, at) || slices.ContainsFunc(way, func(to crossing) bool { return c.does(d, to) })
}

// passes tells whether being in a place does a duty.
func (c *circuit) passes(d duty, node uint32) bool {
	return d.mark == 0 && !c.recurs(d.step, c.strong) && !c.can(c.at(node).id, d.step)
}

// does tells whether going to a place does a duty.
func (c *circuit) does(d duty, to crossing) bool {
	if d.mark != 0 {
		return to.marks&d.mark != 0
	}
	return c.labels[to.label].step == d.step || c.passes(d, to.node)
}

// anywhere is the end of a walk that may end in any place.
const anywhere = ^uint32(0)

// progress is a place together with the duties that were done on the way to it.
type progress struct {
	node uint32
	done uint16
}

// walk returns a shortest way of at least one step from a place to another one, or to anywhere, that does all duties.
func (c *circuit) walk(from, to uint32, duties []duty) []crossing {
	type arrival struct {
		before progress
		by     crossing
	}
	start := progress{node: from}
	for i, d := range duties {
		if c.passes(d, from) {
			start.done |= 1 << i
		}
	}
	into := map[progress]arrival{}
	queue := []progress{start}
	for at := 0; at < len(queue); at++ {
		p := queue[at]
		var cur cursor
		for step, more := c.cross(p.node, &cur); more; step, more = c.cross(p.node, &cur) {
			reached := progress{step.node, p.done}
			if !c.inside[step.node] {
				continue
			}
			for i, d := range duties {
				if reached.done&(1<<i) == 0 && c.does(d, step) {
					reached.done |= 1 << i
				}
			}
			if _, seen := into[reached]; seen {
				continue
			}
			into[reached] = arrival{p, step}
			queue = append(queue, reached)
			if bits.OnesCount16(reached.done) < len(duties) || to != anywhere && to != step.node {
				continue
			}
			way := []crossing{step}
			for before := p; before != start; before = into[before].before {
				way = append(way, into[before].by)
			}
			slices.Reverse(way)
			return way
		}
	}
	panic("ltl: a component has no way between two of its places that does what is done inside of it")
}
