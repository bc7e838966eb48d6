package explore

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// queue is the frontier of a breadth-first search as a plain list.
type queue struct{ waiting []waiting }

func (q *queue) push(w waiting) { q.waiting = append(q.waiting, w) }

func (q *queue) len() int { return len(q.waiting) }

func (q *queue) take(batch []waiting) []waiting {
	batch = batch[:0]
	for len(q.waiting) > 0 && len(batch) < cap(batch) && (len(batch) == 0 || q.waiting[0].depth == batch[0].depth) {
		batch = append(batch, q.waiting[0])
		q.waiting = q.waiting[1:]
	}
	return batch
}

// TestSpansAreAQueue pushes and takes, and compares with a plain list.
func TestSpansAreAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frontiers := []frontier{&queue{}, &spans{}}
		next := waiting{}
		for range rapid.IntRange(1, 50).Draw(t, "turns") {
			for range rapid.IntRange(0, 20).Draw(t, "pushes") {
				switch rapid.IntRange(0, 9).Draw(t, "kind") {
				case 0:
					next.id = core.StateID(rapid.IntRange(0, 1000).Draw(t, "state"))
				case 1:
					next.depth++
				}
				for _, f := range frontiers {
					f.push(next)
				}
				next.id++
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
