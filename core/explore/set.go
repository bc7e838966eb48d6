package explore

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
)

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
