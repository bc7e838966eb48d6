package explore

import "github.com/orrery-dev/orrery/core/internal/store"

// spans is the frontier of a compact search: that of a breadth-first search, where what waits is mostly one state after the other.
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
	w.ref += store.Ref(i)
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

// take never takes states of two depths at once, as that of [queue].
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
