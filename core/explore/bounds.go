package explore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	// errFull ends a search that may not store more states.
	errFull = errors.New("no more states may be stored")
	// errTime is the cause of the end of a search that took too long.
	errTime = errors.New("the bound on time was hit")
)

// interrupted turns an error that is no fault of the system's into a reason.
func (s *search) interrupted(err error) error {
	switch {
	case errors.Is(err, errFull):
	case s.context.Err() != nil && errors.Is(err, s.context.Err()):
		s.fellShort(s.ended())
	default:
		return err
	}
	// What was being expanded is not complete.
	s.cutAll(s.batch.states)
	return nil
}

// ended says why the context of the search ended.
func (s *search) ended() string {
	if errors.Is(context.Cause(s.context), errTime) {
		return fmt.Sprintf("the bound on time (%s) was hit: allow more, or make the system smaller", s.options.Bounds.Time)
	}
	return "the search was interrupted"
}

// exhausted returns which bound was hit, empty if none.
func (s *search) exhausted() string {
	if s.context.Err() != nil {
		return s.ended()
	}
	if s.table != nil && !s.enlarge() {
		return s.outOfMemory()
	}
	elapsed := time.Since(s.began)
	if !s.meter.due(elapsed) {
		return ""
	}
	memory := s.meter.memory()
	if s.meter.full(memory) {
		return s.outOfMemory()
	}
	if s.options.Progress != nil {
		s.options.Progress(Progress{
			States:      s.States(),
			Transitions: s.Stats.Transitions,
			Frontier:    s.frontier.len(),
			Depth:       s.Stats.Depth,
			Memory:      memory,
			Outlook:     s.outlook(),
		})
	}
	return ""
}

// enlarge makes the table large enough for the crew to claim all that a batch is likely to bring. It returns false if there is no memory
// for that.
func (s *search) enlarge() bool {
	const steps = 8 // to new states
	for {
		growth := s.table.GrowthFor(steps * min(s.frontier.len(), batchLen))
		if growth == 0 {
			return true
		}
		if !s.meter.affords(growth) {
			return false
		}
		s.table.GrowTable(s.crew.divide)
	}
}

func (s *search) outOfMemory() string {
	return fmt.Sprintf("the bound on memory (%d MiB) was hit: allow more, or make the system smaller", s.meter.limit>>20)
}

// beyond tells whether steps from this depth lead beyond the bound.
func (s *search) beyond(depth uint32) bool {
	return s.options.Bounds.Depth > 0 && int(depth) >= s.options.Bounds.Depth
}

// fellShort adds a reason why the search ended before its end, with what was still to be expected.
func (s *search) fellShort(reason string) {
	if outlook := s.outlook().String(); outlook != "" {
		reason += "; " + outlook
	}
	s.because(reason)
}

// outlook tells what is still to come. Only the levels of a breadth-first search tell.
func (s *search) outlook() Outlook {
	if s.order != BreadthFirst || len(s.batch.states) == 0 {
		return Outlook{}
	}
	return s.levels.outlook(s.batch.states[len(s.batch.states)-1].depth)
}
