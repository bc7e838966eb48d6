package explore

import "github.com/orrery-dev/orrery/core"

// portionLen is how many states a worker takes at once: enough for memory to fetch what they need side by side.
const portionLen = 16

// portion is a part of a batch, expanded by one worker. It holds no more than what the search has to look at, since that moves
// from one processor to another.
type portion struct {
	expansions [portionLen]expansion
	// arrivals are where the steps from all its states lead, and rows the rows of these states.
	arrivals []arrival
	rows     []byte
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
	// begin and end are its arrivals within those of the portion.
	begin, end int
	// asleep are the agents that are asleep in the state.
	asleep stretch
}

// stretch is a part of the agents of a portion.
type stretch struct{ begin, end int32 }

// arrival is where a step leads, if the state may have no number yet or its depth matters.
type arrival struct {
	tag uint64
	// begin and end are its row within the rows of the portion, unless found is set.
	begin, end int32
	// known is where the state is stored, if found is set: by now it may have its number, or not.
	known ref
	found bool
	// near tells nothing: it is where reading ahead puts what it reads.
	near bool
}
