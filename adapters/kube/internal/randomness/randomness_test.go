package randomness_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube/internal/randomness"
)

// What is drawn follows from the seed, whether anything was drawn is known, and so are the words of it that stand in
// texts.
func TestSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := randomness.New()
		seed := rapid.Uint64().Draw(t, "seed")
		before := rapid.IntRange(0, 5).Draw(t, "before")
		lengths := rapid.SliceOfN(rapid.IntRange(-2, 40), 0, 4).Draw(t, "lengths") // of words, or else a number is drawn
		throw := func() (words []string) {
			for _, length := range lengths {
				if length < 4 {
					rand.Intn(1 << 20)
					continue
				}
				words = append(words, rand.String(length))
			}
			return words
		}
		first := source.Set(seed, before)
		words := throw()
		if drew := first.End(); drew != (len(lengths) > 0) {
			t.Fatalf("drew %t", drew)
		}
		if rapid.Bool().Draw(t, "elsewhere") {
			rand.Intn(1 << 20) // somebody else draws, or it goes on from where it is
		}
		other := source
		if rapid.Bool().Draw(t, "anew") {
			other = randomness.New()
		}
		for earlier := range before {
			if other.Set(seed, earlier).End() {
				t.Fatal("what nobody has drawn was drawn")
			}
		}
		again := other.Set(seed, before)
		if same := throw(); strings.Join(same, " ") != strings.Join(words, " ") {
			t.Fatalf("it drew %q, and then %q", words, same)
		}
		again.End()

		texts := []string{"nothing"}
		for _, word := range words {
			texts = append(texts, `{"name": "w`+word+`", "of": 1}`)
		}
		if found := first.Words(texts); !slices.Equal(found, words) {
			t.Fatalf("of %q it finds %q", words, found)
		}
		if len(words) > 0 {
			if found := first.Words(texts[2:]); slices.Contains(found, words[0]) {
				t.Fatalf("it finds %q in %q", words[0], texts[2:])
			}
			if known := source.Within("some-" + words[0] + " "); !slices.Equal(known, words[:1]) {
				t.Fatalf("of %q it knows %q", words[0], known)
			}
		}
		if known := source.Within("some-vowels"); len(known) > 0 {
			t.Fatalf("it knows %q, which nobody drew", known)
		}
	})
}

// TestTurns has several sources set the generator of the process at the same time.
func TestTurns(t *testing.T) {
	var all sync.WaitGroup
	want := map[uint64]string{}
	for seed := range uint64(4) {
		source := randomness.New()
		draw := source.Set(seed, 0)
		want[seed] = rand.String(20)
		draw.End()
	}
	for seed := range uint64(4) {
		all.Go(func() {
			source := randomness.New()
			for range 200 {
				draw := source.Set(seed, 0)
				got := rand.String(20)
				if draw.End(); got != want[seed] {
					t.Errorf("seed %d draws %q, want %q", seed, got, want[seed])
					return
				}
			}
		})
	}
	all.Wait()
}

// Nobody can tell what is drawn after a seed was set.
func TestLeftToChance(t *testing.T) {
	source := randomness.New()
	seen := map[string]bool{}
	for range 20 {
		source.Set(1, 0).End()
		source.Release()
		seen[rand.String(20)] = true
	}
	if len(seen) != 20 {
		t.Errorf("it draws %d words in 20 times", len(seen))
	}
}
