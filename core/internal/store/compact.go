package store

import "github.com/orrery-dev/orrery/core"

// Compact is a [Store] that keeps a hash of each state, and the encodings of those only that are still to be expanded.
// It refers to states by their numbers. States have to be expanded in the order of their numbers.
type Compact struct {
	hashes  hashTable
	parents parents
	rows    rowQueue
}

var _ Store = (*Compact)(nil)

// NewCompact returns an empty store.
func NewCompact() *Compact { return &Compact{} }

// Len implements [Store].
func (c *Compact) Len() int { return c.parents.len() }

// Find implements [Store]: a state with the hash of another one is taken for it.
func (c *Compact) Find(hash uint64, _ []byte) (Ref, bool) {
	id, found := c.hashes.find(hash)
	return Ref(id), found
}

// Prefetch implements [Store].
func (c *Compact) Prefetch(lookups []Lookup) {
	for i := range lookups {
		l := &lookups[i]
		l.touched = c.hashes.touch(l.Hash)
	}
}

// Insert implements [Store].
func (c *Compact) Insert(hash uint64, encoded []byte, parent core.StateID) (Ref, bool) {
	id := core.StateID(c.Len())
	if len(encoded) > maxEncoded || id >= NoParent-1 {
		return 0, false
	}
	c.rows.add(encoded)
	c.parents.add(parent)
	c.hashes.add(hash, id)
	return Ref(id), true
}

// Growth implements [Store]: no table is large, and none gets much larger at once.
func (c *Compact) Growth() int64 { return 0 }

// At implements [Store].
func (c *Compact) At(id core.StateID) Ref { return Ref(id) }

// ID implements [Store].
func (c *Compact) ID(r Ref) core.StateID { return core.StateID(r) }

// Encoded implements [Store].
func (c *Compact) Encoded(r Ref, _ []byte) []byte { return c.rows.row(core.StateID(r)) }

// Parent implements [Store].
func (c *Compact) Parent(r Ref) core.StateID { return c.parents.at(core.StateID(r)) }

// SetParent implements [Store]: only walks come to a state on a shorter way later.
func (c *Compact) SetParent(Ref, core.StateID) { panic("store: a compact search found a shorter way") }

// Expanded implements [Store]: the encodings of these states are dropped.
func (c *Compact) Expanded(id core.StateID) { c.rows.drop(id) }

// Odds returns how likely it is, about, that some two of so many states have the same hash of 64 bits, so that one of
// them was missed (Wolper and Leroy, Reliable hashing without collision detection, CAV 1993). Hashes are those of a
// random function of each value of each cell.
func Odds(states int) float64 {
	n := float64(states)
	return n * (n - 1) / 2 / (1 << 63) / 2
}
