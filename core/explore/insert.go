package explore

import (
	"fmt"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// insertCurrent stores the state of a walker, in which agents are asleep.
func (s *search) insertCurrent(w *reduction.Explorer, from core.StateID, depth uint32, asleep []int) (core.StateID, error) {
	row, tag, err := w.Pack(w.Buffer[:0])
	if err != nil {
		return 0, err
	}
	w.Buffer = row
	return s.insert(tag, row, from, depth, asleep)
}

// insert stores a state if it is new, and puts it on the frontier.
func (s *search) insert(tag uint64, row []byte, from core.StateID, depth uint32, asleep []int) (core.StateID, error) {
	if r, known := s.store.Find(tag, row); known {
		return s.revisit(r, tag, from, depth, asleep)
	}
	if err := s.room(); err != nil {
		return 0, err
	}
	if growth := s.store.Growth(); growth > 0 && !s.meter.affords(growth) {
		s.fellShort(s.outOfMemory())
		return 0, errFull
	}
	if _, ok := s.store.Insert(tag, row, from); !ok {
		return 0, s.tooMany()
	}
	s.options.Checkpoint.stored(tag)
	return s.enqueue(depth, asleep)
}

// revisit notes a step to a state that was found. If it has no number yet, it gets the next one.
func (s *search) revisit(r store.Ref, tag uint64, from core.StateID, depth uint32, asleep []int) (core.StateID, error) {
	if s.table == nil || s.table.Assigned(r) {
		return s.reach(r, from, depth, asleep), nil
	}
	if err := s.room(); err != nil {
		return 0, err
	}
	if !s.table.Assign(r, from) {
		return 0, s.tooMany()
	}
	s.options.Checkpoint.stored(tag)
	return s.enqueue(depth, asleep)
}

// tooMany says that there are more states than the store can number.
func (s *search) tooMany() error {
	s.because("there are more states than can be stored: make the system smaller")
	return errFull
}

// room returns an error if no more states may be stored.
func (s *search) room() error {
	if limit := s.options.Bounds.States; limit > 0 && s.store.Len() >= limit {
		s.fellShort(fmt.Sprintf("the search reached the limit of %d states: raise --max-states (Options.MaxStates), or make the system smaller", limit))
		return errFull
	}
	return nil
}

// enqueue puts the state that was stored last on the frontier.
func (s *search) enqueue(depth uint32, asleep []int) (core.StateID, error) {
	id := core.StateID(s.store.Len() - 1)
	s.depths.add(depth)
	s.sleeps.add(asleep)
	s.levels.add(depth)
	s.Stats.Depth = max(s.Stats.Depth, int(depth))
	s.frontier.push(waiting{id: id, depth: depth})
	if !s.overlapping {
		return id, s.inspect(id)
	}
	return id, nil
}

// reach notes a step to a state that has a number.
func (s *search) reach(r store.Ref, from core.StateID, depth uint32, asleep []int) core.StateID {
	id := s.store.ID(r)
	if from != store.NoParent && id <= from {
		s.acyclic = false
	}
	s.wake(id, depth, asleep)
	switch {
	case !s.depths.shallower(id, depth):
	case s.order.Walks():
		s.store.SetParent(r, from)
	default:
		s.cut.Remove(id)
		s.deep.Remove(id)
		s.frontier.push(waiting{id: id, depth: depth})
	}
	return id
}
