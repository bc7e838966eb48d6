package explore

import (
	"sync"
	"sync/atomic"

	"github.com/orrery-dev/orrery/core"
)

// crew expands states, over what is known already: the searching goroutine with one walker, and one more goroutine for each
// further worker. While it works nobody learns, so it needs no locks: the machine, the arena and the table
// are only read.
type crew struct {
	space *Space
	// table is where states are found, nil if the searching goroutine alone can tell what is new.
	table    *visited
	workers  []worker
	working  sync.WaitGroup
	batch    []waiting
	bound    int
	portions [batchLen / portionLen]portion
	next     atomic.Int64
}

// worker is one of the crew.
type worker struct {
	walker *walker
	sieve  sieve
	// calls call its goroutine to work.
	calls chan func()
}

// portionLen is how many states a worker takes at once: enough for memory to fetch what they need side by side.
const portionLen = 16

// portion is a part of a batch, expanded by one worker.
type portion struct {
	expansions [portionLen]expansion
	// arrivals are where the steps from all its states lead, and rows the rows of these states.
	arrivals []arrival
	rows     []byte

	space   *Space
	walker  *walker
	current *expansion
}

// expansion is what a worker found out about a state.
type expansion struct {
	from core.StateID
	// complete is false if something about the state is not known yet. Then the rest
	// does not count.
	complete bool
	steps    int
	// reduced tells that not all agents are followed.
	reduced bool
	// quiescent tells that there was nothing to do but to wait for timers.
	quiescent bool
	// back tells that a step leads to a state that is not numbered higher.
	back bool
	// begin and end are its arrivals within those of the portion.
	begin, end int
}

// arrival is where a step leads, if the state is not stored yet or its depth matters.
type arrival struct {
	tag uint64
	// known is where the state is stored, if found is set.
	known ref
	found bool
	// near tells nothing: it is where reading ahead puts what it reads.
	near bool
	// pending tells that the state is stored, but not entered in the table yet.
	pending bool
	// first is the first arrival of the batch at the same state, 0 if that is this one.
	first arrivalID
	// begin and end are its row within the rows of the portion.
	begin, end int
}

func newCrew(space *Space, workers int) *crew {
	c := &crew{space: space, workers: make([]worker, max(workers, 1))}
	c.table, _ = space.visited.(*visited)
	for i := range c.workers {
		w := &c.workers[i]
		w.walker = space.walker(nil)
		if i == 0 {
			continue // it is the searching goroutine
		}
		w.calls = make(chan func())
		go func() {
			for work := range w.calls {
				work()
				c.working.Done()
			}
		}()
	}
	return c
}

// dismiss ends the goroutines.
func (c *crew) dismiss() {
	for _, w := range c.workers[1:] {
		close(w.calls)
	}
}

// together has some of the workers do something at once.
func (c *crew) together(workers int, work func(worker int)) {
	c.working.Add(workers - 1)
	for i := 1; i < workers; i++ {
		c.workers[i].calls <- func() { work(i) }
	}
	work(0)
	c.working.Wait()
}

// expand expands the states of a batch. The portions are valid until the next call.
func (c *crew) expand(batch []waiting, bound int) []portion {
	c.batch, c.bound = batch, bound
	c.next.Store(0)
	portions := c.portions[:(len(batch)+portionLen-1)/portionLen]
	workers := min(len(c.workers), len(portions))
	for i := range c.workers {
		c.workers[i].sieve.fresh = 0
	}
	c.together(workers, func(i int) { c.labour(c.workers[i].walker) })
	c.together(workers, func(i int) { c.workers[i].sieve.sift(portions, i, workers) })
	return portions
}

// fresh returns how many new states the expansion of the batch led to.
func (c *crew) fresh() int {
	all := 0
	for i := range c.workers {
		all += c.workers[i].sieve.fresh
	}
	return all
}

// widen makes the table twice as large.
func (c *crew) widen() { c.table.double(len(c.workers), c.together) }

// enter enters what is pending in the table: each worker in its part of it, and the searching goroutine what did not fit there.
func (c *crew) enter(portions []portion) {
	workers := min(len(c.workers), len(portions))
	size := len(c.table.entries)
	c.together(workers, func(i int) { c.table.enterAll(portions, size*i/workers, size*(i+1)/workers) })
	if workers > 1 {
		c.table.enterAll(portions, 0, size)
	}
}

func (c *crew) labour(w *walker) {
	for {
		at := int(c.next.Add(1)) - 1
		begin := at * portionLen
		if begin >= len(c.batch) {
			return
		}
		p := &c.portions[at]
		p.space, p.walker = c.space, w
		p.fill(c.batch[begin:min(begin+portionLen, len(c.batch))], c.bound)
	}
}

// fill expands the states of the portion.
func (p *portion) fill(states []waiting, bound int) {
	p.arrivals, p.rows = p.arrivals[:0], p.rows[:0]
	for i, state := range states {
		p.expand(&p.expansions[i], state, bound)
	}
	p.lookUp(p.expansions[:len(states)])
}

// expand expands one state.
func (p *portion) expand(e *expansion, state waiting, bound int) {
	*e = expansion{from: p.space.arena.number(state.ref), begin: len(p.arrivals), end: len(p.arrivals)}
	if bound > 0 && int(state.depth) >= bound {
		return
	}
	row := p.space.arena.row(state.ref)
	if row == nil {
		return // only the searching goroutine can make it again
	}
	w := p.walker
	w.load(row)
	var only []bool
	var err error
	if !p.space.full.has(e.from) {
		if only, err = w.reduce(); err != nil {
			return
		}
	}
	p.current = e
	e.reduced = only != nil
	e.quiescent, err = w.steps(p, only)
	e.complete = err == nil
	e.end = len(p.arrivals)
}

// stopped implements [visitor]: the searching goroutine has to look at the state.
func (p *portion) stopped(_ *taken, err error) error { return err }

// took implements [visitor]: it notes where a step leads.
func (p *portion) took(*taken) error {
	p.current.steps++
	begin := len(p.rows)
	p.rows = p.walker.appendRow(p.rows)
	p.arrivals = append(p.arrivals, arrival{tag: p.walker.fingerprint.Lo, begin: begin, end: len(p.rows)})
	return nil
}

// lookUp finds out which of the arrivals are stored, and keeps those that the search has to look at.
func (p *portion) lookUp(expansions []expansion) {
	s := p.space
	s.visited.fetch(p.arrivals)
	kept := 0
	for i := range expansions {
		e := &expansions[i]
		begin, end := e.begin, e.end
		e.begin = kept
		for _, a := range p.arrivals[begin:end] {
			if a.known, a.found = s.visited.find(a.tag, p.rows[a.begin:a.end]); a.found {
				e.back = e.back || s.arena.number(a.known) <= e.from
			}
			if !a.found || s.depths.needed {
				p.arrivals[kept] = a
				kept++
			}
		}
		e.end = kept
	}
	p.arrivals = p.arrivals[:kept]
}
