package store

import (
	"math/bits"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// hashTable finds states by their hashes alone.
//
// It is a number of parts, one for each way in which a hash can begin. A part holds hashes in their order, each where
// it would be if hashes were spread evenly, or as near behind as there is room: finding one is to go on from there
// until a hash is not less. As the order stays when a part gets longer, that needs no other memory than what is added.
type hashTable struct {
	parts [1 << partBits]hashPart
}

const (
	partBits = 6
	// hashPage is how many entries a page holds, and hashMargin how many of a part are left for those that are put off
	// at its end.
	hashPage   = 1 << 10
	hashMargin = 1 << 6
)

// hashed is an entry: a hash in two halves, so that it takes no more than 12 bytes, and the number of its state from 1
// on; 0 is empty.
type hashed struct{ high, low, number uint32 }

func (h *hashed) hash() uint64 { return uint64(h.high)<<32 | uint64(h.low) }

// hashPart is a part of the table.
type hashPart struct {
	pages []*[hashPage]hashed
	count int
}

// of returns the part of a hash.
func (t *hashTable) of(hash uint64) *hashPart { return &t.parts[hash>>(64-partBits)] }

// find returns the number of the state with a hash.
func (t *hashTable) find(hash uint64) (core.StateID, bool) {
	p := t.of(hash)
	if i := p.seek(hash); i < p.len() {
		if there := p.at(i); there.number != 0 && there.hash() == hash {
			return core.StateID(there.number - 1), true
		}
	}
	return 0, false
}

// touch reads where a hash belongs.
func (t *hashTable) touch(hash uint64) bool {
	p := t.of(hash)
	return len(p.pages) > 0 && p.at(p.home(hash)).number == 0
}

// add enters a hash that is not there yet.
func (t *hashTable) add(hash uint64, id core.StateID) {
	p := t.of(hash)
	if p.count >= p.len()/8*7 {
		p.grow()
	}
	over := p.insert(hashed{high: uint32(hash >> 32), low: uint32(hash), number: uint32(id) + 1})
	for over.number != 0 {
		p.grow()
		over = p.insert(over)
	}
	p.count++
}

func (p *hashPart) len() int { return len(p.pages) * hashPage }

func (p *hashPart) at(i int) *hashed { return &p.pages[i/hashPage][i%hashPage] }

// home returns where a hash belongs.
func (p *hashPart) home(hash uint64) int {
	high, _ := bits.Mul64(hash<<partBits, uint64(p.len()-hashMargin))
	return int(high)
}

// seek returns where a hash is, or else where it would have to be put.
func (p *hashPart) seek(hash uint64) int {
	if len(p.pages) == 0 {
		return 0
	}
	i := p.home(hash)
	for i < p.len() {
		rest := p.pages[i/hashPage][i%hashPage:]
		for j := range rest {
			if there := &rest[j]; there.number == 0 || there.hash() >= hash {
				return i + j
			}
		}
		i += len(rest)
	}
	return i
}

// insert enters an entry that is not there yet, and puts those off that are in the way. It returns the one for which
// there is no room behind them, if there is one.
func (p *hashPart) insert(h hashed) hashed {
	for i := p.seek(h.hash()); i < p.len() && h.number != 0; i++ {
		there := p.at(i)
		h, *there = *there, h
	}
	return h
}

// grow makes the part longer by an eighth.
func (p *hashPart) grow() {
	for range len(p.pages)/8 + 1 {
		p.pages = append(p.pages, new([hashPage]hashed))
	}
	p.spread()
}

// spread puts all entries where they belong. They fit, as they did before: behind where a hash belongs there is no less
// room in a longer part.
func (p *hashPart) spread() {
	// First they are packed at the end, and then taken from there one after the other.
	packed := p.len()
	for _, page := range slices.Backward(p.pages) {
		for i := hashPage - 1; i >= 0; i-- {
			if h := page[i]; h.number != 0 {
				packed--
				page[i] = hashed{}
				*p.at(packed) = h
			}
		}
	}
	free := 0
	for ; packed < p.len(); packed++ {
		h := *p.at(packed)
		to := max(p.home(h.hash()), free)
		if to > packed {
			panic("store: hashes do not fit into a longer part")
		}
		*p.at(packed) = hashed{}
		*p.at(to) = h
		free = to + 1
	}
}
