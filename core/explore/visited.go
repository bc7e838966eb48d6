package explore

import "bytes"

// visited finds stored states by their fingerprints: a table with open addressing of
// 64-bit entries, each a tag of 32 bits of the fingerprint and a reference. Equal
// tags are told apart by comparing rows, so a state is never taken for another.
type visited struct {
	arena   *arena
	entries []uint64 // tag<<32 | ref+1; 0 is empty
	count   int
}

const smallestTable = 1 << 10

func newVisited(a *arena) *visited {
	return &visited{arena: a, entries: make([]uint64, smallestTable)}
}

// find returns where a state is stored, and false if it is not.
func (v *visited) find(tag uint32, row []byte) (ref, bool) {
	mask := uint32(len(v.entries) - 1)
	for i := tag & mask; ; i = (i + 1) & mask {
		entry := v.entries[i]
		if entry == 0 {
			return 0, false
		}
		if uint32(entry>>32) == tag {
			if r := ref(entry - 1); bytes.Equal(v.arena.row(r), row) {
				return r, true
			}
		}
	}
}

// add enters a state that is not there yet.
func (v *visited) add(tag uint32, r ref) {
	if v.count >= len(v.entries)/4*3 {
		old := v.entries
		v.entries = make([]uint64, 2*len(old))
		for _, entry := range old {
			if entry != 0 {
				v.enter(entry)
			}
		}
	}
	v.enter(uint64(tag)<<32 | uint64(r) + 1)
	v.count++
}

func (v *visited) enter(entry uint64) {
	mask := uint32(len(v.entries) - 1)
	i := uint32(entry>>32) & mask
	for v.entries[i] != 0 {
		i = (i + 1) & mask
	}
	v.entries[i] = entry
}
