package explore_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/naive"
)

var walkOrders = []explore.Order{explore.RandomWalks, explore.PriorityWalks, explore.SwarmWalks}

func walking(order explore.Order, walks, length int) explore.Options {
	o := options(1)
	o.Order, o.Bounds.Walks, o.Bounds.Depth = order, walks, length
	o.ChangePoints = 2
	return o
}

// TestWalksSeeWhatIsThere checks that what walks store is so: states can be reached, states that are not cut have all
// their steps, and steps are real; and that walks that came everywhere found what a search finds.
func TestWalksSeeWhatIsThere(t *testing.T) {
	everywhere := 0
	eachSystem(t, *systems/3, func(t *testing.T, system *core.System, graph *naive.Graph) {
		for _, order := range walkOrders {
			for _, size := range [][2]int{{1, 1}, {3, 8}, {40, 60}} {
				space := search(t, system, walking(order, size[0], size[1]))
				lookAround(t, space, graph)
				whole := space.States() == len(graph.States)
				for id := range core.StateID(space.States()) {
					whole = whole && !space.Cut(id)
				}
				if told := !reason(space, "do not visit every state"); told != whole {
					t.Fatalf("order %d, %v walks and steps: that they came everywhere is told: %t; that is so: %t", order, size, told, whole)
				}
				if !whole {
					continue
				}
				everywhere++
				got, want := summaryOf(t, space, system.Properties[0]), summaryOfTwin(graph)
				if d := differ(got, want); d != "" {
					t.Fatalf("order %d, %v walks and steps: %s", order, size, d)
				}
			}
		}
	})
	if everywhere == 0 {
		t.Error("no walks came everywhere, so that was not tested")
	}
}

// TestWalksAreRepeatable checks that walks depend on the seed, and on nothing else.
func TestWalksAreRepeatable(t *testing.T) {
	for _, order := range walkOrders {
		o := walking(order, 30, 0)
		first := search(t, counters(t, 8, 2), o)
		o.Workers = 3
		same(t, search(t, counters(t, 8, 2), o), first)
		o.Seed++
		if other := search(t, counters(t, 8, 2), o); other.States() == first.States() && other.Stats == first.Stats {
			t.Errorf("order %d: with another seed, the same is visited", order)
		}
	}
}

// late returns a model with one state that is broken: where one of n processes has taken all its steps, and no other
// one any.
func late(t *testing.T, n, steps int) *core.System {
	t.Helper()
	system := counters(t, n, steps)
	kind := system.Initial[0].Objects[0].Key
	system.Properties = []core.Property{{Name: "not alone", Invariant: func(s core.State) error {
		moved := 0
		for i := range n {
			key := kind
			key.Name = strings.Replace(kind.Name, "0", strconv.Itoa(i), 1)
			if c := s.Get(key); c != nil && fmt.Sprint(c.Fields()) != "0" {
				moved++
			}
		}
		if c := s.Get(kind); c != nil && fmt.Sprint(c.Fields()) == strconv.Itoa(steps) && moved == 1 {
			return fmt.Errorf("the first one was alone")
		}
		return nil
	}}}
	return system
}

// TestPrioritiesFindWhatIsRare looks for a state that even steps come to with a chance of about 4 to the power of -20,
// and priorities without a change point with one of 1 to 4.
func TestPrioritiesFindWhatIsRare(t *testing.T) {
	for _, test := range []struct {
		order explore.Order
		found bool
	}{{explore.RandomWalks, false}, {explore.PriorityWalks, true}, {explore.SwarmWalks, true}} {
		o := walking(test.order, 100, 0)
		o.ChangePoints = 0
		space := search(t, late(t, 4, 20), o)
		_, err := space.Broken("not alone")
		if found := err != nil; found != test.found {
			t.Errorf("order %d: found: %t, want %t", test.order, found, test.found)
		}
	}
}

// TestPrioritiesDoNotStarve has an agent that can always go round in a circle.
func TestPrioritiesDoNotStarve(t *testing.T) {
	spin, count := plain.NewVar[int]("spin"), plain.NewVar[int]("count")
	process := func(name string, v *plain.Var[int], next func(int) int) plain.Process {
		return plain.Process{Name: name, Actions: []plain.Action{{Name: "step", Do: func(w *plain.World) { v.Set(w, next(v.Get(w))) }}}}
	}
	system, err := plain.Model{
		Name:    "spin",
		Initial: []core.Initial{plain.Start(spin.Is(0), count.Is(0))},
		Processes: []plain.Process{
			process("spins", &spin, func(now int) int { return 1 - now }),
			process("counts", &count, func(now int) int { return min(now+1, 50) }),
		},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range int64(5) {
		o := walking(explore.PriorityWalks, 1, 300)
		o.ChangePoints, o.Seed = 0, seed
		if space := search(t, system, o); space.States() != 102 {
			t.Errorf("seed %d: %d states, want 102", seed, space.States())
		}
	}
}

// TestGoodTuring holds the estimate of what one more walk would find against what further walks found.
func TestGoodTuring(t *testing.T) {
	for _, n := range []int{6, 8, 10} {
		system := counters(t, n, 2)
		visited := func(walks int) (states int, unseen float64) {
			o := walking(explore.RandomWalks, walks, 0)
			space := search(t, system, o)
			for id := range core.StateID(space.States()) {
				if !space.Cut(id) {
					states++
				}
			}
			for _, reason := range space.Reasons() {
				_, after, _ := strings.Cut(reason, "; about ")
				text, _, _ := strings.Cut(after, "%")
				if share, err := strconv.ParseFloat(text, 64); err == nil {
					unseen = share / 100
				}
			}
			return states, unseen
		}
		const more = 50
		before, estimate := visited(100)
		after, _ := visited(100 + more)
		// Each walk comes to 2n+1 states.
		found := float64(after-before) / float64(more*(2*n+1))
		t.Logf("%d counters: %.0f%% of the states of further walks were new, and %.0f%% were expected", n, 100*found, 100*estimate)
		if math.Abs(found-estimate) > 0.1 || estimate == 0 {
			t.Errorf("%d counters: %.0f%% of the states of further walks were new, and %.0f%% were expected", n, 100*found, 100*estimate)
		}
	}
}

// TestEndlessWalks checks that walks end by themselves, and at the bounds.
func TestEndlessWalks(t *testing.T) {
	for _, order := range walkOrders {
		if space := search(t, endless(t), walking(order, 3, 7)); space.States() != 8 || !space.Cut(7) {
			t.Errorf("order %d: %d states of three walks of seven steps", order, space.States())
		}
		o := walking(order, 0, 0)
		o.Bounds.States = 50
		if space := search(t, endless(t), o); space.States() != 50 || !reason(space, "limit of") {
			t.Errorf("order %d: %d states and the reasons %v", order, space.States(), space.Reasons())
		}
		if space := search(t, endless(t), walking(order, 2, 0)); space.States() != explore.WalkLength+1 {
			t.Errorf("order %d: %d states of walks without a bound", order, space.States())
		}
	}
}
