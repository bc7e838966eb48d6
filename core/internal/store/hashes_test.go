package store

import (
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
