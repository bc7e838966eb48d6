package reduction

import "math/bits"

// set is a set of small numbers, one bit each. Sets that are used together have the same length.
type set []uint64

func newSet(size int) set { return make(set, (size+63)/64) }

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

// addAll adds the members of another set.
func (s set) addAll(other set) {
	for i, word := range other {
		s[i] |= word
	}
}

func (s set) clear() {
	for i := range s {
		s[i] = 0
	}
}

// each calls a function with the members in order.
func (s set) each(call func(int)) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			call(i*64 + bits.TrailingZeros64(word))
		}
	}
}
