package explore

import (
	"fmt"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// coverage tells how much of what walks can come to they have come to.
//
// If all walks are made in the same way, each by itself, then what one more would find that is new is known from those there
// were: as much as one of them found on average that no other one did. This is the estimate of Turing, published by
// Good (The population frequencies of species and the estimation of population parameters, Biometrika 40, 1953);
// for tests of programs see Böhme (STADS: Software testing as species discovery, ACM TOSEM 27, 2018).
type coverage struct {
	// walks are how many walks came to each state, and which the last was.
	walks store.Pages[visits]
	// once counts the states that exactly one walk came to.
	once int
	// found are what each walk came to.
	found []harvest
}

// harvest counts the states that a walk came to, and those of them that none had come to before.
type harvest struct{ all, fresh int }

// visits are the walks that came to a state.
type visits struct {
	last  uint32
	count uint32
}

// visit takes note that a walk came to a state. Walks are numbered from 1.
func (c *coverage) visit(id core.StateID, walk int) {
	for c.walks.Len() <= int(id) {
		c.walks.Add(visits{})
	}
	v := c.walks.At(int(id))
	if v.last == uint32(walk) {
		return
	}
	for len(c.found) < walk {
		c.found = append(c.found, harvest{})
	}
	h := &c.found[walk-1]
	h.all++
	switch v.count {
	case 0:
		h.fresh++
		c.once++
	case 1:
		c.once--
	}
	c.walks.Put(int(id), visits{last: uint32(walk), count: v.count + 1})
}

// visitedIn tells whether a walk has come to a state.
func (c *coverage) visitedIn(id core.StateID, walk int) bool {
	return int(id) < c.walks.Len() && c.walks.At(int(id)).last == uint32(walk)
}

// fewWalks is how many walks there must be to tell anything.
const fewWalks = 20

// estimate says which share of the states of one more walk would be new, nothing if there were too few walks.
func (c *coverage) estimate() string {
	if len(c.found) < fewWalks {
		return ""
	}
	return fmt.Sprintf("of the states that one more walk comes to, about %s would be new (estimate of Good and Turing)", percent(c.once, c.sum(0).all))
}

// lately says which share of the states of the last tenth of the walks was new, nothing if there were too few walks.
func (c *coverage) lately() string {
	last := len(c.found) / 10
	if last < fewWalks/10 {
		return ""
	}
	h := c.sum(len(c.found) - last)
	return fmt.Sprintf("of the states that the last %d walks came to, %s were new", last, percent(h.fresh, h.all))
}

// sum adds up what the walks from one on came to.
func (c *coverage) sum(from int) harvest {
	var sum harvest
	for _, h := range c.found[from:] {
		sum.all += h.all
		sum.fresh += h.fresh
	}
	return sum
}

func percent(part, of int) string { return fmt.Sprintf("%.2g%%", 100*float64(part)/float64(of)) }
