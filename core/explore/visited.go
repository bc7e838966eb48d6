package explore

import (
	"bytes"
	"sync/atomic"
)

// visited finds stored states by their fingerprints: a table with open addressing of
// 64-bit entries, each a tag of 32 bits of the fingerprint and a reference. Equal
// tags are told apart by comparing rows, so a state is never taken for another.
//
// While one goroutine adds states others may look for them: whoever sees an entry sees all that was stored before it was
// entered. Who looks while the table grows may miss what is entered meanwhile.
type visited struct {
	arena *arena
	table atomic.Pointer[[]uint64] // tag<<32 | ref+1; 0 is empty
	count int
}

const (
	smallestTable = 1 << 10
	entryBytes    = 8
)

func newVisited(a *arena) *visited {
	v := &visited{arena: a}
	entries := make([]uint64, smallestTable)
	v.table.Store(&entries)
	return v
}

// find returns where a state is stored, and false if it is not.
func (v *visited) find(whole uint64, row []byte) (ref, bool) {
	entries := *v.table.Load()
	tag, mask := uint32(whole), uint32(len(entries)-1)
	for i := tag & mask; ; i = (i + 1) & mask {
		entry := atomic.LoadUint64(&entries[i])
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

// growth returns how many bytes the table needs for the next state, beyond those it has.
func (v *visited) growth() int64 {
	entries := *v.table.Load()
	if v.count < len(entries)/4*3 {
		return 0
	}
	return 2 * entryBytes * int64(len(entries))
}

// fetch brings what finding arrivals looks at near to the processor. To find one after the other would be to wait for memory
// each time; what is asked for at once comes at once.
func (v *visited) fetch(arrivals []arrival) {
	entries := *v.table.Load()
	mask := uint32(len(entries) - 1)
	for i := range arrivals {
		a := &arrivals[i]
		a.near = atomic.LoadUint64(&entries[uint32(a.tag)&mask]) == 0
	}
	for i := range arrivals {
		if a := &arrivals[i]; !a.near {
			a.near = v.touch(entries, uint32(a.tag))
		}
	}
}

// touch reads the beginning of the record that the tag leads to.
func (v *visited) touch(entries []uint64, tag uint32) bool {
	mask := uint32(len(entries) - 1)
	for i := tag & mask; ; i = (i + 1) & mask {
		entry := atomic.LoadUint64(&entries[i])
		if entry == 0 {
			return true
		}
		if uint32(entry>>32) == tag {
			return v.arena.record(ref(entry - 1))[0] == 0
		}
	}
}

// add enters a state that is not there yet.
func (v *visited) add(tag uint64, r ref) {
	if v.growth() > 0 {
		v.double()
	}
	entry := tag<<32 | uint64(r) + 1
	atomic.StoreUint64(place(*v.table.Load(), entry), entry)
	v.count++
}

func (v *visited) double() {
	old := *v.table.Load()
	entries := make([]uint64, 2*len(old))
	for _, entry := range old {
		if entry != 0 {
			*place(entries, entry) = entry
		}
	}
	v.table.Store(&entries)
}

// place returns where to put an entry that is not there yet.
func place(entries []uint64, entry uint64) *uint64 {
	mask := uint64(len(entries) - 1)
	for i := entry >> 32 & mask; ; i = (i + 1) & mask {
		if entries[i] == 0 {
			return &entries[i]
		}
	}
}
