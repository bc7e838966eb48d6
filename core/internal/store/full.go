package store

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/orrery-dev/orrery/core"
)

const (
	// A reference is the position of a record, in units of recordAlign bytes.
	recordAlign = 4
	chunkBytes  = 1 << 20
	// headerBytes is the size of a record before its encoding: the number of the parent, the
	// number of the state counted from 1 and 0 as long as it has none, the length of the encoding.
	headerBytes = 10

	smallestTable = 1 << 10
	entryBytes    = 8
)

// Full is a [Store] that keeps every encoding. States are never dropped.
//
// Chunks are not moved when the store grows, so encodings stay where they are, and can be read while others are added. Each goroutine
// that writes records does so in a [Buffer] of its own; only one of them assigns numbers.
//
// The table has open addressing and entries of 64 bits, each 32 bits of a hash and a reference. Whoever sees an entry sees
// the record of its state. While the table grows nobody may insert, and who looks may miss what is entered meanwhile.
type Full struct {
	growing sync.Mutex
	chunks  []chunk
	// visible are the chunks for those who read.
	visible atomic.Pointer[[]chunk]
	// own is the buffer of the goroutine that assigns numbers, and buffers are those of others.
	own     Buffer
	buffers []*Buffer
	refs    Pages[Ref]

	table atomic.Pointer[[]uint64] // hash<<32 | reference+1; 0 is empty
	count int
}

var _ Store = (*Full)(nil)

// chunk is memory for records, all of one buffer.
type chunk struct {
	records *[chunkBytes]byte
	// published is up to where the records have their numbers, as far as everybody knows.
	published int
}

// NewFull returns an empty store.
func NewFull() *Full {
	f := &Full{}
	entries := make([]uint64, smallestTable)
	f.table.Store(&entries)
	return f
}

// Len implements [Store]. States without a number do not count.
func (f *Full) Len() int { return f.refs.Len() }

// Find implements [Store].
func (f *Full) Find(hash uint64, encoded []byte) (Ref, bool) {
	entries := *f.table.Load()
	tag, mask := uint32(hash), uint32(len(entries)-1)
	for i := tag & mask; ; i = (i + 1) & mask {
		entry := atomic.LoadUint64(&entries[i])
		if entry == 0 {
			return 0, false
		}
		if uint32(entry>>32) == tag {
			if r := Ref(entry - 1); bytes.Equal(f.Encoded(r), encoded) {
				return r, true
			}
		}
	}
}

// Prefetch implements [Store].
func (f *Full) Prefetch(lookups []Lookup) {
	entries := *f.table.Load()
	mask := uint32(len(entries) - 1)
	for i := range lookups {
		l := &lookups[i]
		l.touched = atomic.LoadUint64(&entries[uint32(l.Hash)&mask]) == 0
	}
	for i := range lookups {
		if l := &lookups[i]; !l.touched {
			l.touched = f.touch(entries, uint32(l.Hash))
		}
	}
}

// touch reads of the record that a hash leads to what nobody changes.
func (f *Full) touch(entries []uint64, tag uint32) bool {
	mask := uint32(len(entries) - 1)
	for i := tag & mask; ; i = (i + 1) & mask {
		entry := atomic.LoadUint64(&entries[i])
		if entry == 0 {
			return true
		}
		if uint32(entry>>32) == tag {
			return f.record(Ref(entry - 1))[headerBytes] == 0
		}
	}
}

// Insert implements [Store].
func (f *Full) Insert(hash uint64, encoded []byte, parent core.StateID) (Ref, bool) {
	r, ok := f.write(&f.own, encoded)
	if !ok {
		return 0, false
	}
	f.own.keep(encoded)
	f.Assign(r, parent)
	if f.Growth() > 0 {
		f.GrowTable(alone)
	}
	enter(*f.table.Load(), hash<<32|uint64(r)+1)
	f.count++
	return r, true
}

// Growth implements [Store].
func (f *Full) Growth() int64 { return f.GrowthFor(0) }

// GrowthFor returns how many bytes the table needs for so many states and one more, or for some of them.
func (f *Full) GrowthFor(states int) int64 {
	entries := *f.table.Load()
	if f.count+states < len(entries)/4*3 {
		return 0
	}
	return 2 * entryBytes * int64(len(entries))
}

// Expanded implements [Store]: everything is kept.
func (f *Full) Expanded(core.StateID) {}

// At implements [Store].
func (f *Full) At(id core.StateID) Ref { return f.refs.At(int(id)) }

// ID implements [Store]. The state has a number.
func (f *Full) ID(r Ref) core.StateID {
	return core.StateID(binary.LittleEndian.Uint32(f.record(r)[4:]) - 1)
}

// Encoded implements [Store].
func (f *Full) Encoded(r Ref) []byte {
	record := f.record(r)
	return record[headerBytes : headerBytes+int(binary.LittleEndian.Uint16(record[8:]))]
}

// Parent implements [Store].
func (f *Full) Parent(r Ref) core.StateID {
	return core.StateID(binary.LittleEndian.Uint32(f.record(r)))
}

// SetParent implements [Store].
func (f *Full) SetParent(r Ref, parent core.StateID) {
	binary.LittleEndian.PutUint32(f.record(r), uint32(parent))
}

func (f *Full) record(r Ref) []byte {
	at := int(r) * recordAlign
	return (*f.visible.Load())[at/chunkBytes].records[at%chunkBytes:]
}

// grow adds a chunk, which is published up to there, and returns its memory and its number, nil if the store is full.
func (f *Full) grow(published int) (records *[chunkBytes]byte, number int) {
	f.growing.Lock()
	defer f.growing.Unlock()
	number = len(f.chunks)
	if number >= (1<<32)/(chunkBytes/recordAlign)-1 {
		return nil, 0
	}
	records = new([chunkBytes]byte)
	f.chunks = append(f.chunks, chunk{records: records, published: published})
	chunks := f.chunks
	f.visible.Store(&chunks)
	return records, number
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
