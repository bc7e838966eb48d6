package explore

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// waiting is a stored state that is to be expanded.
type waiting struct {
	id    core.StateID
	depth uint32
}

// frontier decides in which order states are expanded.
type frontier interface {
	push(waiting)
	// take moves the next states to the batch, in the order in which they are to be expanded, up to
	// its capacity.
	take(batch []waiting) []waiting
	len() int
}

// newFrontier returns the frontier of a search.
func newFrontier(options Options) frontier {
	switch {
	case options.Order == DepthFirst:
		return &stack{}
	case options.Order.Walks():
		return &unordered{}
	}
	return &spans{}
}

// stack is the frontier of a depth-first search. Several states at its top are
// expanded as one batch, whatever the number of workers, so that it does not decide
// the order.
type stack struct{ waiting []waiting }

func (s *stack) push(w waiting) { s.waiting = append(s.waiting, w) }

func (s *stack) len() int { return len(s.waiting) }

func (s *stack) take(batch []waiting) []waiting {
	batch = batch[:0]
	for len(s.waiting) > 0 && len(batch) < min(cap(batch), depthFirstBatch) {
		last := len(s.waiting) - 1
		batch = append(batch, s.waiting[last])
		s.waiting = s.waiting[:last]
	}
	return batch
}

// depthFirstBatch is how many states a depth-first search expands at once: few, to
// go deep; enough to keep workers busy.
const depthFirstBatch = 32

// unordered is the frontier of walks, which find their way without one: it only counts.
type unordered struct{ count int }

func (a *unordered) push(waiting) { a.count++ }

func (a *unordered) len() int { return a.count }

func (a *unordered) take(batch []waiting) []waiting { return batch[:0] }

// spans is the frontier of a breadth-first search: a queue, where what waits is mostly one state after the other.
type spans struct {
	spans []span
	count int
}

// span is a number of states that follow each other, all of the same depth.
type span struct {
	first waiting
	count int
}

// at returns one of the states.
func (s *span) at(i int) waiting {
	w := s.first
	w.id += core.StateID(i)
	return w
}

func (s *spans) push(w waiting) {
	s.count++
	if last := len(s.spans) - 1; last >= 0 && s.spans[last].at(s.spans[last].count) == w {
		s.spans[last].count++
		return
	}
	s.spans = append(s.spans, span{first: w, count: 1})
}

func (s *spans) len() int { return s.count }

// take never takes states of two depths at once, so that the depth of a search is
// exact when it is stopped.
func (s *spans) take(batch []waiting) []waiting {
	batch = batch[:0]
	for len(s.spans) > 0 && len(batch) < cap(batch) {
		next := &s.spans[0]
		if len(batch) > 0 && next.first.depth != batch[0].depth {
			break
		}
		taken := min(next.count, cap(batch)-len(batch))
		for i := range taken {
			batch = append(batch, next.at(i))
		}
		next.first, next.count = next.at(taken), next.count-taken
		s.count -= taken
		if next.count == 0 {
			s.spans = s.spans[1:]
		}
	}
	return batch
}

// depths remembers how deep each state was found, for the searches that need it: a
// depth-first search with a bound on depth must go on from a state that it meets
// again less deep, and walks come to most states by detours first.
type depths struct {
	needed bool
	of     store.Pages[uint32]
}

func (d *depths) add(depth uint32) {
	if d.needed {
		d.of.Add(depth)
	}
}

// outdated reports whether the state was found less deep since.
func (d *depths) outdated(id core.StateID, depth uint32) bool {
	return d.needed && d.of.At(int(id)) < depth
}

// shallower notes a depth and reports whether it is less than any before.
func (d *depths) shallower(id core.StateID, depth uint32) bool {
	if !d.needed || d.of.At(int(id)) <= depth {
		return false
	}
	d.of.Put(int(id), depth)
	return true
}
