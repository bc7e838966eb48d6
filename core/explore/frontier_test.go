package explore

import (
	"maps"
	"math/rand/v2"
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

// TestSchedulers has walks prefer states that no walk has come to, and agents of the highest priority, of which those that lead back fall behind all others.
func TestSchedulers(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	steps := []branch{{agent: 1, to: 1, visited: true}, {agent: 2, to: 2}, {agent: 2, to: 3, visited: true}, {agent: 3, to: 4}}
	chosen := func(s scheduler) map[int]bool {
		all := map[int]bool{}
		for range 200 {
			all[s.choose(steps)] = true
		}
		return all
	}
	if got := chosen(&uniform{chance}); len(got) != len(steps) {
		t.Errorf("of all steps these are chosen: %v", got)
	}
	prefers := &preferUnvisited{chance: chance}
	if got := chosen(prefers); !maps.Equal(got, map[int]bool{1: true, 3: true}) {
		t.Errorf("of those that lead to new states these are chosen: %v", got)
	}
	steps[1].visited, steps[3].visited = true, true
	if got := chosen(prefers); len(got) != len(steps) {
		t.Errorf("where none does these are chosen: %v", got)
	}
	p := newPriorities(chance, 0, 10)
	p.of = map[int]int64{1: 5, 2: 7, 3: 6}
	if got := chosen(p); !maps.Equal(got, map[int]bool{1: true, 2: true}) {
		t.Errorf("of the agent with the highest priority these are chosen: %v", got)
	}
	if p.returned(steps[1]); !maps.Equal(chosen(p), map[int]bool{3: true}) {
		t.Error("one that leads back does not fall behind")
	}
	p.returned(steps[3])
	if p.returned(steps[0]); !maps.Equal(chosen(p), map[int]bool{1: true, 2: true}) {
		t.Error("the one that has led back last does not fall behind the others")
	}
	// At a point of change, whoever would go next falls behind.
	p = &priorities{chance: chance, of: map[int]int64{1: 5, 2: 7, 3: 6}, points: []int{1}}
	var agents []int
	for range 3 {
		agents = append(agents, steps[p.choose(steps)].agent)
	}
	if !slices.Equal(agents, []int{2, 3, 3}) {
		t.Errorf("with one point of change, agents %v go", agents)
	}
}
