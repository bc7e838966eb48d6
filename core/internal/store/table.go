package store

import "sync/atomic"

// table leads from hashes to references. It has open addressing with linear probing, and entries of 64 bits, each 32
// bits of a hash and a reference. Where a hash belongs grows with the hash, so the table can get longer by any number
// of pages where it stands: there is never anything of it twice. Several goroutines may enter at once; while it gets
// longer nobody may look at it.
type table struct{ pages []*tablePage }

// tablePage is a part of a table: hash<<32 | reference+1 each; 0 is empty.
type tablePage [tablePageLen]uint64

const (
	tablePageBits  = 13
	tablePageLen   = 1 << tablePageBits
	tablePageBytes = 8 * tablePageLen
)

func newTable() table { return table{pages: []*tablePage{new(tablePage)}} }

func entryOf(hash uint32, r Ref) uint64 { return uint64(hash)<<32 | uint64(r) + 1 }

func (t *table) len() int { return len(t.pages) * tablePageLen }

// most returns how many entries there may be at most: a full table could not be searched. From enough on it is time for
// it to get longer.
func (t *table) most() int   { return t.len() / 8 * 7 }
func (t *table) enough() int { return t.len() / 3 * 2 }

// home returns where a hash belongs.
func (t *table) home(hash uint32) uint { return homeIn(hash, len(t.pages)) }

// homeIn returns where a hash belongs in a table of so many pages.
func homeIn(hash uint32, pages int) uint {
	return uint(uint64(hash) * uint64(pages) >> (32 - tablePageBits))
}

func (t *table) at(i uint) *uint64 { return &t.pages[i/tablePageLen][i%tablePageLen] }

// after returns which place is behind one.
func (t *table) after(i uint) uint {
	if i++; i < uint(t.len()) {
		return i
	}
	return 0
}

// next returns the first entry from a place on that has a hash or is empty, and where it is.
func (t *table) next(hash uint32, i uint) (entry uint64, at uint) {
	for {
		entry := atomic.LoadUint64(t.at(i))
		if entry == 0 || uint32(entry>>32) == hash {
			return entry, i
		}
		i = t.after(i)
	}
}

// enter puts an entry that is not there yet where it belongs. Nobody else may enter meanwhile.
func (t *table) enter(entry uint64) {
	i := t.home(uint32(entry >> 32))
	for *t.at(i) != 0 {
		i = t.after(i)
	}
	atomic.StoreUint64(t.at(i), entry)
}

// occupy puts an entry in an empty place unless somebody else is faster, and returns what is there then.
func (t *table) occupy(i uint, entry uint64) (there uint64) {
	if atomic.CompareAndSwapUint64(t.at(i), 0, entry) {
		return entry
	}
	return atomic.LoadUint64(t.at(i))
}

// replace puts another entry of the same hash in the place of one.
func (t *table) replace(entry, by uint64) {
	hash := uint32(entry >> 32)
	for i := t.home(hash); ; i = t.after(i) {
		var there uint64
		if there, i = t.next(hash, i); there == entry {
			atomic.StoreUint64(t.at(i), by)
			return
		}
	}
}

// growth returns how many bytes it takes to grow.
func (t *table) growth() int64 { return int64(t.longer()+1) * tablePageBytes }

// longer returns by how many pages the table grows.
func (t *table) longer() int { return len(t.pages)/2 + 1 }

// grow makes the table longer.
func (t *table) grow() { t.rebuild(t.longer(), func(entry uint64) uint64 { return entry }) }

// rebuild makes the table longer by some pages and enters what becomes of each entry, 0 if nothing.
func (t *table) rebuild(longer int, becomes func(uint64) uint64) {
	// Entries lie in the order of where they belong, nearly, and so they will: a page is done with by the time when
	// others need the room.
	old := t.pages
	t.pages = make([]*tablePage, len(old)+longer)
	var free []*tablePage
	page := func() *tablePage {
		if len(free) == 0 {
			return new(tablePage)
		}
		p := free[len(free)-1]
		free = free[:len(free)-1]
		clear(p[:])
		return p
	}
	enter := func(entry uint64) {
		if entry == 0 {
			return
		}
		for i := t.home(uint32(entry >> 32)); ; i = t.after(i) {
			p := t.pages[i/tablePageLen]
			if p == nil {
				p = page()
				t.pages[i/tablePageLen] = p
			}
			if there := &p[i%tablePageLen]; *there == 0 {
				*there = entry
				return
			}
		}
	}
	for _, p := range old {
		for _, entry := range p {
			if entry != 0 {
				enter(becomes(entry))
			}
		}
		free = append(free, p)
	}
	for i := range t.pages {
		if t.pages[i] == nil {
			t.pages[i] = page()
		}
	}
}
