package explore

import (
	"bytes"
	"sync/atomic"
)

// A crew claims states: whoever first comes to a state writes its row and enters it, so that all others find it. Who that is
// depends on chance, and does not matter, as the state has no number yet. The searching goroutine admits states in the order of
// the steps that lead to them, and so gives them the same numbers as if it were alone.

// claim finds a state, or else enters it without a number. It returns false if there is no room.
func (v *visited) claim(l *lane, whole uint64, row []byte) (ref, bool) {
	entries := *v.table.Load()
	tag, mask := uint32(whole), uint32(len(entries)-1)
	var own uint64
	for i := tag & mask; ; i = (i + 1) & mask {
		entry := atomic.LoadUint64(&entries[i])
		if entry == 0 {
			if own == 0 {
				if l.room <= 0 {
					return 0, false
				}
				r, ok := v.arena.write(l, row)
				if !ok {
					return 0, false
				}
				own = whole<<32 | uint64(r) + 1
			}
			if atomic.CompareAndSwapUint64(&entries[i], 0, own) {
				l.keep(row)
				l.claims++
				l.room--
				return ref(own - 1), true
			}
			entry = atomic.LoadUint64(&entries[i]) // somebody else was faster
		}
		if uint32(entry>>32) == tag {
			if r := ref(entry - 1); bytes.Equal(v.arena.row(r), row) {
				return r, true
			}
		}
	}
}

// allot divides the room for claims among the lanes: a full table could not be searched.
func (v *visited) allot() {
	for _, l := range v.arena.lanes {
		l.room = (len(*v.table.Load())/8*7 - v.count) / len(v.arena.lanes)
	}
}

// tally counts the claims.
func (v *visited) tally() {
	for _, l := range v.arena.lanes {
		v.count += l.claims
		l.claims = 0
	}
}

// disclaim forgets the states that were claimed, but not admitted.
func (v *visited) disclaim() {
	if v.count == v.arena.len() {
		return
	}
	entries := make([]uint64, len(*v.table.Load()))
	for _, entry := range *v.table.Load() {
		if entry != 0 && v.arena.admitted(ref(entry-1)) {
			enter(entries, entry)
		}
	}
	v.table.Store(&entries)
	v.count = v.arena.len()
}
