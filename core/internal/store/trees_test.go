package store

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// drawRow draws an encoding of any length, made of few different parts, so that many nodes are shared.
func drawRow(t *rapid.T) []byte {
	length := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 600)).Draw(t, "length")
	row := make([]byte, length, length+1)
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		if length > 0 {
			row[rapid.IntRange(0, length-1).Draw(t, "at")] = byte(rapid.IntRange(0, 3).Draw(t, "value"))
		}
	}
	return append(row, byte(rapid.IntRange(1, 3).Draw(t, "last")))
}

// foldAlone folds an encoding, and makes what room it takes.
func foldAlone(t *trees, f *folder, row []byte) uint64 {
	for {
		if root, ok := t.fold(f, row); ok {
			return root
		}
		t.levels[f.lacks].grow()
	}
}

// TestTrees folds encodings: equal ones, and only these, have the same root, which leads back to them.
func TestTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all trees
		var f folder
		rows := map[uint64][]byte{}
		roots := map[string]uint64{}
		for _, row := range rapid.SliceOfN(rapid.Custom(drawRow), 1, 40).Draw(t, "rows") {
			root := foldAlone(&all, &f, row)
			if before, known := roots[string(row)]; known && before != root {
				t.Fatalf("%x has the roots %x and %x", row, before, root)
			}
			if other, known := rows[root]; known && !bytes.Equal(other, row) {
				t.Fatalf("%x and %x have the same root", row, other)
			}
			roots[string(row)], rows[root] = root, row
		}
		for root, row := range rows {
			if got := all.append([]byte{7}, root); !bytes.Equal(got[1:], row) || got[0] != 7 {
				t.Fatalf("%x comes back as %x", row, got)
			}
			for other, otherRow := range rows {
				if all.is(root, otherRow) != (root == other) {
					t.Fatalf("%x is taken for %x: %t", row, otherRow, root != other)
				}
			}
			if len(row) > 1 && all.is(root, bytes.TrimRight(row[:len(row)-1], "\x00")) {
				t.Fatalf("%x is taken for its beginning", row)
			}
		}
	})
}

// TestLongestTree folds the longest encoding there can be, and the shortest.
func TestLongestTree(t *testing.T) {
	var all trees
	var f folder
	for _, row := range [][]byte{{}, {1}, bytes.Repeat([]byte{1}, maxEncoded), append(make([]byte, maxEncoded-1), 1), bytes.Repeat([]byte("12345678"), maxEncoded/8)} {
		root := foldAlone(&all, &f, row)
		if !all.is(root, row) || !bytes.Equal(all.append(nil, root), row) {
			t.Errorf("an encoding of %d bytes does not come back", len(row))
		}
	}
}

// TestTreesOfBeginnings folds encodings that begin alike, up to a few words: each is told from the others, whatever it
// has in common with them.
func TestTreesOfBeginnings(t *testing.T) {
	long := bytes.Repeat([]byte("abcdefghijklmnop"), 5)
	zeros := append(make([]byte, 40), 1)
	var rows [][]byte
	for n := 1; n <= len(long); n++ {
		rows = append(rows, long[:n])
	}
	for n := range zeros {
		rows = append(rows, zeros[n:], append([]byte("abcdefgh"), zeros[n:]...), append([]byte("abcdefghijklmnop"), zeros[n:]...))
	}
	var all trees
	var f folder
	for _, row := range rows {
		root := foldAlone(&all, &f, row)
		for _, other := range rows {
			if all.is(root, other) != bytes.Equal(row, other) {
				t.Fatalf("%q is taken for %q: %t", row, other, !bytes.Equal(row, other))
			}
		}
	}
}

// TestOccupy has the first that takes a place keep it, and the others be told whose it is.
func TestOccupy(t *testing.T) {
	all := newTable()
	one, other := entryOf(7, 1), entryOf(7, 2)
	for _, test := range []struct {
		at          uint
		entry, want uint64
	}{{5, one, one}, {5, other, one}, {6, other, other}, {5, one, one}} {
		if got := all.occupy(test.at, test.entry); got != test.want || *all.at(test.at) != test.want {
			t.Errorf("after %x was put into place %d, %x is there, and told is %x; want %x", test.entry, test.at, *all.at(test.at), got, test.want)
		}
	}
}

// TestTable enters, replaces and drops entries, and compares with a plain map.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := newTable()
		hashes := map[Ref]uint32{}
		hash := rapid.OneOf(rapid.Uint32(), rapid.Just(uint32(1<<32-1)), rapid.Uint32Range(1<<32-1<<16, 1<<32-1))
		next := Ref(0)
		for range rapid.IntRange(1, 8).Draw(t, "turns") {
			many := rapid.Uint32().Draw(t, "seed")
			for i := range rapid.IntRange(0, 1500).Draw(t, "entries") {
				if len(hashes) >= all.most() {
					all.grow()
				}
				h := (many + uint32(i)) * 0x9e3779b1
				if i%100 == 0 {
					h = hash.Draw(t, "hash")
				}
				all.enter(entryOf(h, next))
				hashes[next] = h
				next++
			}
			switch rapid.IntRange(0, 3).Draw(t, "then") {
			case 0:
				all.grow()
			case 1:
				all.rebuild(0, func(entry uint64) uint64 {
					if r := Ref(entry - 1); r%3 == 0 {
						delete(hashes, r)
						return 0
					}
					return entry
				})
			case 2:
				for r, h := range hashes {
					if r%5 == 0 {
						all.replace(entryOf(h, r), entryOf(h, next))
						delete(hashes, r)
						hashes[next] = h
						next++
						break
					}
				}
			}
			for r, h := range hashes {
				for i := all.home(h); ; i = all.after(i) {
					var entry uint64
					if entry, i = all.next(h, i); entry == 0 {
						t.Fatalf("%d is not found at the hash %x", r, h)
					}
					if Ref(entry-1) == r {
						break
					}
				}
			}
			entries := 0
			for _, p := range all.pages {
				for _, entry := range p {
					if entry != 0 {
						entries++
					}
				}
			}
			if entries != len(hashes) {
				t.Fatalf("there are %d entries, want %d", entries, len(hashes))
			}
		}
	})
}
