package explore

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// pool expands states, over what is known already: the searching goroutine as one worker, and a goroutine for each
// further one. While they work nobody learns, so they need no locks: the machine is only read. States may be inserted
// and get their numbers meanwhile: see [store.Full.FindOrInsert].
type pool struct {
	workers []worker
	// done is signaled by each worker who is done, and calls is how often in all that has to be.
	done  *semaphore
	calls uint64
}

// worker expands chunks of a batch.
type worker struct {
	// context ends the work: what is not expanded then is not complete.
	context context.Context
	space   *Space
	walker  *reduction.Explorer
	// table is where states are inserted, nil if the search does so alone, and buffer where their records are written.
	table  *store.Full
	buffer *store.Buffer
	// reported are states that the worker reported to the search before, by their scattered references.
	reported [1 << reportedBits]store.Ref
	// expansions are those of the chunk at hand, and current the one at hand. successors and rows are all that it led
	// to.
	expansions [chunkLen]expansion
	current    *expansion
	// row is a buffer for the row of the state at hand.
	row        []byte
	successors []store.Lookup
	rows       []byte
	agents     []int
	asleep     []agentRange
	// call calls its goroutine to do the work, or to go if there is none.
	call *semaphore
	work func(worker int)
	// _ keeps workers from sharing a line of a cache.
	_ [128]byte
}

func newPool(ctx context.Context, space *Space, workers int) *pool {
	p := &pool{workers: make([]worker, max(workers, 1)), done: newSemaphore()}
	for i := range p.workers {
		w := &p.workers[i]
		w.equip(ctx, space)
		if i > 0 { // or else it is the searching goroutine
			w.call = newSemaphore()
			go w.attend(i, p.done)
		}
	}
	return p
}

// equip gives a worker what it works with.
func (w *worker) equip(ctx context.Context, space *Space) {
	w.context, w.space, w.walker = ctx, space, space.explorer(nil)
	w.walker.Ahead, w.walker.Checker = true, space.checker
	if table := space.table; table != nil {
		w.table, w.buffer = table, table.Buffer()
	}
}

// attend does the work of a worker whenever it is called.
func (w *worker) attend(number int, done *semaphore) {
	for calls := uint64(1); ; calls++ {
		w.call.wait(calls)
		if w.work == nil {
			return
		}
		w.work(number)
		done.signal()
	}
}

// dismiss ends the goroutines.
func (p *pool) dismiss() { p.call(len(p.workers), nil) }

// call has the first of the workers do something, but for the searching goroutine.
func (p *pool) call(workers int, work func(worker int)) {
	for i := 1; i < workers; i++ {
		p.workers[i].work = work
		p.workers[i].call.signal()
		p.calls++
	}
}

// begin has the others expand a batch.
func (p *pool) begin(b *batch) {
	p.call(min(len(p.workers), b.chunksLen()), func(i int) { p.workers[i].expandChunks(b, len(p.workers)) })
}

// finish helps them, and returns when all is done.
func (p *pool) finish(b *batch) {
	p.workers[0].expandChunks(b, len(p.workers))
	p.done.wait(p.calls)
}

// expandChunks expands chunks of a batch, as one of some workers, until all are taken.
func (w *worker) expandChunks(b *batch, workers int) {
	if w.table != nil {
		w.table.Settle(w.buffer)
	}
	for {
		begin, end := b.takeChunks(workers)
		if begin == end {
			return
		}
		for i := begin; i < end; i++ {
			first := i * chunkLen
			w.expandChunk(&b.chunks[i], b.states[first:min(first+chunkLen, len(b.states))], b.bound)
		}
	}
}

// expandChunk expands the states of a chunk.
func (w *worker) expandChunk(c *chunk, states []waiting, bound int) {
	w.successors, w.rows = w.successors[:0], w.rows[:0]
	w.agents, w.asleep = w.agents[:0], w.asleep[:0]
	for i, state := range states {
		w.expand(&w.expansions[i], state, bound)
	}
	w.report(c, w.expansions[:len(states)])
}

// expand expands one state.
func (w *worker) expand(e *expansion, state waiting, bound int) {
	*e = expansion{from: state.id, begin: len(w.successors), end: len(w.successors)}
	if bound > 0 && int(state.depth) >= bound || w.context.Err() != nil {
		return
	}
	row := w.space.store.Encoded(w.space.store.At(state.id), w.row)
	if row == nil || w.space.sleeps.needed && w.space.expanded.Has(e.from) {
		return // only the searching goroutine can make it again, and wakes agents
	}
	if w.space.rebuilder == nil {
		w.row = row
	}
	w.walker.Load(row)
	reduced, only, err := w.walker.Follow(w.space.extent(e.from), w.space.sleeps.at(e.from), nil)
	if err != nil {
		return
	}
	w.current = e
	e.reduced, e.level = reduced, w.walker.Level
	if w.space.sleeps.needed {
		e.asleep = w.keep(w.walker.Asleep)
	}
	e.quiescent, err = w.walker.Steps(w, only)
	if err == nil && (reduced && e.steps == 0 && len(w.walker.Asleep) == 0 || w.walker.Retrying) {
		err = transition.ErrUnknown // all that were followed are blocked, which was not known, or lead nowhere
	}
	if err != nil {
		w.successors = w.successors[:e.begin]
		w.asleep = w.asleep[:min(e.begin, len(w.asleep))]
		return
	}
	e.complete = true
	e.end = len(w.successors)
}

// keep keeps a list of agents.
func (w *worker) keep(agents []int) agentRange {
	begin := int32(len(w.agents))
	w.agents = append(w.agents, agents...)
	return agentRange{begin, int32(len(w.agents))}
}

// Stopped implements [transition.Visitor]: the searching goroutine has to look at the state.
func (w *worker) Stopped(_ *transition.Taken, err error) error { return err }

// attendEvery is after how many steps of a state a worker looks whether the search has ended.
const attendEvery = 1 << 10

// Took implements [transition.Visitor]: it notes where a step leads.
func (w *worker) Took(t *transition.Taken) error {
	w.current.steps++
	if w.current.steps%attendEvery == 0 && w.context.Err() != nil {
		return w.context.Err()
	}
	begin := len(w.rows)
	tag := w.walker.Fingerprint.Lo
	if w.space.checker == nil {
		w.rows = w.walker.AppendRow(w.rows)
	} else {
		rows, arranged, err := w.walker.Pack(w.rows)
		if err != nil {
			return err
		}
		w.rows, tag = rows, arranged
	}
	// It is filled in where it is: to put it together elsewhere first takes longer than the whole rest.
	w.successors = append(w.successors, store.Lookup{})
	a := &w.successors[len(w.successors)-1]
	a.Hash, a.Begin, a.End = tag, int32(begin), int32(len(w.rows))
	if w.space.sleeps.needed {
		w.asleep = append(w.asleep, w.keep(w.walker.SleepersBehind(t)))
	}
	return nil
}

// report finds out which of the successors are stored, and reports those that the search has to look at.
func (w *worker) report(c *chunk, expansions []expansion) {
	w.space.store.Prefetch(w.successors)
	c.successors, c.rows, c.unresolved = c.successors[:0], c.rows[:0], false
	c.agents, c.asleep = append(c.agents[:0], w.agents...), c.asleep[:0]
	for i := range expansions {
		e := &c.expansions[i]
		*e = expansions[i]
		e.begin = len(c.successors)
		for j := expansions[i].begin; j < expansions[i].end; j++ {
			a := &w.successors[j]
			row := w.rows[a.Begin:a.End]
			r, found, published := w.look(a, row)
			if published {
				e.back = e.back || w.space.store.ID(r) <= e.from
				if !w.space.depths.needed && !w.wakes(r, j) {
					continue
				}
			} else if found && !w.space.sleeps.needed && w.repeats(r) {
				continue
			}
			if w.space.sleeps.needed {
				c.asleep = append(c.asleep, w.asleep[j])
			}
			c.successors = append(c.successors, store.Lookup{})
			reported := &c.successors[len(c.successors)-1]
			reported.Hash, reported.Ref, reported.Found = a.Hash, r, found
			if !found {
				c.unresolved = true
				reported.Begin = int32(len(c.rows))
				c.rows = append(c.rows, row...)
				reported.End = int32(len(c.rows))
			}
		}
		e.end = len(c.successors)
	}
}

// wakes reports whether a successor wakes somebody in a stored state.
func (w *worker) wakes(r store.Ref, successor int) bool {
	if !w.space.sleeps.needed {
		return false
	}
	asleep := w.asleep[successor]
	return w.space.sleeps.wakes(w.space.store.ID(r), w.agents[asleep.begin:asleep.end])
}

// look finds a state, or inserts it if that can be. It reports whether it is found now, and whether it is known to have
// its number.
func (w *worker) look(a *store.Lookup, row []byte) (r store.Ref, found, published bool) {
	if w.table == nil {
		r, found = w.space.store.Find(a.Hash, row)
		return r, found, found
	}
	r, found = w.table.FindOrInsert(w.buffer, a, row)
	return r, found, found && w.table.Published(r)
}

// reportedBits is how many bits number the states that a worker remembers to have reported: about as many as it reports
// in a batch.
const reportedBits = 13

// repeats reports whether the worker reported a state before, as far as it remembers, and notes it. A worker goes
// through states in order, so it is the first step to a state that is reported, and that is all that the search has to
// know.
func (w *worker) repeats(r store.Ref) bool {
	slot := &w.reported[uint32(r)*0x9e3779b1>>(32-reportedBits)]
	before := *slot == r+1
	*slot = r + 1
	return before
}

// semaphore is how the goroutines of a pool call each other. Waiting spins for a while before it blocks: to be woken
// takes longer than most of what there is to wait for. One goroutine may wait at a time.
type semaphore struct {
	signals atomic.Uint64
	blocked atomic.Bool
	wake    chan struct{}
}

func newSemaphore() *semaphore { return &semaphore{wake: make(chan struct{}, 1)} }

// signal signals once more.
func (s *semaphore) signal() {
	s.signals.Add(1)
	if s.blocked.Swap(false) {
		s.wake <- struct{}{}
	}
}

// spins is how often waiting looks before it blocks: about a tenth of a millisecond. Every so often it lets others run.
const (
	spins      = 1 << 15
	yieldEvery = 1 << 8
)

// wait waits until there were so many signals, all in all.
func (s *semaphore) wait(times uint64) {
	for i := range spins {
		if s.signals.Load() >= times {
			return
		}
		if i%yieldEvery == yieldEvery-1 {
			runtime.Gosched()
		}
	}
	for s.signals.Load() < times {
		s.blocked.Store(true)
		if s.signals.Load() >= times && s.blocked.Swap(false) {
			return
		}
		<-s.wake
	}
}
