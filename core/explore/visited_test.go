package explore

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// TestPartsOfTheTable enters states part by part, as workers do, and all that did not fit at the end. All of them, and no others,
// must be found then.
func TestPartsOfTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &arena{}
		v := newVisited(a)
		row := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n+1) }
		// Tags near the end of each part make for states that do not fit into it.
		tag := rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.SampledFrom([]uint64{0, 510, 1020}).Draw(t, "near") + rapid.Uint64Range(0, 5).Draw(t, "tag") + rapid.Uint64Range(0, 1).Draw(t, "high")<<31
		})
		known := map[uint64]uint64{} // by the number of the state
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			portions := make([]portion, 2)
			for i := range portions {
				p := &portions[i]
				for _, tag := range rapid.SliceOfN(tag, 0, 20).Draw(t, "tags") {
					r, _ := a.add(row(uint64(len(known))), noParent)
					known[uint64(len(known))] = tag
					v.reserve()
					p.arrivals = append(p.arrivals, arrival{tag: tag, known: r, pending: true})
				}
			}
			size, parts := len(v.entries), rapid.IntRange(1, 4).Draw(t, "parts")
			for i := range parts {
				v.enterAll(portions, size*i/parts, size*(i+1)/parts)
			}
			v.enterAll(portions, 0, size)
			for n, tag := range known {
				if r, found := v.find(tag, row(n)); !found || uint64(a.number(r)) != n {
					t.Fatalf("state %d, tag %x: found %t, as %d", n, tag, found, r)
				}
			}
			if _, found := v.find(known[0], row(uint64(len(known)))); found {
				t.Fatal("a state is found that was not entered")
			}
		}
		entries := 0
		for _, entry := range v.entries {
			if entry != 0 {
				entries++
			}
		}
		if entries != len(known) || v.count != len(known) {
			t.Fatalf("there are %d entries for %d states, and %d are counted", entries, len(known), v.count)
		}
	})
}
