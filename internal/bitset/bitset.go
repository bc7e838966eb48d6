// Package bitset has sets of small numbers, such as those of states, cells and agents: one bit for each number up to
// the largest.
package bitset

import (
	"iter"
	"math/bits"
	"slices"
)

// Set is a set of numbers, which grows as they are added. The zero value is empty.
type Set[N ~int | ~uint32] struct{ words []uint64 }

// Has reports whether a number is in the set.
func (s *Set[N]) Has(n N) bool {
	word := int(n / 64)
	return word < len(s.words) && s.words[word]&(1<<(n%64)) != 0
}

// Add adds a number, and reports whether it was not there.
func (s *Set[N]) Add(n N) bool {
	s.grow(int(n/64) + 1)
	word, bit := &s.words[n/64], uint64(1)<<(n%64)
	added := *word&bit == 0
	*word |= bit
	return added
}

// AddAll adds the numbers in another set.
func (s *Set[N]) AddAll(other Set[N]) {
	s.grow(len(other.words))
	for i, word := range other.words {
		s.words[i] |= word
	}
}

// KeepAll removes the numbers that are not in another set.
func (s *Set[N]) KeepAll(other Set[N]) {
	for i := range s.words {
		if i < len(other.words) {
			s.words[i] &= other.words[i]
		} else {
			s.words[i] = 0
		}
	}
}

// HasAll reports whether all numbers of another set are in the set.
func (s *Set[N]) HasAll(other Set[N]) bool {
	for i, word := range other.words {
		if i < len(s.words) {
			word &^= s.words[i]
		}
		if word != 0 {
			return false
		}
	}
	return true
}

// grow makes the set at least so many words long.
func (s *Set[N]) grow(words int) {
	if more := words - len(s.words); more > 0 {
		s.words = append(s.words, make([]uint64, more)...)
	}
}

// Remove removes a number, if it is there.
func (s *Set[N]) Remove(n N) {
	if s.Has(n) {
		s.words[n/64] &^= 1 << (n % 64)
	}
}

// Clear removes all numbers.
func (s *Set[N]) Clear() { clear(s.words) }

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
