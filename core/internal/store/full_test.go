package store

import (
	"encoding/binary"
	"sync"
	"testing"
)

// TestTableIsReadWhileItIsWritten looks for states while others are added: what was there before is found, and what is
// found is found with its encoding.
func TestTableIsReadWhileItIsWritten(t *testing.T) {
	const rounds, states = 40, 600 // so that the table and the lists of words grow
	f := NewFull()
	b := f.Buffer()
	row := func(n int) []byte {
		return append(make([]byte, 40), binary.BigEndian.AppendUint64(nil, uint64(n)<<8+1)...)
	}
	scatter := func(n int) uint64 { return uint64(n) * 0x9e3779b97f4a7c15 >> 20 }
	for round := range rounds {
		there, all := round*states, (round+1)*states
		makeRoom(f, states, 3)
		var others sync.WaitGroup
		for range 2 {
			others.Go(func() {
				for n := range all + states {
					r, found := f.Find(scatter(n), row(n))
					if n < there && !found || n >= all && found || n < there && int(f.ID(r)) != n {
						t.Errorf("of %d states, state %d: found %t", there, n, found)
						return
					}
				}
			})
		}
		var refs []Ref
		for n := there; n < all; n++ {
			r, ok := findOrInsert(f, b, scatter(n), row(n))
			if !ok {
				t.Error("there is no room")
				break
			}
			f.Assign(r, NoParent)
			refs = append(refs, r)
		}
		others.Wait()
		f.Count()
		f.Publish(true)
		f.Settle(b)
		for i, r := range refs {
			if int(f.ID(r)) != there+i {
				t.Fatalf("state %d has the number %d", there+i, f.ID(r))
			}
		}
	}
}

// TestAnEncodingThatEndsInAZero is refused: it would be taken for the one without the zero.
func TestAnEncodingThatEndsInAZero(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was stored")
		}
	}()
	NewFull().Insert(1, []byte{1, 0}, NoParent)
}
