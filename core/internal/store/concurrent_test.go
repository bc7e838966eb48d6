package store

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// sample is an encoded state for tests, of a length of its own; many have the same hash.
func sample(n int) (hash uint64, encoded []byte) {
	encoded = binary.LittleEndian.AppendUint64(nil, uint64(n)+1)
	return uint64(n/3) * 0x9e3779b1, append(encoded, make([]byte, n%23)...)
}

// TestFindOrInsert has several goroutines insert the same states in different orders: each state is entered once, and all are told the
// same. Those that get no number can be dropped.
func TestFindOrInsert(t *testing.T) {
	const goroutines, states = 3, 40_000
	f := NewFull()
	for f.GrowthFor(goroutines*states) > 0 {
		f.GrowTable(alone)
	}
	for range goroutines {
		f.Buffer()
	}
	f.Reserve()
	var found [goroutines][states]Ref
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range states {
				n := (i*7 + g*states/2) % states // all, as 7 does not divide their number
				hash, encoded := sample(n)
				r, ok := f.FindOrInsert(f.buffers[g], hash, encoded)
				if !ok {
					t.Errorf("there is no room for state %d", n)
					return
				}
				found[g][n] = r
			}
		})
	}
	all.Wait()
	f.Count()
	if f.count != states {
		t.Errorf("%d states were entered, want %d", f.count, states)
	}
	for n := range states {
		_, encoded := sample(n)
		r := found[0][n]
		if found[1][n] != r || found[2][n] != r || !bytes.Equal(f.Encoded(r), encoded) || f.Assigned(r) {
			t.Fatalf("state %d was entered as %d, %d and %d, as %x, with a number: %t", n, r, found[1][n], found[2][n], f.Encoded(r), f.Assigned(r))
		}
	}

	for n := 0; n < states; n += 2 {
		f.Assign(found[0][n], NoParent)
	}
	f.DropUnassigned()
	for n := range states {
		hash, encoded := sample(n)
		if r, known := f.Find(hash, encoded); known != (n%2 == 0) || known && f.ID(r) != core.StateID(n/2) {
			t.Fatalf("state %d: found %t", n, known)
		}
	}
}

// TestFindOrInsertEnds has a goroutine insert more states than there is room for.
func TestFindOrInsertEnds(t *testing.T) {
	f := NewFull()
	b := f.Buffer()
	f.Buffer() // which gets the other half
	f.Reserve()
	n := 0
	for ; ; n++ {
		hash, encoded := sample(n)
		if _, ok := f.FindOrInsert(b, hash, encoded); !ok {
			break
		}
	}
	if want := smallestTable / 8 * 7 / 2; n != want {
		t.Errorf("there was room for %d states, want %d", n, want)
	}
	hash, encoded := sample(n - 1)
	if _, ok := f.FindOrInsert(b, hash, encoded); !ok {
		t.Error("without room the last state is not found any more")
	}
	if _, ok := f.FindOrInsert(b, 0, make([]byte, maxEncoded+1)); ok {
		t.Error("an encoding that is too long was entered")
	}
}

// TestRecordsThatAreNotKept writes a short record over a long one.
func TestRecordsThatAreNotKept(t *testing.T) {
	f := NewFull()
	b := f.Buffer()
	if _, ok := f.write(b, bytes.Repeat([]byte{0xff}, 100)); !ok {
		t.Fatal("the store is full")
	}
	for range 4 {
		row := []byte{1, 2, 3}
		r, ok := f.write(b, row)
		if !ok || f.Assigned(r) || !bytes.Equal(f.Encoded(r), row) {
			t.Errorf("written: %t, with a number: %t, encoding: %x", ok, f.Assigned(r), f.Encoded(r))
		}
		b.keep(row)
	}
}

// TestPublish writes so many records that they take several chunks.
func TestPublish(t *testing.T) {
	f := NewFull()
	buffers := []*Buffer{f.Buffer(), f.Buffer()}
	var records [2][]Ref
	write := func(n int) {
		row := make([]byte, chunkBytes/40)
		for i := range n {
			r, ok := f.write(buffers[i%2], row)
			if !ok {
				t.Fatal("the store is full")
			}
			buffers[i%2].keep(row)
			records[i%2] = append(records[i%2], r)
		}
	}
	check := func(published int) {
		t.Helper()
		for i := range buffers {
			for n, r := range records[i] {
				if f.Published(r) != (n < published) {
					t.Fatalf("of buffer %d, record %d of %d: published %t, want %d of them", i, n, len(records[i]), f.Published(r), published)
				}
			}
		}
	}
	f.Publish(true)
	write(20)
	check(0)
	f.Publish(false)
	check(0)
	write(200)
	f.Publish(false)
	check(10)
	write(20)
	f.Publish(false)
	check(110)
	write(20)
	f.Publish(true)
	check(130)
	write(20)
	check(130)
}
