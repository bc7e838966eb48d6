package store

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestGrowthIsTold inserts states of one node each. A table begins with a page of 8,192 entries of 8 bytes, and gets
// longer by half and one page when two thirds of it are states, or seven eighths are nodes. One more page is needed
// while it is made longer.
func TestGrowthIsTold(t *testing.T) {
	const page = 1 << 16
	want := map[int]int64{
		5460:  2 * page, // the first table of states gets one page more
		7168:  2 * page, // the first table of nodes gets one page more
		10922: 3 * page, // two pages of states get two more
	}
	f := NewFull()
	for n := range 12_000 {
		if got := f.Growth(); got != want[n] {
			t.Fatalf("with %d states %d bytes are told, want %d", n, got, want[n])
		}
		var before, after runtime.MemStats
		if want[n] > 0 {
			runtime.ReadMemStats(&before)
		}
		if insertAll(t, f, n, n+1); want[n] > 0 {
			runtime.ReadMemStats(&after)
			if most := uint64(want[n]) + page*3/4; after.TotalAlloc-before.TotalAlloc > most { // with what else the state takes
				t.Errorf("with %d states %d bytes are allocated, want %d at most", n, after.TotalAlloc-before.TotalAlloc, most)
			}
		}
	}
	if states, nodes := len(f.table.pages), len(f.trees.levels[0].table.pages); states != 4 || nodes != 2 {
		t.Errorf("there are %d pages of states and %d of nodes, want 4 and 2", states, nodes)
	}
	if NewCompact().Growth() != 0 {
		t.Error("a compact store tells of growth")
	}
}

// TestGrowthForManyIsTold asks what is needed for some states. Of nodes there is to be room for 512 and for twice those
// that came since room was made.
func TestGrowthForManyIsTold(t *testing.T) {
	const page = 1 << 16
	expect := func(f *Full, states int, want int64, when string) {
		t.Helper()
		if got := f.GrowthFor(states); got != want {
			t.Errorf("%s: %d states need %d bytes, want %d", when, states, got, want)
		}
		before := len(f.table.pages) + len(f.trees.levels[0].table.pages)
		f.Grow(states)
		if grown := len(f.table.pages) + len(f.trees.levels[0].table.pages) - before; (want > 0) != (grown > 0) || want > 0 && int64(grown+1)*page != want {
			t.Errorf("%s: for %d states there are %d pages more", when, states, grown)
		}
	}
	f := NewFull()
	expect(f, 5459, 0, "at the start")
	expect(f, 5460, 2*page, "at the start")
	expect(f, 10921, 0, "with two pages")
	expect(f, 10922, 3*page, "with two pages")

	f = NewFull()
	f.Grow(10_000) // so that only nodes are short
	insertAll(t, f, 0, 2389)
	expect(f, 1, 0, "with 2389 nodes of 7168 there is room for twice as many")
	insertAll(t, f, 2389, 2390)
	if got := f.GrowthFor(1); got != 2*page {
		t.Errorf("with 2390 nodes of 7168 there is no room for twice as many, and %d bytes are told", got)
	}
	f.Reserve()
	expect(f, 1, 0, "when room was made")
	insertAll(t, f, 2390, 3982)
	expect(f, 1, 0, "with 1592 nodes more")
	insertAll(t, f, 3982, 3983)
	if got := f.GrowthFor(1); got != 2*page {
		t.Errorf("with 1593 nodes more there is no room for twice as many, and %d bytes are told", got)
	}
	insertAll(t, f, 3983, 7168-512)
	f.Reserve()
	expect(f, 1, 0, "with room for 512 nodes")
	insertAll(t, f, 7168-512, 7168-511)
	f.Reserve()
	expect(f, 1, 2*page, "with room for 511 nodes")
}

// TestRoomIsShared has what is left of a table be divided among two buffers. A tenth of the states has been counted,
// once.
func TestRoomIsShared(t *testing.T) {
	f := NewFull()
	b, other := f.Buffer(), f.Buffer()
	f.trees.levels[0].grow()
	f.Reserve()
	for n := range 700 {
		hash, encoded := scattered(n)
		findOrInsert(f, other, hash, encoded)
	}
	f.Count()
	if f.Count(); f.count != 700 {
		t.Errorf("%d states are counted, want 700", f.count)
	}
	f.Reserve()
	for n := 700; ; n++ {
		hash, encoded := scattered(n)
		if _, ok := findOrInsert(f, b, hash, encoded); !ok {
			if want := 700 + (7168-700)/2; n != want {
				t.Errorf("state %d is refused, want %d", n, want)
			}
			break
		}
	}
}

// TestNodesThatAreThereNeedNoRoom folds encodings while a level is full.
func TestNodesThatAreThereNeedNoRoom(t *testing.T) {
	var all trees
	var f folder
	all.levels[0].grow()
	for n := range 7168 {
		if _, encoded := scattered(n); !folds(&all, &f, encoded) {
			t.Fatalf("there is no room for node %d", n)
		}
	}
	_, first := scattered(0)
	_, more := scattered(7168)
	for range 3 {
		if !folds(&all, &f, first) || folds(&all, &f, more) {
			t.Fatal("a node that is there is refused, or another one is not")
		}
	}
	// What the first failure took is used when there is room.
	if l := &all.levels[0]; !l.grow() || !folds(&all, &f, more) || l.next.Load() != 7169 {
		t.Errorf("there are %d nodes, want 7169", l.next.Load())
	}
	// Pairs are nodes of the next level, which lacks room; then one of level 0 does.
	triple := func(n int) []byte {
		_, one := scattered(n)
		return bytes.Repeat(one, 3)
	}
	if folds(&all, &f, triple(1)) || f.lacks != 1 {
		t.Errorf("level %d lacks room, want 1", f.lacks)
	}
	all.levels[0].most = 7169
	if folds(&all, &f, triple(7170)) || f.lacks != 0 {
		t.Errorf("level %d lacks room, want 0", f.lacks)
	}
}

func folds(all *trees, f *folder, encoded []byte) bool {
	root, ok := all.fold(f, encoded)
	return ok && bytes.Equal(all.append(nil, root), encoded)
}

// TestNumbersArePublished has claims be published when they were there at the time before, and in the order in which
// they were entered.
func TestNumbersArePublished(t *testing.T) {
	f := NewFull()
	b := f.Buffer()
	makeRoom(f, 100, 1)
	var refs [6]Ref
	published := func(want int, when string) {
		t.Helper()
		for n, r := range refs {
			hash, encoded := scattered(n)
			now, found := f.Find(hash, encoded)
			switch {
			case found != (r != 0):
				t.Errorf("%s: state %d is found: %t", when, n, found)
			case found && f.Published(now) != (n < want):
				t.Errorf("%s: the number of state %d is published: %t", when, n, f.Published(now))
			case found && !f.Published(now) && now != r:
				t.Errorf("%s: state %d is found elsewhere", when, n)
			}
		}
	}
	enter := func(from, to, assigned int) {
		for n := from; n < to; n++ {
			hash, encoded := scattered(n)
			refs[n], _ = findOrInsert(f, b, hash, encoded)
		}
		for n := from; n < assigned; n++ {
			if !f.Assign(refs[n], NoParent) {
				t.Fatal("there is no number")
			}
		}
	}
	enter(0, 3, 3)
	published(0, "when they are entered")
	f.Publish(false)
	f.Settle(b)
	published(0, "at the first time")
	enter(3, 6, 5)
	f.Publish(false)
	f.Settle(b)
	published(3, "at the second time")
	f.Publish(true)
	f.Settle(b)
	published(5, "at the end")
	f.DropUnassigned()
	refs[5] = 0
	published(6, "when the others are dropped")
	if len(*f.claims.Load()) > 0 || f.buffers != nil || f.spare != nil {
		t.Error("claims take memory when they are dropped")
	}
}

// TestPagesOfClaimsAreUsedAgain has a page be given back when all its claims were settled before the time before, and
// be taken for the next ones.
func TestPagesOfClaimsAreUsedAgain(t *testing.T) {
	f := NewFull()
	b := f.Buffer()
	makeRoom(f, 3*claimPageLen, 1)
	enter := func(from, to int) {
		for n := from; n < to; n++ {
			hash, encoded := scattered(n)
			if r, ok := findOrInsert(f, b, hash, encoded); !ok || !f.Assign(r, NoParent) {
				t.Fatal("there is no room")
			}
		}
	}
	enter(0, claimPageLen+1)
	first := (*f.claims.Load())[0]
	for range 2 {
		f.Publish(true)
		f.Settle(b)
		if len(f.spare) > 0 {
			t.Fatal("a page is given back too early")
		}
	}
	if f.Publish(true); len(f.spare) != 1 || f.spare[0] != first {
		t.Fatal("a page is not given back")
	}
	if enter(claimPageLen+1, 2*claimPageLen+1); b.page != first || len(f.spare) > 0 {
		t.Error("the spare page is not used again")
	}
	for n := range 2*claimPageLen + 1 {
		hash, encoded := scattered(n)
		if r, found := f.Find(hash, encoded); !found || f.ID(r) != core.StateID(n) {
			t.Fatalf("state %d is found at %d: %t", n, r, found)
		}
	}
}

// TestListsAreAsLongAsNeeded adds to lists of pages: there is a page for every so many values.
func TestListsAreAsLongAsNeeded(t *testing.T) {
	var list Pages[int]
	for n := range 2*pageLen + 1 {
		list.Add(n)
	}
	list.Put(pageLen, -1)
	if len(list.pages) != 3 || list.Len() != 2*pageLen+1 || list.At(pageLen) != -1 || list.At(pageLen-1) != pageLen-1 || list.At(2*pageLen) != 2*pageLen {
		t.Errorf("a list of %d values has %d pages", list.Len(), len(list.pages))
	}
	var w words
	places := []uint32{0, wordPageLen - 1, 2 * wordPageLen, 1 << 20}
	for _, i := range places {
		w.put(i, uint64(i)+1)
	}
	for _, i := range places {
		if pages := len(*w.pages.Load()); w.at(i) != uint64(i)+1 || pages != 1<<20/wordPageLen+1 {
			t.Errorf("word %d is %d in %d pages", i, w.at(i), pages)
		}
	}
	for _, seams := range []struct {
		spare, blocks int // how many bytes of a block are left over, and the blocks of two rows
	}{{-1, 2}, {0, 1}, {1, 1}} {
		var q rowQueue
		q.add(make([]byte, maxEncoded))
		for range 2 {
			q.add(make([]byte, maxEncoded))
		}
		last := blockBytes - len(q.blocks[0].rows) - 5 - seams.spare // the length of a row takes 5 bytes at most
		if q.add(make([]byte, last)); len(q.blocks) != seams.blocks || len(q.row(3)) != last {
			t.Errorf("with %d bytes left over there are %d blocks, want %d", seams.spare, len(q.blocks), seams.blocks)
		}
		for _, b := range q.blocks {
			if cap(b.rows) != blockBytes {
				t.Errorf("a block has %d bytes, want %d", cap(b.rows), blockBytes)
			}
		}
	}
}
