package explore

import "github.com/orrery-dev/orrery/core"

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
	parents lineage
	rows    train
}

func (l *ledger) len() int { return l.parents.len() }

func (l *ledger) add(row []byte, parent core.StateID) (ref, bool) {
	if len(row) > maxRow || core.StateID(l.len()) >= noParent-1 {
		return 0, false
	}
	l.rows.add(row)
	l.parents.add(parent)
	return ref(l.len() - 1), true
}

func (l *ledger) at(id core.StateID) ref { return ref(id) }

func (l *ledger) number(r ref) core.StateID { return core.StateID(r) }

func (l *ledger) row(r ref) []byte { return l.rows.row(core.StateID(r)) }

func (l *ledger) parent(r ref) core.StateID { return l.parents.at(core.StateID(r)) }

// adopt implements [shelf]: only walks come to a state on a shorter way later.
func (l *ledger) adopt(ref, core.StateID) { panic("explore: a compact search found a shorter way") }

func (l *ledger) expanded(id core.StateID) { l.rows.drop(id) }

// odds returns how likely it is, about, that some two of so many states have the same tag of 64 bits, so that one of them was missed
// (Wolper and Leroy, Reliable hashing without collision detection, CAV 1993). Tags are those of a random function of each value of each cell.
func odds(states int) float64 {
	n := float64(states)
	return n * (n - 1) / 2 / (1 << 63) / 2
}
