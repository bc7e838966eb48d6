package explore

import "bytes"

// sieve finds the arrivals of a batch that lead to one state that is not stored yet. Each worker has one, for a
// share of the states, so that the searching goroutine is left with storing each state once.
type sieve struct {
	// slots are a table with open addressing of the arrivals that were met first.
	slots []arrivalID
	// fresh is how many states they lead to.
	fresh int
}

// arrivalID names an arrival of a batch: the number of its portion, from 1, and its place there. 0 is none.
type arrivalID uint64

func newArrivalID(portion, place int) arrivalID { return arrivalID(portion+1)<<32 | arrivalID(place) }

// of returns the arrival.
func (id arrivalID) of(portions []portion) (*portion, *arrival) {
	p := &portions[id>>32-1]
	return p, &p.arrivals[uint32(id)]
}

// sift compares the arrivals of one of several shares.
func (s *sieve) sift(portions []portion, share, shares int) {
	s.empty(portions)
	for i := range portions {
		p := &portions[i]
		for j := range p.arrivals {
			// The low bits are those of the slots.
			if a := &p.arrivals[j]; !a.found && int(uint64(uint32(a.tag))*uint64(shares)>>32) == share {
				a.first = s.first(portions, p.rows[a.begin:a.end], a.tag, newArrivalID(i, j))
				if a.first == 0 {
					s.fresh++
				}
			}
		}
	}
}

// empty makes room for all arrivals.
func (s *sieve) empty(portions []portion) {
	arrivals := 0
	for i := range portions {
		arrivals += len(portions[i].arrivals)
	}
	size := max(len(s.slots), smallestTable)
	for size < 2*arrivals {
		size *= 2
	}
	if size > len(s.slots) {
		s.slots = make([]arrivalID, size)
		return
	}
	clear(s.slots)
}

// first returns the first arrival at the state of a row, 0 if it is this one.
func (s *sieve) first(portions []portion, row []byte, tag uint64, this arrivalID) arrivalID {
	mask := uint64(len(s.slots) - 1)
	for i := tag & mask; ; i = (i + 1) & mask {
		id := s.slots[i]
		if id == 0 {
			s.slots[i] = this
			return 0
		}
		if p, a := id.of(portions); a.tag == tag && bytes.Equal(p.rows[a.begin:a.end], row) {
			return id
		}
	}
}
