package explore

import (
	"context"
	"fmt"
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

// TestSchedulers has walks prefer states that no walk has come to, and agents of the highest priority, of which those
// that lead back fall behind all others.
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

// TestSwarms has walks take turns among the kinds of schedulers, and priorities change at points within the longest
// walk that was seen.
func TestSwarms(t *testing.T) {
	kind := func(s scheduler) string {
		if p, ok := s.(*priorities); ok {
			return fmt.Sprint(len(p.points), " changes")
		}
		return fmt.Sprintf("%T", s)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	w := &randomWalker{search: &search{Space: &Space{order: SwarmWalks}}, longest: 100}
	var got []string
	for w.walked = range 10 {
		k := kind(w.scheduler(chance))
		if w.walked%5 == 3 {
			if k != "1 changes" && k != "2 changes" && k != "3 changes" && k != "4 changes" {
				t.Errorf("walk %d is by %s", w.walked, k)
			}
			k = "some changes"
		}
		got = append(got, k)
	}
	five := []string{"*explore.uniform", "0 changes", "*explore.preferUnvisited", "some changes", "8 changes"}
	if want := slices.Concat(five, five); !slices.Equal(got, want) {
		t.Errorf("the schedulers are %v, want %v", got, want)
	}
	w.order, w.options.ChangePoints = PriorityWalks, 7
	if k := kind(w.scheduler(chance)); k != "7 changes" {
		t.Errorf("walks by priorities have %s", k)
	}
	w.order = RandomWalks
	if k := kind(w.scheduler(chance)); k != "*explore.uniform" {
		t.Errorf("random walks are by %s", k)
	}
	for longest, most := range map[int]int{0: shortestWalk, 10: shortestWalk, 100: 100} {
		highest := 0
		for _, point := range newPriorities(chance, 2000, longest).points {
			if highest = max(highest, point); point < 0 || point >= most {
				t.Fatalf("with walks of %d steps a priority changes before step %d", longest, point)
			}
		}
		if highest != most-1 {
			t.Errorf("with walks of %d steps no priority changes behind step %d", longest, highest)
		}
	}
}

// TestPrioritiesAreDrawn has each of three agents go first in some walks, and keep its priority in all of a walk.
func TestPrioritiesAreDrawn(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	steps := []branch{{agent: 1}, {agent: 2}, {agent: 3}}
	first := map[int]int{}
	for range 200 {
		p := newPriorities(chance, 0, 10)
		agent := p.choose(steps)
		for range 5 {
			if p.choose(steps) != agent {
				t.Fatal("a priority has changed")
			}
		}
		first[agent]++
	}
	for i := range steps {
		if first[i] < 30 {
			t.Errorf("agent %d goes first in %d of 200 walks", i+1, first[i])
		}
	}
}

// TestCoverage counts by hand what walks came to. Each of 20 walks comes to state 0, the even ones to state 1 as well,
// and each to one of its own, twice.
func TestCoverage(t *testing.T) {
	var c coverage
	for walk := 1; walk <= 20; walk++ {
		if walk == 20 && (c.estimate() != "" || c.lately() != "") {
			t.Errorf("of 19 walks it is said that %s; %s", c.estimate(), c.lately())
		}
		c.visit(0, walk)
		if walk%2 == 0 {
			c.visit(1, walk)
		}
		for range 2 {
			c.visit(core.StateID(10+walk), walk)
		}
		if !c.visitedIn(0, walk) || c.visitedIn(1, walk) != (walk%2 == 0) || c.visitedIn(core.StateID(9+walk), walk) || c.visitedIn(1000, walk) {
			t.Errorf("what walk %d came to is not known", walk)
		}
	}
	// 20 states were seen once, of 20 + 10 + 20 visits; of the last two walks, which visited 5, two states were new.
	if c.once != 20 || c.sum(0) != (harvest{50, 22}) || c.sum(18) != (harvest{5, 2}) {
		t.Errorf("%d states were visited by one walk; all walks came to %+v, the last two to %+v", c.once, c.sum(0), c.sum(18))
	}
	if got := c.estimate(); got != "about 40% of the states that one more walk visits would be new (Good-Turing estimate)" {
		t.Errorf("it is said that %s", got)
	}
	if got := c.lately(); got != "of the states that the last 2 walks visited, 40% were new" {
		t.Errorf("it is said that %s", got)
	}
}

// TestStepsOfWalks has a walk take all steps of a state, and know which of them lead to states that were visited. A
// state that is visited for the first time waits no longer.
func TestStepsOfWalks(t *testing.T) {
	space, state, number := ways{0: {1, 2, 3}, 1: {0}, 2: {2}, 3: {}}.search(t, Options{Order: RandomWalks}, 0)
	s := &search{Space: space, context: t.Context(), frontier: &unordered{count: 2}}
	w := &randomWalker{search: s}
	s.expanded.Remove(state[2])
	s.expanded.Remove(state[3])
	crossed := func(n int) string {
		t.Helper()
		if err := w.cross(state[n]); err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, b := range w.steps {
			text = append(text, fmt.Sprintf("%d %t", number[b.to], b.visited))
		}
		slices.Sort(text)
		return fmt.Sprint(text)
	}
	for _, test := range []struct {
		from, waiting int
		want          string
	}{{0, 2, "[1 true 2 false 3 false]"}, {2, 1, "[2 false]"}, {2, 1, "[2 true]"}, {0, 1, "[1 true 2 true 3 false]"}, {3, 0, "[]"}, {1, 0, "[0 true]"}} {
		if got := crossed(test.from); got != test.want || s.frontier.len() != test.waiting {
			t.Errorf("the steps from %d lead to %s, want %s, and %d states wait", test.from, got, test.want, s.frontier.len())
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if s.context = ended; w.cross(0) == nil {
		t.Error("a walk goes on when the search has ended")
	}
}
