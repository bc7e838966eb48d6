package explore

// expandBatch takes all steps from the states of the batch and stores where they
// lead, in order.
func (s *search) expandBatch() error {
	portions := s.crew.expand(s.batch, s.options.Bounds.Depth)
	done, err := s.acceptAll(portions)
	if err != nil {
		return err
	}
	for i := done; i < len(s.batch); i++ {
		w := s.batch[i]
		p := &portions[i/portionLen]
		e := &p.expansions[i%portionLen]
		switch {
		case s.depths.outdated(e.from, w.depth):
		case e.complete:
			err = s.revise(w, p, e)
		default:
			err = s.expand(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// acceptAll stores what the crew found out about the states of the batch, as far as nothing has to be learned: then what it found
// to be new is new. It returns how many states are done.
func (s *search) acceptAll(portions []portion) (int, error) {
	if s.crew.table == nil {
		return 0, nil
	}
	if growth := s.visited.growth(s.crew.fresh()); growth > 0 && s.meter.affords(growth) {
		s.crew.widen()
	}
	defer s.crew.enter(portions)
	for i, w := range s.batch {
		p := &portions[i/portionLen]
		e := &p.expansions[i%portionLen]
		if !e.complete || s.depths.outdated(e.from, w.depth) {
			return i, nil
		}
		if err := s.accept(w, portions, p, e); err != nil {
			return i, err
		}
	}
	return len(s.batch), nil
}

// accept stores what a worker found out about a state. What is new has to be entered in the table.
func (s *search) accept(w waiting, portions []portion, p *portion, e *expansion) error {
	s.acyclic = s.acyclic && !e.back
	for i := e.begin; i < e.end; i++ {
		a := &p.arrivals[i]
		switch {
		case a.found:
			s.meet(a.known, e.from, w.depth+1)
		case a.first != 0:
			if s.depths.needed {
				_, first := a.first.of(portions)
				s.meet(first.known, e.from, w.depth+1)
			}
		default:
			r, err := s.add(p.rows[a.begin:a.end], e.from, w.depth+1)
			if err != nil {
				return err
			}
			s.crew.table.reserve()
			a.known, a.pending = r, true
		}
	}
	s.conclude(e)
	return nil
}

// revise stores what a worker found out about a state, when other states were stored since.
func (s *search) revise(w waiting, p *portion, e *expansion) error {
	s.acyclic = s.acyclic && !e.back
	for i := e.begin; i < e.end; i++ {
		a := &p.arrivals[i]
		if a.found {
			s.meet(a.known, e.from, w.depth+1)
		} else if _, err := s.store(a.tag, p.rows[a.begin:a.end], e.from, w.depth+1); err != nil {
			return err
		}
	}
	s.conclude(e)
	return nil
}

// conclude counts a state that a worker expanded.
func (s *search) conclude(e *expansion) {
	if e.reduced {
		s.partial.add(e.from)
	}
	s.finish(e.from, e.steps, e.steps, e.quiescent)
}
