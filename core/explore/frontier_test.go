package explore

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core/internal/store"
)

// TestSpansAreAQueue pushes and takes, and compares with the frontier of a search that is not compact.
func TestSpansAreAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frontiers := []frontier{&queue{}, &spans{}}
		next := waiting{}
		for range rapid.IntRange(1, 50).Draw(t, "turns") {
			for range rapid.IntRange(0, 20).Draw(t, "pushes") {
				switch rapid.IntRange(0, 9).Draw(t, "kind") {
				case 0:
					next.ref = store.Ref(rapid.IntRange(0, 1000).Draw(t, "state"))
				case 1:
					next.depth++
				}
				for _, f := range frontiers {
					f.push(next)
				}
				next.ref++
			}
			length := rapid.IntRange(1, 30).Draw(t, "batch")
			var taken [2][]waiting
			for i, f := range frontiers {
				taken[i] = f.take(make([]waiting, 0, length))
			}
			if !slices.Equal(taken[0], taken[1]) || frontiers[0].len() != frontiers[1].len() {
				t.Fatalf("got %v and then %d, want %v and %d", taken[1], frontiers[1].len(), taken[0], frontiers[0].len())
			}
		}
	})
}
