package explore

import "github.com/orrery-dev/orrery/core"

// accept stores where the steps from the states of the batch lead, in order. The crew expands the next batch meanwhile,
// if that can be.
func (s *search) accept() error {
	first := core.StateID(s.States())
	s.sleeps.disturbed = false
	s.overlapping = s.overlaps()
	if s.overlapping {
		s.dispatch(s.ahead)
	}
	done, err := s.acceptComplete()
	if s.overlapping {
		s.collect(s.ahead)
	}
	for i := done; err == nil && i < len(s.batch.states); i++ {
		err = s.acceptAt(i)
	}
	if s.overlapping {
		// Properties may look at what the crew works with, so that had to wait.
		for id := first; id < core.StateID(s.States()); id++ {
			if inspected := s.inspect(id); err == nil {
				err = inspected
			}
		}
	}
	return err
}

// dispatch has the crew expand the next batch.
func (s *search) dispatch(b *batch) {
	b.take(s.frontier)
	if s.table != nil {
		s.table.Publish(!s.overlapping)
		s.table.Reserve()
	}
	s.crew.begin(b)
}

// collect waits until it is expanded.
func (s *search) collect(b *batch) {
	s.crew.finish(b)
	if s.table != nil {
		s.table.Count()
	}
}

// overlaps tells whether the crew can expand the next batch while this one is stored. The states to store must all be found already, and
// only where no orders are left out is no note taken of what properties look at.
func (s *search) overlaps() bool {
	return s.table != nil && len(s.crew.workers) > 1 && s.order == BreadthFirst && !s.machine.reduces &&
		s.frontier.len() >= batchLen/4 && !s.batch.loose()
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
		a := &p.successors[i]
		var asleep []int
		if s.sleeps.needed && !s.sleeps.disturbed {
			asleep = p.asleep(p.sleepers[i])
		}
		var err error
		if a.Found {
			_, err = s.reach(a.Ref, e.from, w.depth+1, asleep)
		} else {
			_, err = s.insert(a.Hash, p.rows[a.Begin:a.End], e.from, w.depth+1, asleep)
		}
		if err != nil {
			return err
		}
	}
	if e.reduced {
		s.partial.add(e.from)
	}
	s.finish(e.from, w.depth, tally{
		steps: e.steps, known: e.steps, quiescent: e.quiescent,
		asleep: p.asleep(e.asleep),
	})
	return nil
}
