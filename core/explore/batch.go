package explore

import (
	"sync/atomic"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// batchLen is how many states at most are expanded before what was found is stored.
const batchLen = 2048

// batch is a number of states that are expanded at once.
type batch struct {
	states []waiting
	chunks [batchLen / chunkLen]chunk
	// next is the number of the next chunk that nobody has taken.
	next atomic.Int64
	// bound is the bound on depth, 0 if there is none.
	bound int
	// replayed tells that a checkpoint has what was found.
	replayed bool
}

func newBatch(bound int) *batch { return &batch{states: make([]waiting, 0, batchLen), bound: bound} }

// take fills the batch with the next states of a frontier.
func (b *batch) take(f frontier) {
	b.states = f.take(b.states)
	b.next.Store(0)
	b.replayed = false
}

// at returns the expansion of one of the states, and the chunk that it is in.
func (b *batch) at(i int) (*chunk, *expansion) {
	c := &b.chunks[i/chunkLen]
	return c, &c.expansions[i%chunkLen]
}

// unresolved reports whether steps lead to states that were not found.
func (b *batch) unresolved() bool {
	for i := range b.chunksLen() {
		if b.chunks[i].unresolved {
			return true
		}
	}
	return false
}

// chunksLen returns how many chunks the batch has.
func (b *batch) chunksLen() int { return (len(b.states) + chunkLen - 1) / chunkLen }

// takeChunks takes some of the chunks that nobody has taken. States that are next to each other lead to the same
// states, so at first it takes many; and in the end one at a time, so that all workers are done together.
func (b *batch) takeChunks(workers int) (begin, end int) {
	for {
		next := b.next.Load()
		begin = int(next)
		left := b.chunksLen() - begin
		end = begin + min(max(left/(2*workers), 1), left)
		if b.next.CompareAndSwap(next, int64(end)) {
			return begin, end
		}
	}
}

// chunkLen is how many states a worker takes at once: enough for memory to fetch what they need side by side.
const chunkLen = 16

// chunk is a part of a batch, expanded by one worker. It holds no more than what the search has to look at, since that
// moves from one processor to another.
type chunk struct {
	expansions [chunkLen]expansion
	// successors are where the steps from all its states lead, as far as a state may have no number yet or its depth
	// matters, and rows the rows of those that were not found.
	successors []store.Lookup
	rows       []byte
	// agents are those that are asleep in the states, and asleep which of them are in where each step leads; there are
	// none if nobody sleeps.
	agents []int
	asleep []agentRange
	// unresolved tells that there are states among them which were not found.
	unresolved bool
	// _ keeps chunks that are expanded at once from sharing a line of a cache.
	_ [128]byte
}

// agentsIn returns some of the agents.
func (c *chunk) agentsIn(r agentRange) []int { return c.agents[r.begin:r.end] }

// expansion is what a worker found out about a state.
type expansion struct {
	from core.StateID
	// complete is false if something about the state is not known yet. Then the rest
	// does not count.
	complete bool
	// reduced tells that not all agents are followed, and level that one is alone as its step does nothing.
	reduced, level bool
	// quiescent tells that there was nothing to do but to wait for timers.
	quiescent bool
	// back tells that a step leads to a state that is not numbered higher.
	back  bool
	steps int
	// begin and end are its successors within those of the chunk.
	begin, end int
	// asleep are the agents that are asleep in the state.
	asleep agentRange
}

// agentRange is a part of the agents of a chunk.
type agentRange struct{ begin, end int32 }

// merge stores where the steps from the states of the batch lead, in order. The workers expand the next batch
// meanwhile, if that can be.
func (s *search) merge() error {
	first := core.StateID(s.States())
	s.sleeps.disturbed = false
	if !s.batch.replayed {
		s.overlapping = s.overlaps()
	}
	s.options.Checkpoint.open(s)
	if s.overlapping {
		s.ahead.take(s.frontier)
		if !s.batch.replayed {
			s.begin(s.ahead)
		}
	}
	done, err := s.mergeComplete()
	if s.overlapping && !s.batch.replayed {
		s.collect(s.ahead)
	}
	for i := done; err == nil && i < len(s.batch.states); i++ {
		err = s.mergeState(i)
	}
	if s.overlapping {
		// Properties may look at what the workers work with, so that had to wait.
		for id := first; id < core.StateID(s.States()) && s.context.Err() == nil; id++ {
			if inspected := s.inspect(id); err == nil {
				err = inspected
			}
		}
		if err == nil {
			err = s.context.Err()
		}
	}
	if err == nil {
		err = s.options.Checkpoint.close(s)
	}
	return err
}

// prepare brings the next batch to where it can be merged: its states are expanded, or a checkpoint says what comes of
// that.
func (s *search) prepare() error {
	expanded := s.overlapping && !s.batch.replayed
	if s.overlapping {
		s.batch, s.ahead = s.ahead, s.batch
	} else {
		s.batch.take(s.frontier)
	}
	if s.options.Checkpoint.replays() {
		var err error
		s.overlapping, err = s.options.Checkpoint.replay(s, s.batch)
		return err
	}
	if !expanded {
		s.overlapping = false
		s.begin(s.batch)
		s.collect(s.batch)
	}
	return nil
}

// begin has the workers expand a batch.
func (s *search) begin(b *batch) {
	if s.table != nil {
		s.table.Publish(!s.overlapping)
		s.table.Reserve()
	}
	s.pool.begin(b)
}

// collect waits until it is expanded.
func (s *search) collect(b *batch) {
	s.pool.finish(b)
	if s.table != nil {
		s.table.Count()
	}
}

// overlaps reports whether the workers can expand the next batch while this one is stored. The states to store must all
// be found already, and only where no orders are left out is no note taken of what properties look at.
func (s *search) overlaps() bool {
	return s.table != nil && len(s.pool.workers) > 1 && s.order == BreadthFirst && !s.Recording() &&
		s.frontier.len() >= batchLen/4 && !s.batch.unresolved()
}

// mergeComplete stores what is found behind the states of the batch, as far as nothing has to be learned. It returns
// how many states are done.
func (s *search) mergeComplete() (int, error) {
	for i := range s.batch.states {
		if _, e := s.batch.at(i); !e.complete {
			return i, nil
		}
		if err := s.mergeState(i); err != nil {
			return i, err
		}
	}
	return len(s.batch.states), nil
}

// mergeState stores where the steps from a state of the batch lead.
func (s *search) mergeState(i int) error {
	if err := s.context.Err(); err != nil {
		return err
	}
	w := s.batch.states[i]
	c, e := s.batch.at(i)
	switch {
	case s.depths.outdated(e.from, w.depth):
		s.options.Checkpoint.skip()
		return nil
	case !e.complete:
		s.options.Checkpoint.skip()
		return s.expand(w)
	}
	notes := s.options.Checkpoint.expansion(s, c, e)
	s.acyclic = s.acyclic && !e.back
	for i := e.begin; i < e.end; i++ {
		a := &c.successors[i]
		var sleepers, asleep []int
		if s.sleeps.needed {
			sleepers = c.agentsIn(c.asleep[i])
		}
		if !s.sleeps.disturbed {
			asleep = sleepers
		}
		stored := s.States()
		var id core.StateID
		var err error
		if a.Found {
			var r store.Ref
			if r, err = s.successorAt(a); err == nil {
				id, err = s.revisit(r, a.Hash, e.from, w.depth+1, asleep)
			}
		} else {
			id, err = s.insert(a.Hash, c.rows[a.Begin:a.End], e.from, w.depth+1, asleep)
		}
		if err != nil {
			return err
		}
		notes.successor(id, s.States() > stored, sleepers)
	}
	notes.done()
	if e.reduced {
		s.leftOut(e.from, e.level)
	}
	s.finish(e.from, w.depth, counts{
		steps: e.steps, known: e.steps, quiescent: e.quiescent,
		asleep: c.agentsIn(e.asleep),
	})
	return nil
}
