package store

import (
	"sync"
	"sync/atomic"

	"github.com/orrery-dev/orrery/core"
)

// Full is a [Store] that keeps every encoding, as a tree. States are never dropped. It refers to states by their
// numbers, and to those without one by where they were claimed.
//
// Whoever sees an entry of the table sees the root of its state. While a table grows nobody may look at it; see
// [Full.GrowthFor].
type Full struct {
	table table
	// count is how many states are in the table, as far as counted.
	count int
	trees trees
	// roots are the roots of the states that have numbers, and parents their parents.
	roots   words
	parents parents
	// own is the folder of the goroutine that assigns numbers, and buffers are those of others.
	own     folder
	buffers []*Buffer

	growing sync.Mutex
	// claims are the pages of claims, nil where nobody looks at them any more, and spare pages to be used again.
	claims atomic.Pointer[[]*claimPage]
	spare  []*claimPage
}

var _ Store = (*Full)(nil)

// NewFull returns an empty store.
func NewFull() *Full {
	f := &Full{table: newTable()}
	f.claims.Store(&[]*claimPage{})
	return f
}

// Len implements [Store]. States without a number do not count.
func (f *Full) Len() int { return f.parents.len() }

// Find implements [Store].
func (f *Full) Find(hash uint64, encoded []byte) (Ref, bool) {
	tag := uint32(hash)
	for i := f.table.home(tag); ; i = f.table.after(i) {
		var entry uint64
		if entry, i = f.table.next(tag, i); entry == 0 {
			return 0, false
		}
		if r := Ref(entry - 1); f.trees.is(f.root(r), encoded) {
			return r, true
		}
	}
}

// Prefetch implements [Store].
func (f *Full) Prefetch(lookups []Lookup) {
	for i := range lookups {
		l := &lookups[i]
		l.at = f.table.home(uint32(l.Hash))
		l.touched = atomic.LoadUint64(f.table.at(l.at)) == 0
	}
	for i := range lookups {
		if l := &lookups[i]; !l.touched {
			var entry uint64
			entry, l.at = f.table.next(uint32(l.Hash), l.at)
			l.touched = entry == 0 || f.root(Ref(entry-1)) == 0
		}
	}
}

// Insert implements [Store].
func (f *Full) Insert(hash uint64, encoded []byte, parent core.StateID) (Ref, bool) {
	if !storable(encoded) || f.Len() >= firstClaim {
		return 0, false
	}
	root, ok := f.trees.fold(&f.own, encoded)
	for ; !ok; root, ok = f.trees.fold(&f.own, encoded) {
		if l := &f.trees.levels[f.own.lacks]; !l.grow() {
			return 0, false
		}
	}
	if f.needs(0) {
		f.grow()
	}
	r := f.add(root, parent)
	f.table.enter(entryOf(uint32(hash), r))
	f.count++
	return r, true
}

// add gives a state the next number.
func (f *Full) add(root uint64, parent core.StateID) Ref {
	r := Ref(f.Len())
	f.roots.put(uint32(r), root)
	f.parents.add(parent)
	return r
}

// storable reports whether an encoding can be stored. One that ends in a zero would be taken for the one without it.
func storable(encoded []byte) bool {
	if n := len(encoded); n > 0 && encoded[n-1] == 0 {
		panic("store: an encoding ends in a zero")
	}
	return len(encoded) <= maxEncoded
}

// Growth implements [Store].
func (f *Full) Growth() int64 {
	growth := f.trees.growth()
	if f.needs(0) {
		growth += f.table.growth()
	}
	return growth
}

// GrowthFor returns how many bytes a table needs for so many states to be inserted by buffers, and 0 if there is room.
func (f *Full) GrowthFor(states int) int64 {
	if f.needs(states) {
		return f.table.growth()
	}
	if l := f.trees.short(); l != nil {
		return l.growth()
	}
	return 0
}

// Grow makes that table longer. Nobody may look for states meanwhile.
func (f *Full) Grow(states int) {
	if f.needs(states) {
		f.grow()
	} else if l := f.trees.short(); l != nil {
		l.grow()
	}
}

// needs reports whether the table of states lacks room.
func (f *Full) needs(states int) bool { return f.count+states >= f.table.enough() }

// grow makes the table of states longer.
func (f *Full) grow() {
	f.table.grow()
	for _, b := range f.buffers {
		b.moved = b.used
	}
}

// Expanded implements [Store]: everything is kept.
func (f *Full) Expanded(core.StateID) {}

// At implements [Store].
func (f *Full) At(id core.StateID) Ref { return Ref(id) }

// ID implements [Store]. The state has a number.
func (f *Full) ID(r Ref) core.StateID {
	if r < firstClaim {
		return core.StateID(r)
	}
	return core.StateID(f.claim(r).number - 1)
}

// Encoded implements [Store].
func (f *Full) Encoded(r Ref, buffer []byte) []byte {
	if buffer == nil {
		buffer = make([]byte, 0, 64)
	}
	return f.trees.append(buffer[:0], f.root(r))
}

// root returns the root of a state.
func (f *Full) root(r Ref) uint64 {
	if r < firstClaim {
		return f.roots.at(uint32(r))
	}
	return f.claim(r).root
}

// Parent implements [Store].
func (f *Full) Parent(r Ref) core.StateID { return f.parents.at(f.ID(r)) }

// SetParent implements [Store].
func (f *Full) SetParent(r Ref, parent core.StateID) { f.parents.put(f.ID(r), parent) }
