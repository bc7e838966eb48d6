package explore

import (
	"math/bits"

	"github.com/orrery-dev/orrery/core"
)

// shelf keeps states by their numbers.
type shelf interface {
	len() int
	// add keeps a state and returns where. It returns false if there are too many states, or the row is too long.
	add(row []byte, parent core.StateID) (ref, bool)
	at(core.StateID) ref
	number(ref) core.StateID
	// row returns the packed row of a state, which must not be changed; nil if it is not kept any more.
	row(ref) []byte
	// parent returns the state from which a state was first reached.
	parent(ref) core.StateID
	// adopt gives a state another parent, which is nearer to the start.
	adopt(r ref, parent core.StateID)
	// expanded tells that all states below a number were expanded.
	expanded(core.StateID)
}

// index finds states that are kept by their tags, which are half of their fingerprints.
type index interface {
	find(tag uint64, row []byte) (ref, bool)
	// fetch brings what finding arrivals looks at near to the processor.
	fetch([]arrival)
	// add enters a state that is not there yet, and growth is how many bytes that needs at once.
	add(tag uint64, r ref)
	growth() int64
}

var (
	_ shelf = (*arena)(nil)
	_ index = (*visited)(nil)
	_ shelf = (*ledger)(nil)
	_ index = (*digests)(nil)
)

// ledger is a shelf that keeps the rows of those states only that are still to be expanded. It refers to
// states by their numbers. States have to be expanded in the order of their numbers.
type ledger struct {
	parents pages[core.StateID]
	rows    *arena
	// kept is the first state whose row is kept.
	kept core.StateID
}

func (l *ledger) len() int { return l.parents.len }

func (l *ledger) add(row []byte, parent core.StateID) (ref, bool) {
	if _, ok := l.rows.add(row, parent); !ok {
		return 0, false
	}
	l.parents.add(parent)
	return ref(l.len() - 1), true
}

func (l *ledger) at(id core.StateID) ref { return ref(id) }

func (l *ledger) number(r ref) core.StateID { return core.StateID(r) }

func (l *ledger) row(r ref) []byte {
	if core.StateID(r) < l.kept {
		return nil
	}
	return l.rows.row(l.rows.at(core.StateID(r)))
}

func (l *ledger) parent(r ref) core.StateID { return l.parents.at(int(r)) }

func (l *ledger) adopt(r ref, parent core.StateID) { l.parents.put(int(r), parent) }

func (l *ledger) expanded(id core.StateID) {
	l.kept = id
	l.rows.drop(min(id, core.StateID(l.len()-1)))
	if int(id) == l.len() {
		l.rows.spare = nil // there is hardly any more to come
	}
}

// digests is an index by tags alone: a state with the tag of another one is taken for it. It is as many tables as a tag has first bytes, which
// grow one after the other, so that there is never much that is there twice.
type digests struct {
	tags   pages[uint64]
	tables [256]digestTable
}

// digestTable is a part of the index: a table with open addressing of numbers of states from 1 on; 0 is empty.
type digestTable struct {
	entries []uint32
	count   int
}

const smallestDigestTable = 16

// slot returns where a tag belongs, if it is free.
func (t *digestTable) slot(tag uint64) int {
	high, _ := bits.Mul64(tag<<8, uint64(len(t.entries)))
	return int(high)
}

func (d *digests) find(tag uint64, _ []byte) (ref, bool) {
	t := &d.tables[tag>>56]
	if t.count == 0 {
		return 0, false
	}
	for i := t.slot(tag); ; i = (i + 1) % len(t.entries) {
		entry := t.entries[i]
		if entry == 0 {
			return 0, false
		}
		if d.tags.at(int(entry-1)) == tag {
			return ref(entry - 1), true
		}
	}
}

func (d *digests) fetch(arrivals []arrival) {
	for i := range arrivals {
		a := &arrivals[i]
		if t := &d.tables[a.tag>>56]; t.count > 0 {
			a.near = t.entries[t.slot(a.tag)] == 0
		}
	}
}

func (d *digests) add(tag uint64, r ref) {
	d.tags.add(tag)
	t := &d.tables[tag>>56]
	if t.count >= len(t.entries)/5*4 {
		old := t.entries
		t.entries = make([]uint32, max(smallestDigestTable, len(old)/2*3))
		for _, entry := range old {
			if entry != 0 {
				t.enter(d.tags.at(int(entry-1)), entry)
			}
		}
	}
	t.enter(tag, uint32(r)+1)
	t.count++
}

func (t *digestTable) enter(tag uint64, entry uint32) {
	i := t.slot(tag)
	for t.entries[i] != 0 {
		i = (i + 1) % len(t.entries)
	}
	t.entries[i] = entry
}

// growth implements [index]: no table is large.
func (d *digests) growth() int64 { return 0 }

// odds returns how likely it is, about, that some two of so many states have the same tag of 64 bits, so that one of them was missed
// (Wolper and Leroy, Reliable hashing without collision detection, CAV 1993). Tags are those of a random function of each value of each cell.
func odds(states int) float64 {
	n := float64(states)
	return n * (n - 1) / 2 / (1 << 63) / 2
}
