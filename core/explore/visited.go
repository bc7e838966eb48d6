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

const (
	smallestTable = 1 << 10
	entryBytes    = 8
)

func newVisited(a *arena) *visited {
	return &visited{arena: a, entries: make([]uint64, smallestTable)}
}

// find returns where a state is stored, and false if it is not.
func (v *visited) find(whole uint64, row []byte) (ref, bool) {
	tag, mask := uint32(whole), uint32(len(v.entries)-1)
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

// growth returns how many bytes the table needs for more states, beyond those it has.
func (v *visited) growth(states int) int64 {
	if v.count+states <= len(v.entries)/4*3 {
		return 0
	}
	return 2 * entryBytes * int64(len(v.entries))
}

// fetch brings what finding arrivals looks at near to the processor. To find one after the other would be to wait for memory
// each time; what is asked for at once comes at once.
func (v *visited) fetch(arrivals []arrival) {
	mask := uint32(len(v.entries) - 1)
	for i := range arrivals {
		a := &arrivals[i]
		a.near = v.entries[uint32(a.tag)&mask] == 0
	}
	for i := range arrivals {
		if a := &arrivals[i]; !a.near {
			a.near = v.touch(uint32(a.tag))
		}
	}
}

// touch reads the beginning of the record that the tag leads to.
func (v *visited) touch(tag uint32) bool {
	mask := uint32(len(v.entries) - 1)
	for i := tag & mask; ; i = (i + 1) & mask {
		entry := v.entries[i]
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
	v.reserve()
	v.enter(entryOf(tag, r), 0, len(v.entries))
}

// reserve makes room for one more state, which has to be entered.
func (v *visited) reserve() {
	if v.growth(1) > 0 {
		v.double(1, func(_ int, work func(int)) { work(0) })
	}
	v.count++
}

// double makes the table twice as large. together has its parts filled at once.
func (v *visited) double(parts int, together func(parts int, work func(part int))) {
	old := v.entries
	v.entries = make([]uint64, 2*len(old))
	misfits := make([][]uint64, parts)
	together(parts, func(part int) {
		misfits[part] = v.refill(old, len(old)*part/parts, len(old)*(part+1)/parts)
	})
	for _, entries := range misfits {
		for _, entry := range entries {
			v.enter(entry, 0, len(v.entries))
		}
	}
}

// refill enters what a part of the table held when it was half as large. What was in place there has its place in the
// same part of one of the halves. It returns the entries that were not, or do not fit there.
func (v *visited) refill(old []uint64, begin, end int) []uint64 {
	var misfits []uint64
	for _, entry := range old[begin:end] {
		if entry == 0 {
			continue
		}
		half := v.place(entry>>32) / len(old) * len(old)
		if at := v.place(entry>>32) - half; at < begin || at >= end || !v.enter(entry, half+begin, half+end) {
			misfits = append(misfits, entry)
		}
	}
	return misfits
}

func entryOf(tag uint64, r ref) uint64 { return tag<<32 | uint64(r) + 1 }

// enter puts an entry into the part of the table in which its place is, from begin to before end. It returns false if the
// part is full from there to its end. Only if the part is the whole table does it go on at the beginning.
func (v *visited) enter(entry uint64, begin, end int) bool {
	for i := v.place(entry >> 32); ; i++ {
		if i == end {
			if end-begin < len(v.entries) {
				return false
			}
			i = 0
		}
		if v.entries[i] == 0 {
			v.entries[i] = entry
			return true
		}
	}
}

// place returns where the entry of a tag is if nothing else is there.
func (v *visited) place(tag uint64) int { return int(tag & uint64(len(v.entries)-1)) }

// enterAll enters those of the pending arrivals whose place is in a part of the table.
func (v *visited) enterAll(portions []portion, begin, end int) {
	for i := range portions {
		arrivals := portions[i].arrivals
		for j := range arrivals {
			a := &arrivals[j]
			// Whether it is pending is for him alone to look at whose part its place is in.
			if place := v.place(a.tag); begin <= place && place < end && a.pending {
				a.pending = !v.enter(entryOf(a.tag, a.known), begin, end)
			}
		}
	}
}
