// Package bitset has sets of small numbers, such as those of states and cells: one bit for each number up to the largest.
package bitset

import (
	"iter"
	"math/bits"
	"slices"
)

// Set is a set of numbers, which grows as they are added. The zero value is empty.
type Set[N ~uint32] struct{ words []uint64 }

// Has reports whether a number is in the set.
func (s *Set[N]) Has(n N) bool {
	word := int(n / 64)
	return word < len(s.words) && s.words[word]&(1<<(n%64)) != 0
}

// Add adds a number.
func (s *Set[N]) Add(n N) {
	for int(n/64) >= len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[n/64] |= 1 << (n % 64)
}

// Remove removes a number, if it is there.
func (s *Set[N]) Remove(n N) {
	if s.Has(n) {
		s.words[n/64] &^= 1 << (n % 64)
	}
}

// Empty reports whether there is no number in the set.
func (s *Set[N]) Empty() bool {
	return !slices.ContainsFunc(s.words, func(word uint64) bool { return word != 0 })
}

// All returns the numbers in the set, in order.
func (s *Set[N]) All() iter.Seq[N] {
	return func(yield func(N) bool) {
		for i, word := range s.words {
			for ; word != 0; word &= word - 1 {
				if !yield(N(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
