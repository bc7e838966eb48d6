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
	// complete is false if something about the state is not known yet. Then the rest
	// does not count.
	complete bool
	steps    int
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
		w := newWalker(space.machine, nil)
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
	id := space.arena.number(state.ref)
	for _, it := range w.machine.items {
		if !w.pending(it) {
			continue
		}
		leaf, err := w.reconcile(it)
		if err != nil {
			return
		}
		if leaf != nil {
			e.arrive(space, w, id)
		}
	}
	e.quiescent = e.steps == 0
	if e.quiescent {
		for _, it := range w.machine.items {
			if w.timed(it) {
				w.fire(it)
				e.arrive(space, w, id)
			}
		}
	}
	e.complete = true
}

// arrive notes where a step leads and takes the step back.
func (e *expansion) arrive(space *Space, w *walker, from core.StateID) {
	e.steps++
	a := arrival{tag: uint32(w.fingerprint.Lo), begin: len(e.rows)}
	e.rows = w.vector.AppendRow(e.rows)
	a.end = len(e.rows)
	if a.known, a.found = space.visited.find(a.tag, e.rows[a.begin:]); a.found {
		e.rows = e.rows[:a.begin]
		e.back = e.back || space.arena.number(a.known) <= from
	}
	if !a.found || space.depths.needed {
		e.arrivals = append(e.arrivals, a)
	}
	w.undo()
}
