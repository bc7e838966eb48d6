package explore

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// walkOf walks a model until a context ends.
func walkOf(t *testing.T, ctx context.Context, model plain.Model, bounds Bounds) *Space {
	t.Helper()
	return firstSearch(t, ctx, model, Options{Order: RandomWalks, Bounds: bounds})
}

// TestHowManyWalks counts walks of one step, which never come to most of the states: as many as are asked for, a
// thousand if nobody says, and without an end if there is a time for them. In a small model there is an end all the
// same: where all states were visited.
func TestHowManyWalks(t *testing.T) {
	number := regexp.MustCompile(`: (\d+) walks `)
	for _, test := range []struct {
		name   string
		bounds Bounds
		looks  int
		least  int
		most   int
	}{
		{"as many", Bounds{Depth: 1, Walks: 7}, 1 << 20, 7, 7},
		{"a thousand", Bounds{Depth: 1}, 1 << 20, WalkCount, WalkCount},
		{"as many in a time", Bounds{Depth: 1, Walks: 7, Time: time.Hour}, 1 << 20, 7, 7},
		{"for a time", Bounds{Depth: 1, Time: time.Hour}, 8 * WalkCount, WalkCount + 1, 1 << 20},
	} {
		space := walkOf(t, &ending{Context: t.Context(), looks: test.looks}, grid(3, 3), test.bounds)
		found := number.FindStringSubmatch(fmt.Sprint(space.Reasons()))
		if found == nil {
			t.Fatalf("%s: the reasons are %v", test.name, space.Reasons())
		}
		if n, _ := strconv.Atoi(found[1]); n < test.least || n > test.most {
			t.Errorf("%s: there are %d walks, want %d to %d", test.name, n, test.least, test.most)
		}
	}
	space := walkOf(t, &ending{Context: t.Context(), looks: 1 << 16}, grid(2, 1), Bounds{Time: time.Hour})
	if space.States() != 6 || space.Stats.Transitions != 7 || len(space.Reasons()) > 0 || !space.cut.Empty() {
		t.Errorf("all is visited: %d states, %+v, %v", space.States(), space.Stats, space.Reasons())
	}
}

// stepsOfGrid counts the steps from a state of a grid.
func stepsOfGrid(state core.State, ends ...int) int {
	n := 0
	for i, end := range ends {
		if plain.NewVar[int](string(rune('x'+i))).Get(state) < end {
			n++
		}
	}
	return n
}

// TestInterruptedWalksCut has walks end anywhere, by their context or as no more states may be stored: a state is cut
// unless all of its steps were taken.
func TestInterruptedWalksCut(t *testing.T) {
	check := func(name string, space *Space) {
		t.Helper()
		steps := 0
		for id := range core.StateID(space.States()) {
			if want := stepsOfGrid(space.State(id), 2, 2); !space.Cut(id) {
				if steps += want; len(space.Edges(id)) != want {
					t.Errorf("%s: of state %d, which is not cut, there are %d steps, want %d", name, id, len(space.Edges(id)), want)
				}
			}
		}
		if space.Stats.Transitions != steps || len(space.Reasons()) == 0 {
			t.Errorf("%s: %d steps are counted, and there are %d; the reasons are %v", name, space.Stats.Transitions, steps, space.Reasons())
		}
	}
	for looks := range 30 {
		check(fmt.Sprint(looks, " looks"), walkOf(t, &ending{Context: t.Context(), looks: looks}, grid(2, 2), Bounds{Walks: 1}))
	}
	for states := 1; states < 9; states++ {
		check(fmt.Sprint(states, " states"), walkOf(t, t.Context(), grid(2, 2), Bounds{Walks: 50, States: states}))
	}
}

// TestWalksCutWhatIsNotModelled has walks come to a step that makes a call which is not modelled: what is behind it is
// cut.
func TestWalksCutWhatIsNotModelled(t *testing.T) {
	x, inbox := plain.NewVar[int]("x"), plain.NewInbox[string]("nobody")
	space := walkOf(t, t.Context(), plain.Model{Name: "breaks", Initial: []core.Initial{plain.Start(x.Is(0))}, Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) {
		if x.Get(w) == 1 {
			inbox.Send(w, "x")
		}
		x.Set(w, x.Get(w)+1)
	}}}}}}, Bounds{Walks: 3})
	if space.States() != 2 || space.Cut(0) || !space.Cut(1) || !strings.Contains(fmt.Sprint(space.Reasons()), "unsupported call") {
		t.Errorf("%d states, cut %t and %t, %v", space.States(), space.Cut(0), space.Cut(1), space.Reasons())
	}
}

// TestWhatWalksWouldFind says what one more walk would find where all are made in the same way, and otherwise what the
// last of them found.
func TestWhatWalksWouldFind(t *testing.T) {
	for order, want := range map[Order]string{RandomWalks: "(Good-Turing estimate)", PriorityWalks: "(Good-Turing estimate)", SwarmWalks: "of the states that the last 4 walks visited"} {
		space := searchModel(t, grid(30, 30), Options{Order: order, Bounds: Bounds{Walks: 40, Depth: 20}})
		if got := fmt.Sprint(space.Reasons()); !strings.Contains(got, want) {
			t.Errorf("order %d: %s", order, got)
		}
	}
	if c := new(coverage); c.visitedIn(0, 1) {
		t.Error("a walk came somewhere that has not begun")
	}
}
