package fair

import (
	"math/bits"
	"slices"
)

// circuit finds cycles through a part of a space in which a fair run can pass through every place.
type circuit struct {
	Space
	inside map[uint32]bool
}

// duty is what a cycle has to do: come by a mark, or be fair to a step by taking it. If the step does not recur, it is
// also done where the step is not possible.
type duty struct {
	mark uint64
	step int
}

// maxWalked bounds the search for a shortest cycle, in places times sets of duties. Beyond it,
// a short one has to do.
const maxWalked = 1 << 20

// Cycle returns a fair cycle through a place within a part that [Search.Parts] has found, which comes by all marks and
// takes some steps or passes where they are not possible. It is a shortest one unless the part is very large or has
// steps that recur: duties are only added that every fair cycle has to do.
func Cycle(s Space, places []uint32, at uint32, marks uint64, steps ...int) []Arc {
	c := &circuit{Space: s, inside: make(map[uint32]bool, len(places))}
	for _, place := range places {
		c.inside[place] = true
	}
	var duties []duty
	for ; marks != 0; marks &= marks - 1 {
		duties = append(duties, duty{mark: marks & -marks})
	}
	for _, step := range steps {
		duties = append(duties, duty{step: step})
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
func (c *circuit) neglected(way []Arc) []int {
	able := map[int]int{}
	for _, arc := range way {
		for step := range c.Enabled(arc.To) {
			able[step]++
		}
	}
	for _, arc := range way {
		delete(able, arc.Step)
	}
	var neglected []int
	for step, n := range able {
		if c.Recurs(step) || n == len(way) {
			neglected = append(neglected, step)
		}
	}
	slices.Sort(neglected)
	return neglected
}

// close returns a cycle through a place that does all duties.
func (c *circuit) close(at uint32, duties []duty) []Arc {
	if len(duties) < 16 && len(c.inside)<<len(duties) <= maxWalked {
		return c.walk(at, at, duties)
	}
	// One duty after the other, each by the shortest way.
	var way []Arc
	here := at
	for _, d := range duties {
		if c.done(d, at, way) {
			continue
		}
		part := c.walk(here, anywhere, []duty{d})
		way = append(way, part...)
		here = way[len(way)-1].To
	}
	if here == at && len(way) > 0 {
		return way
	}
	return append(way, c.walk(here, at, nil)...)
}

// done reports whether a way from a place does a duty.
func (c *circuit) done(d duty, at uint32, way []Arc) bool {
	return c.passes(d, at) || slices.ContainsFunc(way, func(arc Arc) bool { return c.does(d, arc) })
}

// passes reports whether being in a place does a duty.
func (c *circuit) passes(d duty, place uint32) bool {
	if d.mark != 0 || c.Recurs(d.step) {
		return false
	}
	for step := range c.Enabled(place) {
		if step == d.step {
			return false
		}
	}
	return true
}

// does reports whether an arc does a duty.
func (c *circuit) does(d duty, arc Arc) bool {
	if d.mark != 0 {
		return arc.Marks&d.mark != 0
	}
	return arc.Step == d.step || c.passes(d, arc.To)
}

// anywhere is the end of a walk that may end in any place.
const anywhere = ^uint32(0)

// progress is a place together with the duties that were done on the way to it.
type progress struct {
	place uint32
	done  uint16
}

// walk returns a shortest way of at least one arc from a place to another one, or to anywhere, that does all duties.
func (c *circuit) walk(from, to uint32, duties []duty) []Arc {
	type arrival struct {
		before progress
		by     Arc
	}
	start := progress{place: from}
	for i, d := range duties {
		if c.passes(d, from) {
			start.done |= 1 << i
		}
	}
	into := map[progress]arrival{}
	queue := []progress{start}
	for at := 0; at < len(queue); at++ {
		p := queue[at]
		for arc := range c.Arcs(p.place) {
			if !c.inside[arc.To] {
				continue
			}
			reached := progress{arc.To, p.done}
			for i, d := range duties {
				if reached.done&(1<<i) == 0 && c.does(d, arc) {
					reached.done |= 1 << i
				}
			}
			if _, seen := into[reached]; seen {
				continue
			}
			into[reached] = arrival{p, arc}
			queue = append(queue, reached)
			if bits.OnesCount16(reached.done) < len(duties) || to != anywhere && to != arc.To {
				continue
			}
			way := []Arc{arc}
			for before := p; before != start; before = into[before].before {
				way = append(way, into[before].by)
			}
			slices.Reverse(way)
			return way
		}
	}
	panic("fair: a part has no way between two of its places that does what is done inside of it")
}
