package store

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// scattered is an encoded state of one word for tests, with a hash of its own.
func scattered(n int) (hash uint64, encoded []byte) {
	return uint64(n+1) * 0x9e3779b97f4a7c15, binary.BigEndian.AppendUint64(nil, uint64(n)<<8+1)
}

// insertAll inserts states from one number up to another, each with the parent n/3.
func insertAll(t *testing.T, s Store, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		hash, encoded := scattered(n)
		if r, ok := s.Insert(hash, encoded, core.StateID(n/3)); !ok || r != s.At(core.StateID(n)) {
			t.Fatalf("state %d is stored at %d: %t", n, r, ok)
		}
	}
}

// TestStoresKeepWhatIsInserted inserts states one after the other, as many as make tables longer, and looks at each of
// them.
func TestStoresKeepWhatIsInserted(t *testing.T) {
	for name, s := range map[string]Store{"full": NewFull(), "compact": NewCompact()} {
		const states = 12_000
		hash, encoded := scattered(0)
		s.Prefetch([]Lookup{{Hash: hash}})
		if _, found := s.Find(hash, encoded); found || s.Len() != 0 {
			t.Fatalf("%s: an empty store has a state", name)
		}
		insertAll(t, s, 0, states)
		if s.Len() != states {
			t.Errorf("%s: there are %d states, want %d", name, s.Len(), states)
		}
		for n := range states + 100 {
			hash, encoded := scattered(n)
			s.Prefetch([]Lookup{{Hash: hash}, {Hash: hash + 1}})
			r, found := s.Find(hash, encoded)
			if found != (n < states) {
				t.Fatalf("%s: state %d is found: %t", name, n, found)
			}
			if found && (s.ID(r) != core.StateID(n) || s.Parent(r) != core.StateID(n/3) || !bytes.Equal(s.Encoded(r, nil), encoded)) {
				t.Fatalf("%s: state %d is %d with the parent %d, and %x, want %x", name, n, s.ID(r), s.Parent(r), s.Encoded(r, nil), encoded)
			}
		}
	}
}

// TestParentsAreReplaced gives states other parents: a full store takes them, and a compact one, which only searches by
// breadth use, has none.
func TestParentsAreReplaced(t *testing.T) {
	f, c := NewFull(), NewCompact()
	insertAll(t, f, 0, 10)
	if f.SetParent(7, 5); f.Parent(7) != 5 || f.Parent(6) != 2 || f.Parent(8) != 2 {
		t.Errorf("the parents are %d, %d and %d, want 2, 5 and 2", f.Parent(6), f.Parent(7), f.Parent(8))
	}
	insertAll(t, c, 0, 10)
	defer func() {
		if recover() == nil {
			t.Error("a compact store took another parent")
		}
	}()
	c.SetParent(7, 5)
}

// TestCompactForgets has a compact store drop the encodings of states that were expanded, and take states with the same
// hash for one.
func TestCompactForgets(t *testing.T) {
	c := NewCompact()
	insertAll(t, c, 0, 10)
	c.Expanded(4)
	for n := range 10 {
		if there := c.Encoded(Ref(n), nil) != nil; there != (n >= 4) {
			t.Errorf("after the first four are expanded the encoding of state %d is there: %t", n, there)
		}
	}
	hash, _ := scattered(8)
	if r, found := c.Find(hash, []byte("another")); !found || r != 8 {
		t.Errorf("a state with the hash of state 8 is found at %d: %t", r, found)
	}
}

// TestLengthsOfEncodings stores the shortest and the longest encoding there can be, and refuses a longer one.
func TestLengthsOfEncodings(t *testing.T) {
	for name, s := range map[string]Store{"full": NewFull(), "compact": NewCompact()} {
		for id, length := range []int{0, 1, maxEncoded} {
			encoded := bytes.Repeat([]byte{1}, length)
			r, ok := s.Insert(uint64(length), encoded, NoParent)
			if !ok {
				t.Errorf("%s: an encoding of %d bytes is refused", name, length)
				continue
			}
			if got := s.Encoded(r, nil); s.ID(r) != core.StateID(id) || got == nil || !bytes.Equal(got, encoded) {
				t.Errorf("%s: an encoding of %d bytes comes back as %d bytes of state %d", name, length, len(got), s.ID(r))
			}
		}
		if _, ok := s.Insert(1<<40, bytes.Repeat([]byte{1}, maxEncoded+1), NoParent); ok || s.Len() != 3 {
			t.Errorf("%s: an encoding that is too long is stored", name)
		}
	}
	f := NewFull()
	b := f.Buffer()
	makeRoom(f, 1<<14, treeLevels)
	for _, length := range []int{0, maxEncoded, maxEncoded + 1} {
		if _, ok := findOrInsert(f, b, uint64(length), bytes.Repeat([]byte{1}, length)); ok != (length <= maxEncoded) {
			t.Errorf("an encoding of %d bytes is stored without a number: %t", length, ok)
		}
	}
}

// TestNumbersEnd inserts a state when there are as many as there are numbers.
func TestNumbersEnd(t *testing.T) {
	full := parents{plain: Pages[core.StateID]{len: firstClaim}, isPlain: true}
	hash, encoded := scattered(0)
	f := NewFull()
	b := f.Buffer()
	makeRoom(f, 10, 1)
	r, ok := findOrInsert(f, b, hash, encoded)
	if f.parents = full; !ok || f.Assign(r, NoParent) || f.Assigned(r) {
		t.Error("a full store gives a claim a number that is none")
	}
	f = NewFull()
	f.parents = full
	if _, ok := f.Insert(hash, encoded, NoParent); ok {
		t.Error("a full store gives a state a number that is none")
	}
	c := NewCompact()
	c.parents = parents{plain: Pages[core.StateID]{len: int(NoParent) - 1}, isPlain: true}
	if _, ok := c.Insert(hash, encoded, NoParent); ok {
		t.Error("a compact store gives a state a number that stands for none")
	}
}

// TestClaimsEnd opens pages for claims until there are as many as can be referred to.
func TestClaimsEnd(t *testing.T) {
	f := NewFull()
	b := f.Buffer()
	almost := make([]*claimPage, firstClaim/claimPageLen-2)
	f.claims.Store(&almost)
	if !f.extend(b) {
		t.Error("the last page of claims is refused")
	}
	if f.extend(b) {
		t.Error("there is a page of claims too many")
	}
}

// TestNodesOfALevelEnd inserts a state when a level of nodes is as large as can be.
func TestNodesOfALevelEnd(t *testing.T) {
	f := NewFull()
	insertAll(t, f, 0, 10)
	l := &f.trees.levels[0]
	l.most = mostNodes
	l.next.Store(mostNodes)
	hash, encoded := scattered(3)
	if f.GrowthFor(1) != 0 {
		t.Error("a level that cannot grow is to grow")
	}
	if _, ok := f.Insert(hash, append(encoded, 7), NoParent); ok {
		t.Error("a state is stored without its nodes")
	}
}

// TestOdds compares with the number of pairs of states, of which each has the same of 2^64 hashes with odds of one to
// that.
func TestOdds(t *testing.T) {
	for states, pairs := range map[int]float64{0: 0, 1: 0, 2: 1, 3: 3, 5: 10, 1 << 20: 1 << 19 * (1<<20 - 1)} {
		if got, want := Odds(states), pairs/math.Exp2(64); got != want {
			t.Errorf("of %d states the odds are %g, want %g", states, got, want)
		}
	}
}
