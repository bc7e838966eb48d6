package store

import "github.com/orrery-dev/orrery/core"

// Ref refers to a stored state: by its number, or in a way that is known to its store alone.
type Ref uint32

// NoParent is the parent of an initial state.
const NoParent = core.StateID(1<<32 - 1)

// maxEncoded is the length of the longest encoding that can be stored.
const maxEncoded = 1<<16 - 1

// Store is a set of states, numbered from 0 in the order in which they came.
type Store interface {
	// Len returns the number of stored states.
	Len() int
	// Find returns where a state is stored, and false if it is not. The hash is one of the encoding, which does not end
	// in a zero.
	Find(hash uint64, encoded []byte) (Ref, bool)
	// Prefetch brings what finding states looks at near to the processor. To find one after the other would be to wait
	// for memory each time; what is asked for at once comes at once.
	Prefetch([]Lookup)
	// Insert stores a state that is not there yet. It returns false if there are too many states, or the encoding is
	// too long.
	Insert(hash uint64, encoded []byte, parent core.StateID) (Ref, bool)
	// Growth returns how many bytes the next Insert allocates at once, besides those for the state itself.
	Growth() int64
	// At returns where the state of a number is stored.
	At(core.StateID) Ref
	// ID returns the number of a stored state.
	ID(Ref) core.StateID
	// Encoded returns the encoding of a state, which must not be changed; nil if it is not kept any more. It may be
	// written into the buffer, or into another one if that is too short, and is good until the buffer is used again.
	Encoded(r Ref, buffer []byte) []byte
	// Parent returns the state from which a state was first reached, NoParent for initial ones.
	Parent(Ref) core.StateID
	// SetParent gives a state another parent, which is nearer to the start.
	SetParent(Ref, core.StateID)
	// Expanded tells that all states below a number were expanded.
	Expanded(core.StateID)
}

// Lookup is a state to find: its hash, and its encoding as a part of a buffer of its owner's. Once it is known, Ref is
// where it is stored.
type Lookup struct {
	Hash       uint64
	Begin, End int32
	Ref        Ref
	Found      bool
	// touched tells nothing: it is where Prefetch puts what it reads.
	touched bool
	// at is where to look on in the table.
	at uint
}

// Pages is a list that grows without moving what it holds.
type Pages[T any] struct {
	pages []*[pageLen]T
	len   int
}

const pageLen = 1 << 14

// Len returns how many values there are.
func (p *Pages[T]) Len() int { return p.len }

// Add adds a value.
func (p *Pages[T]) Add(value T) {
	if p.len%pageLen == 0 {
		p.pages = append(p.pages, new([pageLen]T))
	}
	p.pages[p.len/pageLen][p.len%pageLen] = value
	p.len++
}

// At returns the value at a place.
func (p *Pages[T]) At(i int) T { return p.pages[i/pageLen][i%pageLen] }

// Put changes the value at a place.
func (p *Pages[T]) Put(i int, value T) { p.pages[i/pageLen][i%pageLen] = value }
