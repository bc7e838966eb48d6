package explore

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// claimed is a row of a state for tests, of a length of its own; many have the same tag.
func claimed(n int) (tag uint64, row []byte) {
	row = binary.LittleEndian.AppendUint64(nil, uint64(n)+1)
	return uint64(n/3) * 0x9e3779b1, append(row, make([]byte, n%23)...)
}

// TestClaims has several goroutines claim the same states in different orders: each state is entered once, and all are told the
// same. Those that are not admitted can be disclaimed.
func TestClaims(t *testing.T) {
	const goroutines, states = 3, 40_000
	a := &arena{}
	v := newVisited(a)
	for v.growthFor(goroutines*states) > 0 {
		v.double(alone)
	}
	for range goroutines {
		a.lane()
	}
	v.allot()
	var found [goroutines][states]ref
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range states {
				n := (i*7 + g*states/2) % states // all, as 7 does not divide their number
				tag, row := claimed(n)
				r, ok := v.claim(a.lanes[g], tag, row)
				if !ok {
					t.Errorf("there is no room for state %d", n)
					return
				}
				found[g][n] = r
			}
		})
	}
	all.Wait()
	v.tally()
	if v.count != states {
		t.Errorf("%d states were entered, want %d", v.count, states)
	}
	for n := range states {
		_, row := claimed(n)
		r := found[0][n]
		if found[1][n] != r || found[2][n] != r || !bytes.Equal(a.row(r), row) || a.admitted(r) {
			t.Fatalf("state %d was entered as %d, %d and %d, with the row %x, admitted: %t", n, r, found[1][n], found[2][n], a.row(r), a.admitted(r))
		}
	}

	for n := 0; n < states; n += 2 {
		a.admit(found[0][n], noParent)
	}
	v.disclaim()
	for n := range states {
		tag, row := claimed(n)
		if r, known := v.find(tag, row); known != (n%2 == 0) || known && a.number(r) != core.StateID(n/2) {
			t.Fatalf("state %d: found %t", n, known)
		}
	}
}

// TestClaimsEnd has a goroutine claim more states than there is room for.
func TestClaimsEnd(t *testing.T) {
	a := &arena{}
	v := newVisited(a)
	l := a.lane()
	a.lane() // which gets the other half
	v.allot()
	n := 0
	for ; ; n++ {
		tag, row := claimed(n)
		if _, ok := v.claim(l, tag, row); !ok {
			break
		}
	}
	if want := smallestTable / 8 * 7 / 2; n != want {
		t.Errorf("there was room for %d states, want %d", n, want)
	}
	tag, row := claimed(n - 1)
	if _, ok := v.claim(l, tag, row); !ok {
		t.Error("without room the last state is not found any more")
	}
	if _, ok := v.claim(l, 0, make([]byte, maxRow+1)); ok {
		t.Error("a row that is too long was entered")
	}
}

// TestRecordsThatAreNotKept writes a short record over a long one.
func TestRecordsThatAreNotKept(t *testing.T) {
	a := &arena{}
	l := a.lane()
	if _, ok := a.write(l, bytes.Repeat([]byte{0xff}, 100)); !ok {
		t.Fatal("the arena is full")
	}
	for range 4 {
		row := []byte{1, 2, 3}
		r, ok := a.write(l, row)
		if !ok || a.admitted(r) || !bytes.Equal(a.row(r), row) {
			t.Errorf("written: %t, admitted: %t, row: %x", ok, a.admitted(r), a.row(r))
		}
		l.keep(row)
	}
}

// TestSettled writes so many records that they take several chunks.
func TestSettled(t *testing.T) {
	a := &arena{}
	lanes := []*lane{a.lane(), a.lane()}
	var records [2][]ref
	write := func(n int) {
		row := make([]byte, chunkBytes/40)
		for i := range n {
			r, ok := a.write(lanes[i%2], row)
			if !ok {
				t.Fatal("the arena is full")
			}
			lanes[i%2].keep(row)
			records[i%2] = append(records[i%2], r)
		}
	}
	check := func(settled int) {
		t.Helper()
		for i := range lanes {
			for n, r := range records[i] {
				if a.settled(r) != (n < settled) {
					t.Fatalf("of lane %d, record %d of %d: settled %t, want %d of them", i, n, len(records[i]), a.settled(r), settled)
				}
			}
		}
	}
	a.settle(true)
	write(20)
	check(0)
	a.settle(false)
	check(0)
	write(200)
	a.settle(false)
	check(10)
	write(20)
	a.settle(false)
	check(110)
	write(20)
	a.settle(true)
	check(130)
	write(20)
	check(130)
}
