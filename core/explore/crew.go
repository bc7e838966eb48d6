package explore

import (
	"sync"
	"sync/atomic"

	"github.com/orrery-dev/orrery/core"
)

// crew expands states with several goroutines, over what is known already. While it
// works nobody learns, so it needs no locks: the machine, the arena and the table
// are only read.
type crew struct {
	space      *Space
	work       []chan struct{}
	working    sync.WaitGroup
	batch      []waiting
	bound      int
	expansions []*expansion
	next       atomic.Int64
}

// expansion is what a worker found out about a state.
type expansion struct {
	space  *Space
	walker *walker
	from   core.StateID

	// complete is false if something about the state is not known yet. Then the rest
	// does not count.
	complete bool
	steps    int
	// reduced tells that not all agents are followed.
	reduced bool
	// quiescent tells that there was nothing to do but to wait for timers.
	quiescent bool
	// back tells that a step leads to a state that is not numbered higher.
	back     bool
	arrivals []arrival
	rows     []byte
}

// arrival is where a step leads, if the state is not stored yet or its depth matters.
type arrival struct {
	tag uint32
	// known is where the state is stored, if found is set.
	found bool
	known ref
	// begin and end are its row within the rows of the expansion, otherwise.
	begin, end int
}

// grain is how many states a worker takes at once.
const grain = 8

func newCrew(space *Space, workers int) *crew {
	c := &crew{space: space}
	for range batchLen {
		c.expansions = append(c.expansions, &expansion{})
	}
	for range workers {
		w := space.walker(nil)
		work := make(chan struct{})
		c.work = append(c.work, work)
		go func() {
			for range work {
				c.labour(w)
				c.working.Done()
			}
		}()
	}
	return c
}

// dismiss ends the workers.
func (c *crew) dismiss() {
	for _, work := range c.work {
		close(work)
	}
}

// expand expands the states of a batch. The expansions are valid until the next
// call.
func (c *crew) expand(batch []waiting, bound int) []*expansion {
	c.batch, c.bound = batch, bound
	c.next.Store(0)
	c.working.Add(len(c.work))
	for _, work := range c.work {
		work <- struct{}{}
	}
	c.working.Wait()
	return c.expansions[:len(batch)]
}

func (c *crew) labour(w *walker) {
	for {
		end := int(c.next.Add(grain))
		begin := end - grain
		if begin >= len(c.batch) {
			return
		}
		for i := begin; i < min(end, len(c.batch)); i++ {
			c.expansions[i].fill(c.space, w, c.batch[i], c.bound)
		}
	}
}

// fill expands one state.
func (e *expansion) fill(space *Space, w *walker, state waiting, bound int) {
	e.complete, e.steps, e.back = false, 0, false
	e.arrivals, e.rows = e.arrivals[:0], e.rows[:0]
	if bound > 0 && int(state.depth) >= bound {
		return
	}
	w.load(space.arena.row(state.ref))
	e.space, e.walker, e.from = space, w, space.arena.number(state.ref)
	only, err := w.reduce()
	if err != nil {
		return
	}
	e.reduced = only != nil
	e.quiescent, err = w.steps(e, only)
	e.complete = err == nil
}

// stopped implements [visitor]: the searching goroutine has to look at the state.
func (e *expansion) stopped(_ *taken, err error) error { return err }

// took implements [visitor]: it notes where a step leads.
func (e *expansion) took(*taken) error {
	e.steps++
	w := e.walker
	a := arrival{tag: uint32(w.fingerprint.Lo), begin: len(e.rows)}
	e.rows = w.vector.AppendRow(e.rows)
	a.end = len(e.rows)
	if a.known, a.found = e.space.visited.find(a.tag, e.rows[a.begin:]); a.found {
		e.rows = e.rows[:a.begin]
		e.back = e.back || e.space.arena.number(a.known) <= e.from
	}
	if !a.found || e.space.depths.needed {
		e.arrivals = append(e.arrivals, a)
	}
	return nil
}
