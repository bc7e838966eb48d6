package explore

import "github.com/orrery-dev/orrery/core/internal/store"

// scout expands portions for a worker.
type scout struct {
	space  *Space
	walker *walker
	// table is where states are inserted, nil if the search does so alone, and buffer where their records are written.
	table  *store.Full
	buffer *store.Buffer
	// told are states that the scout told the search of before, by their scattered references.
	told [1 << toldBits]store.Ref
	// expansions are those of the portion at hand, and current the one at hand. successors and rows are all that it led to.
	expansions [portionLen]expansion
	current    *expansion
	successors []store.Lookup
	rows       []byte
	agents     []int
	sleepers   []stretch
}

// fill expands the states of a portion.
func (s *scout) fill(p *portion, states []waiting, bound int) {
	s.successors, s.rows = s.successors[:0], s.rows[:0]
	s.agents, s.sleepers = s.agents[:0], s.sleepers[:0]
	for i, state := range states {
		s.expand(&s.expansions[i], state, bound)
	}
	s.report(p, s.expansions[:len(states)])
}

// expand expands one state.
func (s *scout) expand(e *expansion, state waiting, bound int) {
	*e = expansion{from: s.space.store.ID(state.ref), begin: len(s.successors), end: len(s.successors)}
	if bound > 0 && int(state.depth) >= bound {
		return
	}
	row := s.space.store.Encoded(state.ref)
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
	if s.space.sleeps.needed {
		e.asleep = s.keep(s.walker.asleep)
	}
	e.quiescent, err = s.walker.steps(s, only)
	if err == nil && reduced && e.steps == 0 && len(s.walker.asleep) == 0 {
		err = errUnknown // all that were followed are blocked, which was not known
	}
	if err != nil {
		s.successors = s.successors[:e.begin]
		s.sleepers = s.sleepers[:min(e.begin, len(s.sleepers))]
		return
	}
	e.complete = true
	e.end = len(s.successors)
}

// keep keeps a list of agents.
func (s *scout) keep(agents []int) stretch {
	begin := int32(len(s.agents))
	s.agents = append(s.agents, agents...)
	return stretch{begin, int32(len(s.agents))}
}

// stopped implements [visitor]: the searching goroutine has to look at the state.
func (s *scout) stopped(_ *taken, err error) error { return err }

// took implements [visitor]: it notes where a step leads.
func (s *scout) took(t *taken) error {
	s.current.steps++
	begin := len(s.rows)
	tag := s.walker.fingerprint.Lo
	if s.space.mirror == nil {
		s.rows = s.walker.appendRow(s.rows)
	} else {
		rows, arranged, err := s.walker.pack(s.rows)
		if err != nil {
			return err
		}
		s.rows, tag = rows, arranged
	}
	// It is filled in where it is: to put it together elsewhere first takes longer than the whole rest.
	s.successors = append(s.successors, store.Lookup{})
	a := &s.successors[len(s.successors)-1]
	a.Hash, a.Begin, a.End = tag, int32(begin), int32(len(s.rows))
	if s.space.sleeps.needed {
		s.sleepers = append(s.sleepers, s.keep(s.walker.behind(t)))
	}
	return nil
}

// report finds out which of the successors are stored, and tells those that the search has to look at.
func (s *scout) report(p *portion, expansions []expansion) {
	s.space.store.Prefetch(s.successors)
	p.successors, p.rows, p.loose = p.successors[:0], p.rows[:0], false
	p.agents, p.sleepers = append(p.agents[:0], s.agents...), p.sleepers[:0]
	for i := range expansions {
		e := &p.expansions[i]
		*e = expansions[i]
		e.begin = len(p.successors)
		for j := expansions[i].begin; j < expansions[i].end; j++ {
			a := &s.successors[j]
			row := s.rows[a.Begin:a.End]
			r, found, settled := s.look(a.Hash, row)
			if settled {
				e.back = e.back || s.space.store.ID(r) <= e.from
				if !s.space.depths.needed && !s.wakes(r, j) {
					continue
				}
			} else if found && !s.space.sleeps.needed && s.repeats(r) {
				continue
			}
			if s.space.sleeps.needed {
				p.sleepers = append(p.sleepers, s.sleepers[j])
			}
			p.successors = append(p.successors, store.Lookup{})
			told := &p.successors[len(p.successors)-1]
			told.Hash, told.Ref, told.Found = a.Hash, r, found
			if !found {
				p.loose = true
				told.Begin = int32(len(p.rows))
				p.rows = append(p.rows, row...)
				told.End = int32(len(p.rows))
			}
		}
		e.end = len(p.successors)
	}
}

// wakes tells whether a successor wakes somebody in a stored state.
func (s *scout) wakes(r store.Ref, successor int) bool {
	if !s.space.sleeps.needed {
		return false
	}
	asleep := s.sleepers[successor]
	return s.space.sleeps.wakes(s.space.store.ID(r), s.agents[asleep.begin:asleep.end])
}

// look finds a state, or inserts it if that can be. It tells whether it is found now, and whether it is known to have its number.
func (s *scout) look(tag uint64, row []byte) (r store.Ref, found, settled bool) {
	if s.table == nil {
		r, found = s.space.store.Find(tag, row)
		return r, found, found
	}
	r, found = s.table.FindOrInsert(s.buffer, tag, row)
	return r, found, found && s.table.Published(r)
}

// toldBits is how many bits number the states that a scout remembers to have told of: about as many as it tells of in a batch.
const toldBits = 13

// repeats tells whether the scout told of a state before, as far as it remembers, and takes note of it. A scout goes through states in
// order, so it is the first step to a state that is told of, and that is all that the search has to know.
func (s *scout) repeats(r store.Ref) bool {
	slot := &s.told[uint32(r)*0x9e3779b1>>(32-toldBits)]
	before := *slot == r+1
	*slot = r + 1
	return before
}
