package explore

import "github.com/orrery-dev/orrery/core"

// accept stores where the steps from the states of the batch lead, in order. The crew expands the next batch meanwhile,
// if that can be.
func (s *search) accept() error {
	first := core.StateID(s.States())
	s.sleeps.disturbed = false
	s.overlapping = s.overlaps()
	if s.overlapping {
		s.ahead.take(s.frontier)
		s.crew.begin(s.ahead)
	}
	done, err := s.acceptComplete()
	if s.overlapping {
		s.crew.finish(s.ahead)
	}
	for i := done; err == nil && i < len(s.batch.states); i++ {
		err = s.acceptAt(i)
	}
	if s.overlapping {
		// Properties may look at what the crew works with, so that had to wait.
		for id := first; id < core.StateID(s.States()); id++ {
			if inspected := s.inspect(id, s.row(id)); err == nil {
				err = inspected
			}
		}
	}
	return err
}

// overlaps tells whether the crew can expand the next batch while this one is stored. Only in a table can states be found while
// others are added, and only where no orders are left out is no note taken of what properties look at.
func (s *search) overlaps() bool {
	_, shared := s.visited.(*visited)
	return shared && len(s.crew.workers) > 1 && s.order == BreadthFirst && !s.machine.reduces && s.frontier.len() >= batchLen
}

// acceptComplete stores what is found behind the states of the batch, as far as nothing has to be learned. It returns how many states are
// done.
func (s *search) acceptComplete() (int, error) {
	for i := range s.batch.states {
		if _, e := s.batch.at(i); !e.complete {
			return i, nil
		}
		if err := s.acceptAt(i); err != nil {
			return i, err
		}
	}
	return len(s.batch.states), nil
}

// acceptAt stores where the steps from a state of the batch lead.
func (s *search) acceptAt(i int) error {
	w := s.batch.states[i]
	p, e := s.batch.at(i)
	switch {
	case s.depths.outdated(e.from, w.depth):
		return nil
	case !e.complete:
		return s.expand(w)
	}
	s.acyclic = s.acyclic && !e.back
	for i := e.begin; i < e.end; i++ {
		a := &p.arrivals[i]
		var asleep []int
		if !s.sleeps.disturbed {
			asleep = p.agents[a.sleepBegin:a.sleepEnd]
		}
		if a.found {
			s.meet(a.known, e.from, w.depth+1, asleep)
			continue
		}
		row := p.rows[a.begin:a.end]
		if r, known := s.visited.find(a.tag, row); !known {
			r, err := s.add(row, e.from, w.depth+1, asleep)
			if err != nil {
				return err
			}
			s.visited.add(a.tag, r)
		} else if s.depths.needed || s.sleeps.needed {
			s.meet(r, e.from, w.depth+1, asleep)
		}
	}
	if e.reduced {
		s.partial.add(e.from)
	}
	s.finish(e.from, w.depth, tally{
		steps: e.steps, known: e.steps, quiescent: e.quiescent,
		asleep: p.agents[e.sleepBegin:e.sleepEnd],
	})
	return nil
}
