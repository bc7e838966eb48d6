package explore

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestDigestsFindWhatWasAdded adds tags that are spread as badly as can be beside some that are spread well.
func TestDigestsFindWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d digests
		numbers := map[uint64]ref{}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		narrow := rapid.IntRange(0, 63).Draw(t, "bits that are the same")
		for range rapid.IntRange(0, 3*digestPage).Draw(t, "tags") {
			tag := random.Uint64() >> narrow
			if _, there := numbers[tag]; there {
				continue
			}
			if r, found := d.find(tag, nil); found {
				t.Fatalf("the tag %x was found at %d before it was added", tag, r)
			}
			numbers[tag] = ref(len(numbers))
			d.add(tag, numbers[tag])
		}
		for tag, want := range numbers {
			if r, found := d.find(tag, nil); !found || r != want {
				t.Fatalf("the tag %x was found at %d: %t, want %d", tag, r, found, want)
			}
		}
	})
}

// TestDigestsAreSmall adds many tags, and looks at the room they take on the way.
func TestDigestsAreSmall(t *testing.T) {
	const most = 16 // bytes for a tag and a number, which are 12
	var d digests
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 2_000_000 {
		d.add(random.Uint64(), ref(n))
		if n < 1_000_000 || n%1000 != 0 {
			continue
		}
		pages := 0
		for i := range d.tables {
			pages += len(d.tables[i].pages)
		}
		if each := float64(pages*digestPage*12) / float64(n+1); each > most {
			t.Fatalf("each of %d tags takes %.1f bytes, more than %d", n+1, each, most)
		}
	}
}
