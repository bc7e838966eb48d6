package explore

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/naive"
)

// concealing is a slate on which words that begin with a dot do not matter to outcomes.
type concealing struct{ slate }

func (concealing) Outcome(_ core.Key, c core.Content) any {
	if c.Canonical()[0] == '.' {
		return nil
	}
	return c.Fields()
}

// listedBy is what a list shows of each state, with what its numbers stand for.
func listedBy(t *testing.T, list func(context.Context, int, func(*core.Listed) error) error) (states []string, numbers []core.Listed) {
	t.Helper()
	var objects []core.TraceObject
	var items []core.Item
	var steps []core.Edge
	if err := list(t.Context(), 9999, func(l *core.Listed) error {
		objects, items, steps = append(objects, l.NewObjects...), append(items, l.NewItems...), append(steps, l.NewSteps...)
		text := fmt.Sprint(l.ID)
		for _, number := range l.Objects {
			text += fmt.Sprint(" ", objects[number].Name, "=", objects[number].Fields)
		}
		for _, number := range l.Work {
			text += fmt.Sprint(" work ", items[number])
		}
		for _, number := range l.Timers {
			text += fmt.Sprint(" timer ", items[number])
		}
		for _, step := range l.Steps {
			text += fmt.Sprint(" ", steps[step.Step].Step, " to ", step.To)
		}
		states = append(states, text)
		copied := *l
		copied.Objects, copied.Work, copied.Timers, copied.Steps = slices.Clone(l.Objects), slices.Clone(l.Work), slices.Clone(l.Timers), slices.Clone(l.Steps)
		copied.NewObjects, copied.NewItems, copied.NewSteps = slices.Clone(l.NewObjects), slices.Clone(l.NewItems), slices.Clone(l.NewSteps)
		numbers = append(numbers, copied)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return states, numbers
}

// TestListsAreInOrder lists states whose objects and requests come up in another order than that of their names: they
// are listed in the order of these, timers apart from work, and what does not matter to outcomes not at all.
func TestListsAreInOrder(t *testing.T) {
	system := slateWith([]string{"x .hidden"}, hand{core.Description{Name: "z", Initial: []core.Request{"2", "1"}, Sequential: true}, always(func(do asks, r core.Request) core.Result {
		if r == "2" {
			do("put z 1")
			do("put c .")
			do("put b 1")
			return core.Result{RequeueAfter: time.Hour}
		}
		return core.Result{}
	})}, hand{core.Description{Name: "a", Initial: []core.Request{"0"}, Sequential: true}, always(func(do asks, _ core.Request) core.Result {
		return core.Result{RequeueAfter: time.Minute}
	})})
	system.Store = concealing{}
	space := searchSlate(t, system, Options{})
	got, _ := listedBy(t, space.List)
	want, _ := listedBy(t, func(ctx context.Context, n int, show func(*core.Listed) error) error {
		return naive.List(ctx, space, n, show)
	})
	if !slices.Equal(got, want) {
		t.Errorf("it is listed that\n%q\nwant\n%q", got, want)
	}
	if got[0] != "0 work a(0) work z(1) work z(2) z reconciles 1 to 1 z reconciles 2 to 2 a reconciles 0 to 3" {
		t.Errorf("of the first state it is listed that %s", got[0])
	}
	end := got[space.Quiescent()[0]]
	if want := fmt.Sprint(space.Quiescent()[0], " b=1 z=1 timer a(0) timer z(2)"); len(end) < len(want) || end[:len(want)] != want {
		t.Errorf("of the last state it is listed that %s, want %s", end, want)
	}
}

// TestListsOfReducedSearches lists steps of states in which agents are left out, but for one in which all are followed,
// and of merged states whose ends are arranged.
func TestListsOfReducedSearches(t *testing.T) {
	turns := plain.Model{Name: "turns"}
	var start []core.Object
	for _, name := range []string{"x", "y", "z"} {
		v := plain.NewVar[int](name)
		start = append(start, v.Is(0))
		turns.Processes = append(turns.Processes, plain.Process{Name: name, Actions: []plain.Action{{Name: "turn", Do: func(w *plain.World) { v.Set(w, 1-v.Get(w)) }}}})
	}
	turns.Initial = []core.Initial{plain.Start(start...)}
	reduced := searchModel(t, turns, Options{Reducer: oneAtATime{}})
	for name, space := range map[string]*Space{"reduced": reduced, "merged": searchModel(t, first(), Options{Merge: true})} {
		got, _ := listedBy(t, space.List)
		for id := range core.StateID(space.States()) {
			want := fmt.Sprint(id)
			for _, o := range space.Objects(id) {
				want += fmt.Sprint(" ", o.Name, "=", o.Fields)
			}
			for _, e := range space.Edges(id) {
				want += fmt.Sprint(" ", e.Step, " to ", e.To)
			}
			if got[id] != want {
				t.Errorf("%s: it is listed that %s, want %s", name, got[id], want)
			}
		}
	}
	if reduced.full.Empty() || reduced.partial.Empty() || reduced.full.Has(0) == reduced.full.Has(1) {
		t.Errorf("of %d states, all or none are expanded in full", reduced.States())
	}
}

// TestListsOfManyStates lists several sections, by one worker and by some: each number is new once, and numbers are the
// same.
func TestListsOfManyStates(t *testing.T) {
	var first []core.Listed
	for _, workers := range []int{1, 3} {
		space := searchModel(t, grid(20, 30), Options{Workers: workers})
		states, numbers := listedBy(t, space.List)
		steps := 0
		for id, l := range numbers {
			if steps += len(l.NewSteps); l.ID != core.StateID(id) || l.Initial != (id == 0) || l.Cut || len(l.NewItems) > 0 {
				t.Fatalf("state %d is listed as %+v", id, l)
			}
		}
		if len(states) != 21*31 || steps != 2 {
			t.Errorf("%d workers: %d states are listed, and %d steps", workers, len(states), steps)
		}
		if first == nil {
			first = numbers
		}
		if !reflect.DeepEqual(first, numbers) {
			t.Errorf("%d workers list something else", workers)
		}
	}
}
