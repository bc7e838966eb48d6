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

// takeChunks takes some of the chunks that nobody has taken. States that are next to each other lead to the same states, so at first
// it takes many; and in the end one at a time, so that all workers are done together.
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

// chunk is a part of a batch, expanded by one worker. It holds no more than what the search has to look at, since that moves
// from one processor to another.
type chunk struct {
	expansions [chunkLen]expansion
	// successors are where the steps from all its states lead, as far as a state may have no number yet or its depth matters, and rows the
	// rows of those that were not found.
	successors []store.Lookup
	rows       []byte
	// agents are those that are asleep in the states, and asleep which of them are in where each step leads; there are none if nobody sleeps.
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
