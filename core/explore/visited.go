package explore

import (
	"bytes"
	"sync/atomic"
)

// visited finds stored states by their fingerprints: a table with open addressing of
// 64-bit entries, each a tag of 32 bits of the fingerprint and a reference. Equal
// tags are told apart by comparing rows, so a state is never taken for another.
//
// Several goroutines may claim states at once, and others look for them: whoever sees an entry sees the row of its state. While
// the table grows nobody may claim any, and who looks may miss what is entered meanwhile.
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
func (v *visited) growth() int64 { return v.growthFor(0) }

// growthFor returns how many bytes the table needs for so many states and one more, or for some of them.
func (v *visited) growthFor(states int) int64 {
	entries := *v.table.Load()
	if v.count+states < len(entries)/4*3 {
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

// touch reads of the record that the tag leads to what nobody changes.
func (v *visited) touch(entries []uint64, tag uint32) bool {
	mask := uint32(len(entries) - 1)
	for i := tag & mask; ; i = (i + 1) & mask {
		entry := atomic.LoadUint64(&entries[i])
		if entry == 0 {
			return true
		}
		if uint32(entry>>32) == tag {
			return v.arena.record(ref(entry - 1))[headerBytes] == 0
		}
	}
}

// add enters a state that is not there yet.
func (v *visited) add(tag uint64, r ref) {
	if v.growth() > 0 {
		v.double(alone)
	}
	enter(*v.table.Load(), tag<<32|uint64(r)+1)
	v.count++
}

// division has a work done in parts, and returns when all are done.
type division func(work func(part, of int))

// alone is the division among one.
func alone(work func(part, of int)) { work(0, 1) }

// double doubles the table, by a division of the work.
func (v *visited) double(divided division) {
	old := *v.table.Load()
	entries := make([]uint64, 2*len(old))
	// Memory that is read before it is written is mapped twice by some systems: first to a page of zeros that all share.
	divided(func(part, of int) {
		const page = 4096 / entryBytes
		for i := len(entries) * part / of; i < len(entries)*(part+1)/of; i += page {
			entries[i] = 0
		}
	})
	divided(func(part, of int) {
		for _, entry := range old[len(old)*part/of : len(old)*(part+1)/of] {
			if entry != 0 {
				enter(entries, entry)
			}
		}
	})
	v.table.Store(&entries)
}

// enter puts an entry that is not there yet where it belongs. Others may do so, too.
func enter(entries []uint64, entry uint64) {
	mask := uint64(len(entries) - 1)
	for i := entry >> 32 & mask; ; i = (i + 1) & mask {
		if atomic.LoadUint64(&entries[i]) == 0 && atomic.CompareAndSwapUint64(&entries[i], 0, entry) {
			return
		}
	}
}
