package store

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// TestHashTableFindsWhatWasAdded adds hashes that are spread as badly as can be beside some that are spread well.
func TestHashTableFindsWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table hashTable
		numbers := map[uint64]core.StateID{}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		narrow := rapid.IntRange(0, 63).Draw(t, "bits that are the same")
		for range rapid.IntRange(0, 3*hashPage).Draw(t, "hashes") {
			hash := random.Uint64() >> narrow
			if _, there := numbers[hash]; there {
				continue
			}
			if r, found := table.find(hash); found {
				t.Fatalf("the hash %x was found at %d before it was added", hash, r)
			}
			numbers[hash] = core.StateID(len(numbers))
			table.add(hash, numbers[hash])
		}
		for hash, want := range numbers {
			if r, found := table.find(hash); !found || r != want {
				t.Fatalf("the hash %x was found at %d: %t, want %d", hash, r, found, want)
			}
		}
	})
}

// TestHashTableOfOnePart adds many hashes to one part: in order, against it, and in turns from both ends, spread over
// all of it, or so near to its end that there is no room behind them until it is longer. All are found, and none that
// was not added.
func TestHashTableOfOnePart(t *testing.T) {
	const part = uint64(1) << (64 - partBits)
	for _, shape := range []struct {
		name          string
		hashes        int
		first, apart  uint64
		pages, before int // at least so many pages, and fewer than so many
	}{
		{"spread", 5000, 3 * part, part / 5000, 5, 8},
		{"from the beginning", 3000, 0, 1, 3, 5},
		{"near the end", 200, math.MaxUint64 - 199*(part>>11), part >> 11, 2, 3},
		{"very near the end", 200, math.MaxUint64 - 199*(part>>13), part >> 13, 3, 9},
		{"at the end", 64, math.MaxUint64 - 63, 1, 1, 2},
	} {
		for _, order := range []struct {
			name string
			nth  func(i int) int
		}{
			{"in order", func(i int) int { return i }},
			{"against it", func(i int) int { return shape.hashes - 1 - i }},
			{"from both ends", func(i int) int {
				if i%2 == 0 {
					return i / 2
				}
				return shape.hashes - 1 - i/2
			}},
		} {
			var table hashTable
			hash := func(i int) uint64 { return shape.first + uint64(i)*shape.apart }
			for i := range shape.hashes {
				n := order.nth(i)
				if r, found := table.find(hash(n)); found {
					t.Fatalf("%s, %s: hash %d was found at %d before it was added", shape.name, order.name, n, r)
				}
				table.add(hash(n), core.StateID(n))
			}
			for n := range shape.hashes {
				if r, found := table.find(hash(n)); !found || int(r) != n {
					t.Fatalf("%s, %s: hash %d was found at %d: %t", shape.name, order.name, n, r, found)
				}
			}
			p := table.of(shape.first)
			if pages := len(p.pages); pages < shape.pages || pages >= shape.before {
				t.Errorf("%s, %s: there are %d pages, want %d at least and fewer than %d", shape.name, order.name, pages, shape.pages, shape.before)
			}
			if p.count != shape.hashes {
				t.Errorf("%s, %s: %d hashes are counted, want %d", shape.name, order.name, p.count, shape.hashes)
			}
		}
	}
}

// TestHashOfNothing looks for the hash 0, which an empty entry has, too.
func TestHashOfNothing(t *testing.T) {
	var table hashTable
	for n := range 4 {
		if r, found := table.find(0); found {
			t.Fatalf("after %d hashes the hash 0 is found at %d", n, r)
		}
		table.add(1<<uint(57-n), core.StateID(n))
	}
	if table.add(0, 4); !foundAt(&table, 0, 4) || !foundAt(&table, 1<<57, 0) || !foundAt(&table, 1<<54, 3) {
		t.Error("with the hash 0 the table is another one")
	}
}

func foundAt(table *hashTable, hash uint64, want core.StateID) bool {
	r, found := table.find(hash)
	return found && r == want
}

// TestHashTableThatIsFullAtItsEnd adds as many of the greatest hashes as there is room for, and then others, so that
// the part gets longer.
func TestHashTableThatIsFullAtItsEnd(t *testing.T) {
	const greatest, others = hashMargin + 1, 2 * hashPage
	var table hashTable
	hash := func(n int) uint64 {
		if n < greatest {
			return math.MaxUint64 - uint64(n)
		}
		return math.MaxUint64 - uint64(n)<<46
	}
	for n := range greatest + others {
		if n == greatest { // where they belong there is just room for all of them, also in a longer part
			table.of(hash(0)).grow()
		}
		table.add(hash(n), core.StateID(n))
	}
	for n := range greatest + others {
		if !foundAt(&table, hash(n), core.StateID(n)) {
			t.Fatalf("hash %d is not found", n)
		}
	}
}

// TestHashTableIsSmall adds many hashes, and looks at the room they take on the way.
func TestHashTableIsSmall(t *testing.T) {
	const most = 16 // bytes for a hash and a number, which are 12
	var table hashTable
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 2_000_000 {
		table.add(random.Uint64(), core.StateID(n))
		if n < 1_000_000 || n%1000 != 0 {
			continue
		}
		pages := 0
		for i := range table.parts {
			pages += len(table.parts[i].pages)
		}
		if each := float64(pages*hashPage*12) / float64(n+1); each > most {
			t.Fatalf("each of %d hashes takes %.1f bytes, more than %d", n+1, each, most)
		}
	}
}
