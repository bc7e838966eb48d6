package store

import (
	"encoding/binary"
	"sync"
	"testing"
)

// TestTableIsReadWhileItIsWritten looks for states while they are added: what was there before is found, and what is found is
// found with its encoding.
func TestTableIsReadWhileItIsWritten(t *testing.T) {
	const rounds, states = 40, 3 * chunkBytes / 64 / 40 // so that the chunks and the table grow
	f := NewFull()
	row := func(n int) []byte { return binary.LittleEndian.AppendUint64(make([]byte, 0, 64), uint64(n)+1)[:48] }
	scatter := func(n int) uint64 { return uint64(n) * 0x9e3779b97f4a7c15 >> 20 }
	for round := range rounds {
		there, all := round*states, (round+1)*states
		var others sync.WaitGroup
		for range 2 {
			others.Go(func() {
				for n := range all + states {
					r, found := f.Find(scatter(n), row(n))
					if n < there && !found || n >= all && found || found && int(f.ID(r)) != n {
						t.Errorf("of %d states, state %d: found %t", there, n, found)
						return
					}
				}
			})
		}
		for n := there; n < all; n++ {
			if _, ok := f.Insert(scatter(n), row(n), NoParent); !ok {
				t.Fatal("the store is full")
			}
		}
		others.Wait()
	}
}
