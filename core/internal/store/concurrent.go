package store

import (
	"slices"
	"sync/atomic"

	"github.com/orrery-dev/orrery/core"
)

// claim is a state that was inserted without a number.
type claim struct {
	root uint64
	hash uint32
	// number is that of the state counted from 1, 0 as long as it has none.
	number uint32
	// at is where it was entered in the table.
	at uint32
}

const (
	// firstClaim is the reference of the first claim; those below are numbers.
	firstClaim   = 1 << 31
	claimPageLen = 1 << 10
)

type claimPage [claimPageLen]claim

// Buffer is where one goroutine writes claims, in pages of its own.
type Buffer struct {
	folder
	// page is the page at hand, and first the reference of its first claim.
	page  *claimPage
	first Ref
	// pages are the numbers of the pages that somebody may look at, in their order; dropped were that many before.
	pages   []uint32
	dropped int
	// used is how many claims there are all in all. Of these, marked have numbers, mark will have next, settled are in
	// the table by their numbers, and unseen were that when the workers were at rest before.
	used, marked, mark, settled, unseen int
	// moved are the claims that were entered before the table got longer.
	moved int
	// entered is how many states were entered that are not counted yet, and room how many more may be.
	entered, room int
	// _ keeps buffers from sharing a line of a cache.
	_ [128]byte
}

// Buffer opens a buffer for states that get their numbers later.
func (f *Full) Buffer() *Buffer {
	b := &Buffer{}
	f.buffers = append(f.buffers, b)
	return b
}

// FindOrInsert finds a state that was prefetched, or else inserts it without a number. It returns false if there is no
// room. Several goroutines may call it, each with a buffer of its own.
func (f *Full) FindOrInsert(b *Buffer, l *Lookup, encoded []byte) (Ref, bool) {
	tag := uint32(l.Hash)
	var own uint64
	for i := l.at; ; i = f.table.after(i) {
		var entry uint64
		if entry, i = f.table.next(tag, i); entry == 0 {
			if own == 0 {
				r, ok := f.write(b, tag, encoded)
				if !ok {
					return 0, false
				}
				own = entryOf(tag, r)
			}
			if entry = f.table.occupy(i, own); entry == own {
				b.page[b.used%claimPageLen].at = uint32(i)
				b.used++
				b.entered++
				b.room--
				return Ref(own - 1), true
			}
		}
		if r := Ref(entry - 1); f.trees.is(f.root(r), encoded) {
			return r, true
		}
	}
}

// write writes a claim, over the last one unless that was entered. It returns false if there is no room.
func (f *Full) write(b *Buffer, hash uint32, encoded []byte) (Ref, bool) {
	if b.room <= 0 || !storable(encoded) {
		return 0, false
	}
	root, ok := f.trees.fold(&b.folder, encoded)
	if !ok || b.used == (b.dropped+len(b.pages))*claimPageLen && !f.extend(b) {
		return 0, false
	}
	at := b.used % claimPageLen
	b.page[at] = claim{root: root, hash: hash}
	return b.first + Ref(at), true
}

// extend goes on with another page. It returns false if there are too many.
func (f *Full) extend(b *Buffer) bool {
	f.growing.Lock()
	defer f.growing.Unlock()
	pages := *f.claims.Load()
	if len(pages) >= firstClaim/claimPageLen-1 {
		return false
	}
	if last := len(f.spare) - 1; last >= 0 {
		b.page = f.spare[last]
		f.spare = f.spare[:last]
	} else {
		b.page = new(claimPage)
	}
	b.first = firstClaim + Ref(len(pages)*claimPageLen)
	b.pages = append(b.pages, uint32(len(pages)))
	pages = append(pages, b.page)
	f.claims.Store(&pages)
	return true
}

// claim returns a claim.
func (f *Full) claim(r Ref) *claim {
	r -= firstClaim
	return &(*f.claims.Load())[r/claimPageLen][r%claimPageLen]
}

// at returns one of the claims of a buffer, and its reference.
func (f *Full) at(b *Buffer, i int) (*claim, Ref) {
	r := firstClaim + Ref(b.pages[i/claimPageLen-b.dropped])*claimPageLen + Ref(i%claimPageLen)
	return f.claim(r), r
}

// Reserve divides the room of the table among the buffers: a full table could not be searched.
func (f *Full) Reserve() {
	f.trees.reserved()
	for _, b := range f.buffers {
		b.room = (f.table.most() - f.count) / len(f.buffers)
	}
}

// Count counts what was entered from the buffers.
func (f *Full) Count() {
	for _, b := range f.buffers {
		f.count += b.entered
		b.entered = 0
	}
}

// Assign gives a state the next number, and its parent. It returns false if there are too many states.
func (f *Full) Assign(r Ref, parent core.StateID) bool {
	if f.Len() >= firstClaim {
		return false
	}
	c := f.claim(r)
	f.add(c.root, parent)
	c.number = uint32(f.Len())
	return true
}

// Assigned reports whether a state has a number.
func (f *Full) Assigned(r Ref) bool { return r < firstClaim || f.claim(r).number != 0 }

// Publish tells the buffers which claims have their numbers: all, or all that were there when it was called before.
// Nobody may read meanwhile. Whoever has a reference to a claim that was settled before it was called last must not use
// it any more.
func (f *Full) Publish(all bool) {
	for _, b := range f.buffers {
		b.marked = b.mark
		if all {
			b.marked = b.used
		}
		b.mark = b.used
		for ; b.unseen/claimPageLen > b.dropped; b.dropped++ {
			pages := *f.claims.Load()
			f.spare = append(f.spare, pages[b.pages[0]])
			pages[b.pages[0]] = nil
			b.pages = slices.Delete(b.pages, 0, 1)
		}
		b.unseen = b.settled
	}
}

// Settle enters the states that are published by their numbers in place of their claims. The goroutine that a buffer
// belongs to calls it.
func (f *Full) Settle(b *Buffer) {
	for ; b.settled < b.marked; b.settled++ {
		c, r := f.at(b, b.settled)
		if c.number == 0 {
			return
		}
		entry := entryOf(c.hash, Ref(c.number-1))
		if b.settled < b.moved {
			f.table.replace(entryOf(c.hash, r), entry)
		} else {
			atomic.StoreUint64(f.table.at(uint(c.at)), entry)
		}
	}
}

// Published reports whether it is known that a state has its number.
func (f *Full) Published(r Ref) bool { return r < firstClaim }

// DropUnassigned forgets the states that were entered and have no number, and all claims. Nobody may insert without
// numbers any more.
func (f *Full) DropUnassigned() {
	f.table.rebuild(0, func(entry uint64) uint64 {
		r := Ref(entry - 1)
		if !f.Assigned(r) {
			return 0
		}
		return entryOf(uint32(entry>>32), Ref(f.ID(r)))
	})
	f.count = f.Len()
	f.buffers, f.spare = nil, nil
	f.claims.Store(&[]*claimPage{})
}
