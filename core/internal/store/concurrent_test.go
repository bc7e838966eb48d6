package store

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// sample is an encoded state for tests, of a length of its own; many have the same hash.
func sample(n int) (hash uint64, encoded []byte) {
	encoded = append(make([]byte, n%23), binary.BigEndian.AppendUint64(nil, uint64(n)<<8+1)...)
	return uint64(n/3) * 0x9e3779b1, encoded
}

// findOrInsert prefetches one state and then finds or inserts it.
func findOrInsert(f *Full, b *Buffer, hash uint64, encoded []byte) (Ref, bool) {
	l := []Lookup{{Hash: hash}}
	f.Prefetch(l)
	return f.FindOrInsert(b, &l[0], encoded)
}

// makeRoom makes room for so many states of up to so many levels of nodes.
func makeRoom(f *Full, states, levels int) {
	for f.needs(states) {
		f.Grow(states)
	}
	for i := range levels {
		for l := &f.trees.levels[i]; int(l.most)-int(l.next.Load()) < states; {
			l.grow()
		}
	}
	f.Reserve()
}

// TestFindOrInsert has several goroutines insert the same states in different orders: each state is entered once, and
// all are told the same. Those that get no number can be dropped.
func TestFindOrInsert(t *testing.T) {
	const goroutines, states = 3, 40_000
	f := NewFull()
	for range goroutines {
		f.Buffer()
	}
	makeRoom(f, goroutines*states, 3)
	var found [goroutines][states]Ref
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range states {
				n := (i*7 + g*states/2) % states // all, as 7 does not divide their number
				hash, encoded := sample(n)
				r, ok := findOrInsert(f, f.buffers[g], hash, encoded)
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
		if found[1][n] != r || found[2][n] != r || !bytes.Equal(f.Encoded(r, nil), encoded) || f.Assigned(r) {
			t.Fatalf("state %d was entered as %d, %d and %d, as %x, with a number: %t", n, r, found[1][n], found[2][n], f.Encoded(r, nil), f.Assigned(r))
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
	makeRoom(f, 0, 3)
	for i := range 3 {
		f.trees.levels[i].grow()
	}
	n := 0
	for ; ; n++ {
		hash, encoded := sample(n)
		if _, ok := findOrInsert(f, b, hash, encoded); !ok {
			break
		}
	}
	if want := tablePageLen / 8 * 7 / 2; n != want {
		t.Errorf("there was room for %d states, want %d", n, want)
	}
	hash, encoded := sample(n - 1)
	if _, ok := findOrInsert(f, b, hash, encoded); !ok {
		t.Error("without room the last state is not found any more")
	}
	makeRoom(f, 2*tablePageLen, 3)
	if _, ok := findOrInsert(f, b, 0, bytes.Repeat([]byte{1}, maxEncoded+1)); ok {
		t.Error("an encoding that is too long was entered")
	}
}

// TestNodesEnd has goroutines make more nodes than there is room for: some are refused, and those that are not are
// right.
func TestNodesEnd(t *testing.T) {
	const goroutines, states = 3, 2 * tablePageLen
	f := NewFull()
	for range goroutines {
		f.Buffer()
	}
	makeRoom(f, goroutines*states, 0)
	for i := range 3 {
		f.trees.levels[i].grow()
	}
	f.Reserve()
	refused := make([]int, goroutines)
	var all sync.WaitGroup
	for g, b := range f.buffers {
		all.Go(func() {
			for n := range states {
				hash, encoded := sample(n)
				if r, ok := findOrInsert(f, b, hash, encoded); !ok {
					refused[g]++
				} else if !bytes.Equal(f.Encoded(r, nil), encoded) {
					t.Errorf("state %d is %x, want %x", n, f.Encoded(r, nil), encoded)
				}
			}
		})
	}
	all.Wait()
	if slices.Contains(refused, 0) {
		t.Errorf("%v of %d states were refused, want some", refused, states)
	}
	for i := range f.trees.levels {
		if l := &f.trees.levels[i]; int(l.next.Load()) > int(l.most)+goroutines {
			t.Errorf("there are %d nodes of level %d, and room for %d", l.next.Load(), i, l.most)
		}
	}
}

// TestClaimsThatAreNotKept writes a claim over another one.
func TestClaimsThatAreNotKept(t *testing.T) {
	f := NewFull()
	b := f.Buffer()
	makeRoom(f, 1000, 6)
	if _, ok := f.write(b, 1, bytes.Repeat([]byte{0xff}, 100)); !ok {
		t.Fatal("the store is full")
	}
	for range 4 {
		row := []byte{1, 2, 3}
		r, ok := f.write(b, 2, row)
		if !ok || f.Assigned(r) || !bytes.Equal(f.Encoded(r, nil), row) {
			t.Errorf("written: %t, with a number: %t, encoding: %x", ok, f.Assigned(r), f.Encoded(r, nil))
		}
		b.used++
	}
}

// TestFullIsAMap has goroutines insert states in rounds, as a search does: while they insert, states of the round
// before get their numbers. All is compared with a plain map, and references stay good for as long as a search uses
// them.
func TestFullIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := NewFull()
		workers := rapid.IntRange(1, 3).Draw(t, "workers")
		for range workers {
			f.Buffer()
		}
		numbers := map[string]core.StateID{}
		var rows []string
		var parents []core.StateID
		row := rapid.Custom(func(t *rapid.T) string { return string(drawRow(t)) })
		hash := func(row string) uint64 { // some collide
			return uint64(len(row)+int(row[len(row)-1])*7) * 0x9e3779b97f4a7c15 >> 20
		}
		number := func(row string, parent core.StateID) {
			numbers[row] = core.StateID(len(rows))
			rows, parents = append(rows, row), append(parents, parent)
		}
		type found struct {
			row string
			r   Ref
			ok  bool
		}
		var before []found // of the round before, to be numbered
		doublings := 6     // of a table with room: each takes twice the memory of the one before
		for round := range rapid.IntRange(1, 12).Draw(t, "rounds") {
			overlapping := rapid.Bool().Draw(t, "overlapping")
			for range rapid.IntRange(0, 2).Draw(t, "grow") {
				if f.GrowthFor(1000) == 0 && doublings > 0 {
					f.grow()
					doublings--
				}
				f.Grow(1000)
			}
			merge := func() {
				parent := NoParent
				if round > 1 {
					parent = core.StateID(round)
				}
				for _, b := range before {
					id, known := numbers[b.row]
					switch {
					case !b.ok && !known && overlapping:
						// inserted when the others are done
					case !b.ok && !known:
						if r, there := f.Find(hash(b.row), []byte(b.row)); there && !f.Assigned(r) {
							f.Assign(r, parent)
						} else if _, ok := f.Insert(hash(b.row), []byte(b.row), parent); !ok {
							t.Errorf("%x was not inserted", b.row)
						}
						number(b.row, parent)
					case b.ok && f.Assigned(b.r) != known:
						t.Errorf("%x has a number: %t", b.row, f.Assigned(b.r))
					case b.ok && !known:
						f.Assign(b.r, parent)
						number(b.row, parent)
					case b.ok && f.ID(b.r) != id:
						t.Errorf("%x has the number %d, want %d", b.row, f.ID(b.r), id)
					}
				}
			}
			if !overlapping {
				merge()
			}
			f.Publish(!overlapping)
			f.Reserve()
			inserted := rapid.SliceOfN(rapid.SliceOfN(row, 0, 40), workers, workers).Draw(t, "rows")
			results := make([][]found, workers)
			var all sync.WaitGroup
			for w, b := range f.buffers {
				all.Go(func() {
					f.Settle(b)
					for _, row := range inserted[w] {
						r, ok := findOrInsert(f, b, hash(row), []byte(row))
						if ok && !bytes.Equal(f.Encoded(r, nil), []byte(row)) {
							t.Errorf("%x was found as %x", row, f.Encoded(r, nil))
						}
						results[w] = append(results[w], found{row, r, ok})
					}
				})
			}
			if overlapping {
				merge()
			}
			all.Wait()
			f.Count()
			if overlapping { // what was refused
				overlapping = false
				merge()
			}
			before = slices.Concat(results...)
		}
		f.DropUnassigned()
		if f.Len() != len(rows) || f.count != len(rows) {
			t.Fatalf("there are %d states, of which %d in the table, want %d", f.Len(), f.count, len(rows))
		}
		for id, row := range rows {
			r, known := f.Find(hash(row), []byte(row))
			if !known || f.ID(r) != core.StateID(id) || f.At(core.StateID(id)) != r || f.Parent(r) != parents[id] || string(f.Encoded(r, nil)) != row {
				t.Fatalf("%x: found %t as %d with parent %d, want %d and %d", row, known, r, f.Parent(r), id, parents[id])
			}
		}
		for _, b := range before {
			if _, known := numbers[b.row]; known {
				continue
			}
			if _, there := f.Find(hash(b.row), []byte(b.row)); there {
				t.Fatalf("%x is there, and has no number", b.row)
			}
		}
	})
}

// TestClaimsAreFreed inserts states for many rounds: claims that nobody looks at take no memory.
func TestClaimsAreFreed(t *testing.T) {
	f := NewFull()
	b := f.Buffer()
	const rounds, each = 100, 500
	for round := range rounds {
		f.Publish(true)
		makeRoom(f, each, 3)
		f.Settle(b)
		for i := range each {
			hash, encoded := sample(round*each + i)
			r, ok := findOrInsert(f, b, hash, encoded)
			if !ok {
				t.Fatal("there is no room")
			}
			f.Assign(r, NoParent)
		}
		f.Count()
	}
	pages := 0
	for _, p := range *f.claims.Load() {
		if p != nil {
			pages++
		}
	}
	if most := 4*each/claimPageLen + 1; pages > most || len(f.spare) > most {
		t.Errorf("%d pages of claims are left and %d spare, want %d at most", pages, len(f.spare), most)
	}
}

// TestClaimsStayReadable has one goroutine find states by their claims before another one settles them, and uses these
// references one round later, as a search does that stores a batch while the next one is expanded.
func TestClaimsStayReadable(t *testing.T) {
	f := NewFull()
	own, other := f.Buffer(), f.Buffer()
	const rounds, each = 20, 3 * claimPageLen / 2
	type found struct {
		n int
		r Ref
	}
	var before, claimed []found
	claims := 0
	for round := range rounds {
		makeRoom(f, 2*each, 3)
		f.Publish(false)
		var again []found
		for n := max(0, (round-3)*each); n < round*each; n++ {
			hash, encoded := sample(n)
			r, ok := findOrInsert(f, other, hash, encoded)
			if !ok {
				t.Fatal("there is no room")
			}
			if !f.Published(r) {
				claims++
			}
			again = append(again, found{n, r})
		}
		f.Settle(own)
		var now []found
		for n := round * each; n < (round+1)*each; n++ {
			hash, encoded := sample(n)
			r, ok := findOrInsert(f, own, hash, encoded)
			if !ok {
				t.Fatal("there is no room")
			}
			now = append(now, found{n, r})
		}
		for _, c := range claimed {
			f.Assign(c.r, NoParent)
		}
		for _, b := range before {
			if _, encoded := sample(b.n); int(f.ID(b.r)) != b.n || !bytes.Equal(f.Encoded(b.r, nil), encoded) {
				t.Fatalf("state %d was found as %d, %x", b.n, f.ID(b.r), f.Encoded(b.r, nil))
			}
		}
		before, claimed = again, now
		f.Count()
	}
	if claims < each {
		t.Errorf("only %d claims were found", claims)
	}
}
