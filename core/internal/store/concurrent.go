package store

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"github.com/orrery-dev/orrery/core"
)

// Buffer is where one goroutine writes records, in chunks of its own.
type Buffer struct {
	// records is the memory of the chunk at hand, number that of the chunk, and used how many bytes of it are.
	records      *[chunkBytes]byte
	number, used int
	// open are the chunks with records that are not published, in their order, and mark is how much of the last of marked
	// chunks will be next.
	open         []int
	marked, mark int
	// entered is how many states were entered that are not counted yet, and room how many more may be.
	entered, room int
	// _ keeps buffers from sharing a line of a cache.
	_ [128]byte
}

// Buffer opens a buffer for records that get their numbers later.
func (f *Full) Buffer() *Buffer {
	b := &Buffer{}
	f.buffers = append(f.buffers, b)
	return b
}

// FindOrInsert finds a state, or else inserts it without a number. It returns false if there is no room. Several goroutines may
// call it, each with a buffer of its own.
func (f *Full) FindOrInsert(b *Buffer, hash uint64, encoded []byte) (Ref, bool) {
	entries := *f.table.Load()
	tag, mask := uint32(hash), uint32(len(entries)-1)
	var own uint64
	for i := tag & mask; ; i = (i + 1) & mask {
		entry := atomic.LoadUint64(&entries[i])
		if entry == 0 {
			if own == 0 {
				if b.room <= 0 {
					return 0, false
				}
				r, ok := f.write(b, encoded)
				if !ok {
					return 0, false
				}
				own = hash<<32 | uint64(r) + 1
			}
			if atomic.CompareAndSwapUint64(&entries[i], 0, own) {
				b.keep(encoded)
				b.entered++
				b.room--
				return Ref(own - 1), true
			}
			entry = atomic.LoadUint64(&entries[i]) // somebody else was faster
		}
		if uint32(entry>>32) == tag {
			if r := Ref(entry - 1); bytes.Equal(f.Encoded(r), encoded) {
				return r, true
			}
		}
	}
}

// Reserve divides the room of the table among the buffers: a full table could not be searched.
func (f *Full) Reserve() {
	for _, b := range f.buffers {
		b.room = (len(*f.table.Load())/8*7 - f.count) / len(f.buffers)
	}
}

// Count counts what was entered from the buffers.
func (f *Full) Count() {
	for _, b := range f.buffers {
		f.count += b.entered
		b.entered = 0
	}
}

// Assign gives a state the next number, and its parent.
func (f *Full) Assign(r Ref, parent core.StateID) {
	record := f.record(r)
	binary.LittleEndian.PutUint32(record, uint32(parent))
	f.refs.Add(r)
	binary.LittleEndian.PutUint32(record[4:], uint32(f.Len()))
}

// Assigned reports whether a state has a number.
func (f *Full) Assigned(r Ref) bool { return binary.LittleEndian.Uint32(f.record(r)[4:]) != 0 }

// Publish tells all who read which states have their numbers: all, or all that were there when it was called before. Nobody may read
// meanwhile.
func (f *Full) Publish(all bool) {
	for _, b := range f.buffers {
		if all {
			b.marked, b.mark = len(b.open), b.used
		}
		if last := b.marked - 1; last >= 0 {
			for _, number := range b.open[:last] {
				f.chunks[number].published = chunkBytes
			}
			f.chunks[b.open[last]].published = b.mark
			b.open = append(b.open[:0], b.open[last:]...)
		}
		b.marked, b.mark = len(b.open), b.used
	}
}

// Published reports whether it is known that a state has its number.
func (f *Full) Published(r Ref) bool {
	at := int(r) * recordAlign
	return at%chunkBytes < (*f.visible.Load())[at/chunkBytes].published
}

// DropUnassigned forgets the states that were entered and have no number.
func (f *Full) DropUnassigned() {
	if f.count == f.Len() {
		return
	}
	entries := make([]uint64, len(*f.table.Load()))
	for _, entry := range *f.table.Load() {
		if entry != 0 && f.Assigned(Ref(entry-1)) {
			enter(entries, entry)
		}
	}
	f.table.Store(&entries)
	f.count = f.Len()
}

// Division has work done in parts, and returns when all are done.
type Division func(work func(part, of int))

// alone is the division among one.
func alone(work func(part, of int)) { work(0, 1) }

// GrowTable doubles the table, by a division of the work. Nobody may insert meanwhile.
func (f *Full) GrowTable(divide Division) {
	old := *f.table.Load()
	entries := make([]uint64, 2*len(old))
	// Memory that is read before it is written is mapped twice by some systems: first to a page of zeros that all share.
	divide(func(part, of int) {
		const page = 4096 / entryBytes
		for i := len(entries) * part / of; i < len(entries)*(part+1)/of; i += page {
			entries[i] = 0
		}
	})
	divide(func(part, of int) {
		for _, entry := range old[len(old)*part/of : len(old)*(part+1)/of] {
			if entry != 0 {
				enter(entries, entry)
			}
		}
	})
	f.table.Store(&entries)
}

// write writes a record without a number, over the last one unless that is kept. It returns false if the store is full or
// the encoding too long.
func (f *Full) write(b *Buffer, encoded []byte) (Ref, bool) {
	if len(encoded) > maxEncoded || (b.records == nil || b.used+recordBytes(encoded) > chunkBytes) && !f.extend(b) {
		return 0, false
	}
	record := b.records[b.used:]
	binary.LittleEndian.PutUint32(record[4:], 0) // a longer encoding may have been here
	binary.LittleEndian.PutUint16(record[8:], uint16(len(encoded)))
	copy(record[headerBytes:], encoded)
	return Ref((b.number*chunkBytes + b.used) / recordAlign), true
}

// extend goes on with another chunk. It returns false if the store is full.
func (f *Full) extend(b *Buffer) bool {
	published := 0
	if b == &f.own {
		published = chunkBytes // its records get their numbers before anybody sees them
	}
	records, number := f.grow(published)
	if records == nil {
		return false
	}
	b.records, b.number, b.used = records, number, 0
	if b != &f.own {
		b.open = append(b.open, number)
	}
	return true
}

// keep keeps the record that was written last.
func (b *Buffer) keep(encoded []byte) { b.used += recordBytes(encoded) }

// recordBytes returns the size of a record.
func recordBytes(encoded []byte) int {
	return (headerBytes + len(encoded) + recordAlign - 1) / recordAlign * recordAlign
}
