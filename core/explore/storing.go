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
		return s.meet(r, from, depth, asleep), nil
	}
	r, err := s.add(row, from, depth, asleep)
	if err != nil {
		return 0, err
	}
	s.visited.add(tag, r)
	return s.arena.number(r), nil
}

// add stores a new state, which has to be entered where it is found, and puts it on the frontier.
func (s *search) add(row []byte, from core.StateID, depth uint32, asleep []int) (ref, error) {
	id := core.StateID(s.arena.len())
	if limit := s.options.Bounds.States; limit > 0 && int(id) >= limit {
		s.fellShort(fmt.Sprintf("the bound on states (%d) was hit: allow more, or make the system smaller", limit))
		return 0, errFull
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
	s.depths.add(depth)
	s.sleeps.add(asleep)
	s.levels.add(depth)
	s.Stats.Depth = max(s.Stats.Depth, int(depth))
	s.frontier.push(waiting{ref: r, depth: depth})
	if !s.overlapping {
		return r, s.inspect(id, row)
	}
	return r, nil
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
