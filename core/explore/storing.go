package explore

import (
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// arrive stores the state of a walker, in which agents are asleep.
func (s *search) arrive(w *walker, from core.StateID, depth uint32, asleep []int) (core.StateID, error) {
	row, tag, err := w.pack(w.buffer[:0])
	if err != nil {
		return 0, err
	}
	w.buffer = row
	return s.store(tag, row, from, depth, asleep)
}

// store stores a state if it is new, and puts it on the frontier.
func (s *search) store(tag uint64, row []byte, from core.StateID, depth uint32, asleep []int) (core.StateID, error) {
	if r, known := s.visited.find(tag, row); known {
		return s.reach(r, from, depth, asleep)
	}
	if err := s.room(); err != nil {
		return 0, err
	}
	if growth := s.visited.growth(); growth > 0 && !s.meter.affords(growth) {
		s.fellShort(s.outOfMemory())
		return 0, errFull
	}
	r, ok := s.arena.add(row, from)
	if !ok {
		s.because("there are too many states, or too large ones, to store: make the system smaller")
		return 0, errFull
	}
	s.visited.add(tag, r)
	return s.stored(r, depth, asleep)
}

// reach takes note of a step to a state that was found. If it was only claimed so far, it is admitted.
func (s *search) reach(r ref, from core.StateID, depth uint32, asleep []int) (core.StateID, error) {
	if s.table == nil || s.table.arena.admitted(r) {
		return s.meet(r, from, depth, asleep), nil
	}
	if err := s.room(); err != nil {
		return 0, err
	}
	s.table.arena.admit(r, from)
	return s.stored(r, depth, asleep)
}

// room returns an error if no more states may be stored.
func (s *search) room() error {
	if limit := s.options.Bounds.States; limit > 0 && s.arena.len() >= limit {
		s.fellShort(fmt.Sprintf("the bound on states (%d) was hit: allow more, or make the system smaller", limit))
		return errFull
	}
	return nil
}

// stored puts the state that was stored last on the frontier.
func (s *search) stored(r ref, depth uint32, asleep []int) (core.StateID, error) {
	id := core.StateID(s.arena.len() - 1)
	s.depths.add(depth)
	s.sleeps.add(asleep)
	s.levels.add(depth)
	s.Stats.Depth = max(s.Stats.Depth, int(depth))
	s.frontier.push(waiting{ref: r, depth: depth})
	if !s.overlapping {
		return id, s.inspect(id)
	}
	return id, nil
}

// meet takes note of a step to a stored state.
func (s *search) meet(r ref, from core.StateID, depth uint32, asleep []int) core.StateID {
	id := s.arena.number(r)
	if from != noParent && id <= from {
		s.acyclic = false
	}
	s.wake(id, depth, asleep)
	switch {
	case !s.depths.shallower(id, depth):
	case s.order.Walks():
		s.arena.adopt(r, from)
	default:
		s.cut.remove(id)
		s.deep.remove(id)
		s.frontier.push(waiting{ref: r, depth: depth})
	}
	return id
}
