package explore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/naive"
)

// reason reports whether one of the reasons has these words.
func reason(space *explore.Space, words string) bool {
	return slices.ContainsFunc(space.Reasons(), func(r string) bool { return strings.Contains(r, words) })
}

// TestStatesWithinBound checks that a bound on states is used to the full, is told
// when it was hit and not otherwise, and that what was stored can be looked at.
func TestStatesWithinBound(t *testing.T) {
	eachSystem(t, *systems/5, func(t *testing.T, system *core.System, graph *naive.Graph) {
		all := len(graph.States)
		for _, order := range []explore.Order{explore.BreadthFirst, explore.DepthFirst} {
			for _, workers := range []int{1, 2} {
				for _, bound := range []int{1, 2, all / 2, all - 1, all, all + 1} {
					if bound < 1 {
						continue
					}
					o := options(workers)
					o.Order, o.Bounds.States = order, bound
					space := search(t, system, o)
					if got, want := space.States(), min(bound, all); got != want {
						t.Fatalf("within a bound of %d, %d states are stored, want %d", bound, got, want)
					}
					if got, want := reason(space, "limit of"), all > bound; got != want {
						t.Fatalf("of %d states %d were allowed; that it is not complete is told: %t", all, bound, got)
					}
					if all <= bound != (len(space.Reasons()) == 0) {
						t.Fatalf("of %d states %d were allowed, and the reasons are %v", all, bound, space.Reasons())
					}
					lookAround(t, space, graph)
				}
			}
		}
	})
}

// TestTimersWithinBound stops the search between the timers of one state.
func TestTimersWithinBound(t *testing.T) {
	runs := plain.NewVar[int]("runs")
	system, err := plain.Model{
		Name:    "timers",
		Initial: []core.Initial{plain.Start(runs.Is(0))},
		Controllers: []plain.Controller{{
			Name: "c", Requests: []core.Request{"p", "q", "r"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				runs.Set(w, min(runs.Get(w)+1, 5))
				return core.Result{RequeueAfter: time.Hour}
			},
		}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	graph, err := naive.Explore(system, largest)
	if err != nil {
		t.Fatal(err)
	}
	for bound := 1; bound <= len(graph.States); bound++ {
		o := options(1)
		o.Bounds.States = bound
		// "runs" is of no kind that the text of a state shows, so states are looked at by their numbers.
		space := search(t, system, o)
		for id := range core.StateID(space.States()) {
			run, found := space.Shortest(func(other core.StateID) bool { return other == id })
			if !found || run.End(id) != id {
				t.Fatalf("of %d states, state %d is reached by %v, %t", bound, id, run, found)
			}
		}
	}
}

// lookAround checks that everything that a search stored is so: each state can be
// reached, each step of a state that is not cut is there, and each step is real.
func lookAround(t *testing.T, space *explore.Space, graph *naive.Graph) {
	t.Helper()
	steps := map[string][]string{}
	for id, edges := range graph.Edges {
		from := text(graph.States[id])
		for _, e := range edges {
			steps[from] = append(steps[from], edgeText(from, text(graph.States[e.To]), e))
		}
	}
	for id := range core.StateID(space.States()) {
		run, found := space.Shortest(func(other core.StateID) bool { return other == id })
		if !found {
			t.Fatalf("there is no run to state %d", id)
		}
		if end := run.End(id); end != id {
			t.Fatalf("the run to state %d ends in %d", id, end)
		}
		from := text(space.State(id))
		var got []string
		for _, e := range slices.Clone(space.Edges(id)) {
			got = append(got, edgeText(from, text(space.State(e.To)), e))
		}
		want := slices.Clone(steps[from])
		slices.Sort(got)
		slices.Sort(want)
		if !space.Cut(id) && !slices.Equal(got, want) {
			t.Fatalf("state %d is not cut, and has the steps %q, want %q", id, got, want)
		}
		for _, step := range got {
			if !slices.Contains(want, step) {
				t.Fatalf("the step %q of state %d is not real", step, id)
			}
		}
	}
}

// TestDepthWithinBound checks that with a bound on depth both orders visit the same
// states, those that are within it, and cut the same ones.
func TestDepthWithinBound(t *testing.T) {
	eachSystem(t, *systems/3, func(t *testing.T, system *core.System, graph *naive.Graph) {
		deepest := summaryOfTwin(graph).deepest
		for bound := 1; bound <= min(deepest+1, 7); bound++ {
			within, beyond := withinDepth(graph, bound)
			for _, order := range []explore.Order{explore.BreadthFirst, explore.DepthFirst} {
				for _, workers := range []int{1, 2} {
					o := options(workers)
					o.Order, o.Bounds.Depth = order, bound
					space := search(t, system, o)
					var got, cut []string
					for id := range core.StateID(space.States()) {
						got = append(got, text(space.State(id)))
						if space.Cut(id) {
							cut = append(cut, text(space.State(id)))
						}
					}
					slices.Sort(got)
					slices.Sort(cut)
					if !slices.Equal(got, within) {
						t.Fatalf("order %d, depth %d: %d states, want %d", order, bound, len(got), len(within))
					}
					if !slices.Equal(cut, beyond) {
						t.Fatalf("order %d, depth %d: the states %q are cut, want %q", order, bound, cut, beyond)
					}
					if told := reason(space, "depth limit"); told != (len(beyond) > 0) {
						t.Fatalf("order %d, depth %d: %d states are cut, and the reasons are %v", order, bound, len(beyond), space.Reasons())
					}
					lookAround(t, space, graph)
				}
			}
		}
	})
}

// TestDetour checks a depth-first search that first comes to a state by a detour, beyond
// which it may not go, and later by a shorter way: nothing is cut then.
func TestDetour(t *testing.T) {
	x, dead, end := plain.NewVar[int]("x"), plain.NewVar[bool]("dead"), plain.NewVar[int]("end")
	jump := func(name string, from func(int) bool, by int) plain.Action {
		return plain.Action{Name: name, Do: func(w *plain.World) {
			w.Require(!dead.Get(w))
			now := x.Get(w)
			w.Require(from(now))
			x.Set(w, now+by)
		}}
	}
	is := func(value int) func(int) bool { return func(now int) bool { return now == value } }
	actions := []plain.Action{jump("a: into the short way", is(0), 10), jump("b: to its end", is(10), -6)}
	for i := range 2 * 32 { // dead ends keep the search from turning to the short way soon
		actions = append(actions, plain.Action{Name: fmt.Sprintf("c: dead end %d", i), Do: func(w *plain.World) {
			w.Require(!dead.Get(w) && x.Get(w) < 4)
			dead.Set(w, true)
			end.Set(w, i)
		}})
	}
	actions = append(actions, jump("d: up", func(now int) bool { return now < 6 }, 1))
	system, err := plain.Model{Name: "detour", Initial: []core.Initial{plain.Start(x.Is(0), dead.Is(false), end.Is(0))}, Processes: []plain.Process{{Name: "p", Actions: actions}}}.System()
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []explore.Order{explore.BreadthFirst, explore.DepthFirst} {
		for workers := 1; workers <= 2; workers++ {
			o := options(workers)
			o.Order, o.Bounds.Depth = order, 4
			space := search(t, system, o)
			if len(space.Reasons()) > 0 || space.States() != 8+4*64 {
				t.Errorf("order %d: %d states, want %d; reasons %v", order, space.States(), 8+4*64, space.Reasons())
			}
		}
	}
}

// withinDepth returns the states that can be reached in so many steps, and those of
// them that have steps but need all of these to be reached.
func withinDepth(g *naive.Graph, bound int) (within, beyond []string) {
	depth := map[core.StateID]int{}
	queue := slices.Clone(g.Initial)
	for _, id := range queue {
		depth[id] = 0
	}
	for ; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		within = append(within, text(g.States[id]))
		if depth[id] == bound {
			if len(g.Edges[id]) > 0 {
				beyond = append(beyond, text(g.States[id]))
			}
			continue
		}
		for _, e := range g.Edges[id] {
			if _, seen := depth[e.To]; !seen {
				depth[e.To] = depth[id] + 1
				queue = append(queue, e.To)
			}
		}
	}
	slices.Sort(within)
	slices.Sort(beyond)
	return within, beyond
}

// endless returns a counter without end.
func endless(t *testing.T) *core.System {
	t.Helper()
	n := plain.NewVar[int]("n")
	system, err := plain.Model{
		Name:      "endless",
		Initial:   []core.Initial{plain.Start(n.Is(0))},
		Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) { n.Set(w, n.Get(w)+1) }}}}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

func TestBoundsAreTold(t *testing.T) {
	for _, test := range []struct {
		name   string
		bounds explore.Bounds
		want   string
	}{
		{"time", explore.Bounds{Time: 30 * time.Millisecond}, "the search reached the time limit (30ms)"},
		{"memory", explore.Bounds{Memory: 1 << 20}, "the search reached the memory limit (1 MiB)"},
		{"depth", explore.Bounds{Depth: 5}, "the search reached the depth limit (5 steps)"},
		{"states", explore.Bounds{States: 5}, "the search reached the limit of 5 states"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := options(2)
			o.Bounds = test.bounds
			if space := search(t, endless(t), o); !reason(space, test.want) || len(space.Reasons()) != 1 {
				t.Errorf("the reasons are %q, want one with %q", space.Reasons(), test.want)
			}
		})
	}
}

func TestCancellation(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ctx, cancel := context.WithCancel(context.Background())
		o := options(workers)
		o.Progress = func(p explore.Progress) {
			if p.States > 100 {
				cancel()
			}
		}
		space, err := explore.Search(ctx, endless(t), o)
		if err != nil {
			t.Fatal(err)
		}
		if !reason(space, "interrupted") || space.States() <= 100 || !space.Cut(core.StateID(space.States()-1)) {
			t.Errorf("with %d workers: %d states, reasons %v", workers, space.States(), space.Reasons())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	space, err := explore.Search(ctx, endless(t), options(1))
	if err != nil || !reason(space, "interrupted") {
		t.Errorf("cancelled before it began: %v, %v", space.Reasons(), err)
	}
}

// crowded is a board on which each write makes many notes.
type crowded struct{ board }

func (crowded) Answer(core.Snapshot, core.Call) (core.Answer, error) {
	done := core.Answer{Response: answer("ok")}
	for i := range 70_000 {
		done.Writes = append(done.Writes, core.Write{Key: noteKey(strconv.Itoa(i)), Content: note("1")})
	}
	return done, nil
}

// TestLongRow checks that a state that cannot be stored makes the search incomplete.
func TestLongRow(t *testing.T) {
	system := boardWith(nil, writer{name: "p", initial: []core.Request{"r"}, reconcile: func(do do, _ core.Request) core.Result {
		do("put n 1")
		return core.Result{}
	}})
	system.Store = crowded{}
	space := search(t, system, options(1))
	if !reason(space, "more states than can be stored") || space.States() != 1 || !space.Cut(0) {
		t.Errorf("%d states, reasons %v", space.States(), space.Reasons())
	}
}

// fickle answers by what it answered before, which no store may.
type fickle struct {
	core.Store
	asked int
}

func (f *fickle) Answer(s core.Snapshot, c core.Call) (core.Answer, error) {
	f.asked++
	if f.asked > 1 {
		s.List("thing", "")
	}
	return f.Store.Answer(s, c)
}

// broken answers no call.
type broken struct{ core.Store }

func (broken) Answer(core.Snapshot, core.Call) (core.Answer, error) {
	return core.Answer{}, errors.New("out of order")
}

func TestImpureStore(t *testing.T) {
	for _, test := range []struct {
		name  string
		store func(core.Store) core.Store
		want  string
	}{
		{"reads something else the next time", func(s core.Store) core.Store { return &fickle{Store: s} }, "must depend on nothing but the call and what it reads"},
		{"fails", func(s core.Store) core.Store { return broken{s} }, "out of order"},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := endless(t)
			system.Store = test.store(system.Store)
			o := options(1)
			o.Bounds.States = 10
			if _, err := explore.Search(context.Background(), system, o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want one with %q", err, test.want)
			}
		})
	}
}
