package explore

import (
	"encoding/binary"
	"sync"
	"testing"
)

// TestTableIsReadWhileItIsWritten looks for states while they are added: what was there before is found, and what is found is
// found with its row.
func TestTableIsReadWhileItIsWritten(t *testing.T) {
	const rounds, states = 40, 3 * chunkBytes / 64 / 40 // so that the arena and the table grow
	a := &arena{}
	v := newVisited(a)
	row := func(n int) []byte { return binary.LittleEndian.AppendUint64(make([]byte, 0, 64), uint64(n)+1)[:48] }
	scatter := func(n int) uint64 { return uint64(n) * 0x9e3779b97f4a7c15 >> 20 }
	for round := range rounds {
		there, all := round*states, (round+1)*states
		var others sync.WaitGroup
		for range 2 {
			others.Go(func() {
				for n := range all + states {
					r, found := v.find(scatter(n), row(n))
					if n < there && !found || n >= all && found || found && int(a.number(r)) != n {
						t.Errorf("of %d states, state %d: found %t", there, n, found)
						return
					}
				}
			})
		}
		for n := there; n < all; n++ {
			r, ok := a.add(row(n), noParent)
			if !ok {
				t.Fatal("the arena is full")
			}
			v.add(scatter(n), r)
		}
		others.Wait()
	}
}
