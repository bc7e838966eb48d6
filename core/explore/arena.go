package explore

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/orrery-dev/orrery/core"
)

// ref is where a state is stored: its position in the arena, in units of
// recordAlign bytes.
type ref uint32

const (
	recordAlign = 4
	chunkBytes  = 1 << 20
	// headerBytes is the size of a record before its row: the number of the parent, the
	// number of the state, the length of the row.
	headerBytes = 10
	// maxRow is the longest row that can be stored.
	maxRow = 1<<16 - 1
)

// noParent is the parent of an initial state.
const noParent = core.StateID(1<<32 - 1)

// arena stores states one behind the other: each with its packed row, its number,
// and the state it was first reached from. States are never
// dropped.
//
// Chunks are not moved when the arena grows, so rows stay where they are, and can be read while others are added.
type arena struct {
	chunks []*chunk
	// shown are the chunks for those who read.
	shown atomic.Pointer[[]*chunk]
	used  int // bytes of the last chunk
	refs  pages[ref]
}

type chunk [chunkBytes]byte

// len returns the number of stored states.
func (a *arena) len() int { return a.refs.len }

// add stores a state and returns where. It returns false if the arena is full or the row too long.
func (a *arena) add(row []byte, parent core.StateID) (ref, bool) {
	size := (headerBytes + len(row) + recordAlign - 1) / recordAlign * recordAlign
	if len(row) > maxRow {
		return 0, false
	}
	if len(a.chunks) == 0 || a.used+size > chunkBytes {
		if len(a.chunks) >= (1<<32)/(chunkBytes/recordAlign)-1 {
			return 0, false
		}
		a.grow()
	}
	at := ref(((len(a.chunks)-1)*chunkBytes + a.used) / recordAlign)
	record := a.chunks[len(a.chunks)-1][a.used:]
	binary.LittleEndian.PutUint32(record, uint32(parent))
	binary.LittleEndian.PutUint32(record[4:], uint32(a.len()))
	binary.LittleEndian.PutUint16(record[8:], uint16(len(row)))
	copy(record[headerBytes:], row)
	a.used += size
	a.refs.add(at)
	return at, true
}

// grow adds a chunk to fill.
func (a *arena) grow() {
	a.chunks = append(a.chunks, new(chunk))
	a.used = 0
	chunks := a.chunks
	a.shown.Store(&chunks)
}

// expanded implements [shelf]: everything is kept.
func (a *arena) expanded(core.StateID) {}

func (a *arena) record(r ref) []byte {
	at := int(r) * recordAlign
	return (*a.shown.Load())[at/chunkBytes][at%chunkBytes:]
}

// row returns the packed row of a state. It must not be changed.
func (a *arena) row(r ref) []byte {
	record := a.record(r)
	return record[headerBytes : headerBytes+int(binary.LittleEndian.Uint16(record[8:]))]
}

// number returns the number of a state.
func (a *arena) number(r ref) core.StateID {
	return core.StateID(binary.LittleEndian.Uint32(a.record(r)[4:]))
}

// parent returns the state from which a state was first reached.
func (a *arena) parent(r ref) core.StateID {
	return core.StateID(binary.LittleEndian.Uint32(a.record(r)))
}

// adopt gives a state another parent, which is nearer to the start.
func (a *arena) adopt(r ref, parent core.StateID) {
	binary.LittleEndian.PutUint32(a.record(r), uint32(parent))
}

// at returns where the state of a number is stored.
func (a *arena) at(id core.StateID) ref { return a.refs.at(int(id)) }

// pages is a list that grows without moving what it holds.
type pages[T any] struct {
	pages []*[pageLen]T
	len   int
}

const pageLen = 1 << 14

func (p *pages[T]) add(value T) {
	if p.len%pageLen == 0 {
		p.pages = append(p.pages, new([pageLen]T))
	}
	p.pages[p.len/pageLen][p.len%pageLen] = value
	p.len++
}

func (p *pages[T]) at(i int) T { return p.pages[i/pageLen][i%pageLen] }

func (p *pages[T]) put(i int, value T) { p.pages[i/pageLen][i%pageLen] = value }
