package explore

import (
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// TestNearby has walks tell a run to each state that they came to, to the nearest one of several, and to no other.
func TestNearby(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	add := func(v plain.Var[int]) plain.Process {
		return plain.Process{Name: "add to " + v.Key().Name, Actions: []plain.Action{{Name: "one", Do: func(w *plain.World) {
			w.Require(v.Get(w) < 3)
			v.Set(w, v.Get(w)+1)
		}}}}
	}
	system, err := plain.Model{Name: "grid", Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0))}, Processes: []plain.Process{add(x), add(y)}}.System()
	if err != nil {
		t.Fatal(err)
	}
	space, err := Search(t.Context(), system, Options{Order: RandomWalks, Workers: 1, Bounds: Bounds{Walks: 200, Depth: 10}, Run: behavior.Limits{Deadline: time.Second, Calls: 100}})
	if err != nil {
		t.Fatal(err)
	}
	if space.States() != 16 {
		t.Fatalf("%d states", space.States())
	}
	sum := func(id core.StateID) int {
		n := 0
		for _, v := range []plain.Var[int]{x, y} {
			n += v.Get(space.look(space.row(id)))
		}
		return n
	}
	for id := range core.StateID(space.States()) {
		run, found := space.nearby(func(at core.StateID) bool { return at == id })
		end := core.StateID(0)
		if len(run) > 0 {
			end = run[len(run)-1].To
		}
		if !found || end != id || len(run) != sum(id) {
			t.Errorf("to state %d, %d steps away, a run of %d steps leads to %d: %t", id, sum(id), len(run), end, found)
		}
	}
	for least := range 7 {
		if run, found := space.nearby(func(at core.StateID) bool { return sum(at) >= least }); !found || len(run) != least {
			t.Errorf("to states at least %d steps away, a run has %d steps: %t", least, len(run), found)
		}
	}
	// Of several that are as near it is the one that was found first.
	for least := range 6 {
		first := core.StateID(0)
		for sum(first) != least {
			first++
		}
		if run, _ := space.nearby(func(at core.StateID) bool { return sum(at) == least }); run.End(0) != first {
			t.Errorf("of the states %d steps away, a run leads to %d, want %d", least, run.End(0), first)
		}
	}
	// A state that is farther away may have been found before.
	for deep := range core.StateID(space.States()) {
		for id := range core.StateID(space.States()) {
			run, _ := space.nearby(func(at core.StateID) bool { return at == deep || at == id })
			if len(run) != min(sum(deep), sum(id)) {
				t.Errorf("to one of the states %d and %d, a run has %d steps", deep, id, len(run))
			}
		}
	}
	if run, found := space.nearby(func(core.StateID) bool { return false }); found || run != nil {
		t.Errorf("to no state, there is the run %v", run)
	}
}
