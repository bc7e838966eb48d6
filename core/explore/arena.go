package explore

import (
	"encoding/binary"
	"sync"
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
	// number of the state counted from 1 and 0 as long as it has none, the length of the row.
	headerBytes = 10
	// maxRow is the longest row that can be stored.
	maxRow = 1<<16 - 1
)

// noParent is the parent of an initial state.
const noParent = core.StateID(1<<32 - 1)

// arena stores states in records: each with its packed row, its number, and the state it was first reached from.
// States are never dropped.
//
// Chunks are not moved when the arena grows, so rows stay where they are, and can be read while others are added. Each goroutine
// that writes records does so on a lane of its own; only one of them gives them their numbers.
type arena struct {
	growing sync.Mutex
	chunks  []chunk
	// shown are the chunks for those who read.
	shown atomic.Pointer[[]chunk]
	// own is the lane of the searching goroutine, and lanes are those of others.
	own   lane
	lanes []*lane
	refs  pages[ref]
}

// chunk is memory for records, all of one lane.
type chunk struct {
	records *[chunkBytes]byte
	// settled is up to where the records have their numbers, as far as everybody knows.
	settled int
}

// len returns the number of stored states.
func (a *arena) len() int { return a.refs.len }

// add stores a state and returns where. It returns false if the arena is full or the row too long.
func (a *arena) add(row []byte, parent core.StateID) (ref, bool) {
	r, ok := a.write(&a.own, row)
	if ok {
		a.own.keep(row)
		a.admit(r, parent)
	}
	return r, ok
}

// admit gives a record its number, which is the next.
func (a *arena) admit(r ref, parent core.StateID) {
	record := a.record(r)
	binary.LittleEndian.PutUint32(record, uint32(parent))
	a.refs.add(r)
	binary.LittleEndian.PutUint32(record[4:], uint32(a.len()))
}

// admitted tells whether a record has a number.
func (a *arena) admitted(r ref) bool { return binary.LittleEndian.Uint32(a.record(r)[4:]) != 0 }

// grow adds a chunk, which is settled up to there, and returns its memory and its number, nil if the arena is full.
func (a *arena) grow(settled int) (records *[chunkBytes]byte, number int) {
	a.growing.Lock()
	defer a.growing.Unlock()
	number = len(a.chunks)
	if number >= (1<<32)/(chunkBytes/recordAlign)-1 {
		return nil, 0
	}
	records = new([chunkBytes]byte)
	a.chunks = append(a.chunks, chunk{records: records, settled: settled})
	chunks := a.chunks
	a.shown.Store(&chunks)
	return records, number
}

// expanded implements [shelf]: everything is kept.
func (a *arena) expanded(core.StateID) {}

func (a *arena) record(r ref) []byte {
	at := int(r) * recordAlign
	return (*a.shown.Load())[at/chunkBytes].records[at%chunkBytes:]
}

// row returns the packed row of a state. It must not be changed.
func (a *arena) row(r ref) []byte {
	record := a.record(r)
	return record[headerBytes : headerBytes+int(binary.LittleEndian.Uint16(record[8:]))]
}

// number returns the number of a state that was admitted.
func (a *arena) number(r ref) core.StateID {
	return core.StateID(binary.LittleEndian.Uint32(a.record(r)[4:]) - 1)
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
