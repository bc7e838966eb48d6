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
	// agents are those that are asleep in the states, and in those behind their steps.
	agents []int
	// _ keeps portions that are expanded at once from sharing a line of a cache.
	_ [128]byte
}

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
	// sleepBegin and sleepEnd are the agents that are asleep in the state within those of the portion.
	sleepBegin, sleepEnd int32
}

// arrival is where a step leads, if the state is not stored yet or its depth matters.
type arrival struct {
	tag uint64
	// begin and end are its row within the rows of the portion.
	begin, end int32
	// sleepBegin and sleepEnd are the agents that are asleep in the state within those of the portion.
	sleepBegin, sleepEnd int32
	// known is where the state is stored, if found is set.
	known ref
	found bool
	// near tells nothing: it is where reading ahead puts what it reads.
	near bool
}

// scout expands portions for a worker.
type scout struct {
	space  *Space
	walker *walker
	// expansions are those of the portion at hand, and current the one at hand. arrivals and rows are all that it led to.
	expansions [portionLen]expansion
	current    *expansion
	arrivals   []arrival
	rows       []byte
	agents     []int
}

// fill expands the states of a portion.
func (s *scout) fill(p *portion, states []waiting, bound int) {
	s.arrivals, s.rows, s.agents = s.arrivals[:0], s.rows[:0], s.agents[:0]
	for i, state := range states {
		s.expand(&s.expansions[i], state, bound)
	}
	s.report(p, s.expansions[:len(states)])
}

// expand expands one state.
func (s *scout) expand(e *expansion, state waiting, bound int) {
	*e = expansion{from: s.space.arena.number(state.ref), begin: len(s.arrivals), end: len(s.arrivals)}
	if bound > 0 && int(state.depth) >= bound {
		return
	}
	row := s.space.arena.row(state.ref)
	if row == nil || s.space.sleeps.needed && s.space.expanded.has(e.from) {
		return // only the searching goroutine can make it again, and wakes agents
	}
	s.walker.load(row)
	reduced, only, err := s.walker.turnout(s.space.full.has(e.from), s.space.sleeps.at(e.from), nil)
	if err != nil {
		return
	}
	s.current = e
	e.reduced = reduced
	e.sleepBegin, e.sleepEnd = s.keep(s.walker.asleep)
	e.quiescent, err = s.walker.steps(s, only)
	e.complete = err == nil
	e.end = len(s.arrivals)
}

// keep keeps a list of agents.
func (s *scout) keep(agents []int) (begin, end int32) {
	begin = int32(len(s.agents))
	s.agents = append(s.agents, agents...)
	return begin, int32(len(s.agents))
}

// stopped implements [visitor]: the searching goroutine has to look at the state.
func (s *scout) stopped(_ *taken, err error) error { return err }

// took implements [visitor]: it notes where a step leads.
func (s *scout) took(t *taken) error {
	s.current.steps++
	begin := len(s.rows)
	rows, tag, err := s.walker.pack(s.rows)
	if err != nil {
		return err
	}
	s.rows = rows
	a := arrival{tag: tag, begin: int32(begin), end: int32(len(s.rows))}
	if s.space.sleeps.needed {
		a.sleepBegin, a.sleepEnd = s.keep(s.walker.behind(t))
	}
	s.arrivals = append(s.arrivals, a)
	return nil
}

// report finds out which of the arrivals are stored, and tells those that the search has to look at.
func (s *scout) report(p *portion, expansions []expansion) {
	s.space.visited.fetch(s.arrivals)
	p.arrivals, p.rows = p.arrivals[:0], p.rows[:0]
	p.agents = append(p.agents[:0], s.agents...)
	for i, e := range expansions {
		arrivals := s.arrivals[e.begin:e.end]
		e.begin = len(p.arrivals)
		for _, a := range arrivals {
			row := s.rows[a.begin:a.end]
			if a.known, a.found = s.space.visited.find(a.tag, row); a.found {
				e.back = e.back || s.space.arena.number(a.known) <= e.from
				if !s.space.depths.needed && !s.space.sleeps.wakes(s.space.arena.number(a.known), s.agents[a.sleepBegin:a.sleepEnd]) {
					continue
				}
			}
			a.begin = int32(len(p.rows))
			p.rows = append(p.rows, row...)
			a.end = int32(len(p.rows))
			p.arrivals = append(p.arrivals, a)
		}
		e.end = len(p.arrivals)
		p.expansions[i] = e
	}
}
