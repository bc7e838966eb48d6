package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// idSet is a set of states, one bit each.
type idSet struct{ words []uint64 }

func (s *idSet) has(id core.StateID) bool {
	word := int(id / 64)
	return word < len(s.words) && s.words[word]&(1<<(id%64)) != 0
}

func (s *idSet) add(id core.StateID) {
	for int(id/64) >= len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[id/64] |= 1 << (id % 64)
}

func (s *idSet) remove(id core.StateID) {
	if s.has(id) {
		s.words[id/64] &^= 1 << (id % 64)
	}
}

func (s *idSet) empty() bool {
	return !slices.ContainsFunc(s.words, func(word uint64) bool { return word != 0 })
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
