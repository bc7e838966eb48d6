package explore

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// portionLen is how many states a worker takes at once: enough for memory to fetch what they need side by side.
const portionLen = 16

// portion is a part of a batch, expanded by one worker. It holds no more than what the search has to look at, since that moves
// from one processor to another.
type portion struct {
	expansions [portionLen]expansion
	// successors are where the steps from all its states lead, as far as a state may have no number yet or its depth matters, and rows the
	// rows of those that were not found.
	successors []store.Lookup
	rows       []byte
	// agents are those that are asleep in the states, and sleepers which of them are in where each step leads; there are none if nobody sleeps.
	agents   []int
	sleepers []stretch
	// loose tells that there are states among them which were not found.
	loose bool
	// _ keeps portions that are expanded at once from sharing a line of a cache.
	_ [128]byte
}

// asleep returns some of the agents.
func (p *portion) asleep(s stretch) []int { return p.agents[s.begin:s.end] }

// expansion is what a worker found out about a state.
type expansion struct {
	from core.StateID
	// complete is false if something about the state is not known yet. Then the rest
	// does not count.
	complete bool
	// reduced tells that not all agents are followed.
	reduced bool
	// quiescent tells that there was nothing to do but to wait for timers.
	quiescent bool
	// back tells that a step leads to a state that is not numbered higher.
	back  bool
	steps int
	// begin and end are its successors within those of the portion.
	begin, end int
	// asleep are the agents that are asleep in the state.
	asleep stretch
}

// stretch is a part of the agents of a portion.
type stretch struct{ begin, end int32 }
