package explore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/naive"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/reduction"
)

// lister is [core.Graph.List].
type lister func(ctx context.Context, n int, show func(*core.Listed) error) error

// listed returns what a list says of each state, with what its numbers stand for.
func listed(t *testing.T, list lister, n int) []string {
	t.Helper()
	var states []string
	var objects []core.TraceObject
	var items []core.Item
	var steps []core.Edge
	err := list(t.Context(), n, func(l *core.Listed) error {
		objects, items, steps = append(objects, l.NewObjects...), append(items, l.NewItems...), append(steps, l.NewSteps...)
		text := fmt.Sprintln(l.ID, l.Initial, l.Cut, l.Quiescent)
		for _, number := range l.Objects {
			text += fmt.Sprintf("  object %+v\n", objects[number])
		}
		for _, number := range l.Work {
			text += fmt.Sprintf("  work %+v\n", items[number])
		}
		for _, number := range l.Timers {
			text += fmt.Sprintf("  timer %+v\n", items[number])
		}
		for _, step := range l.Steps {
			text += fmt.Sprintf("  step %+v to %d\n", steps[step.Step], step.To)
		}
		states = append(states, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return states
}

// TestListTwin compares lists with what the graph says when it is asked for one state after the other.
func TestListTwin(t *testing.T) {
	eachSystem(t, max(1, *systems/4), func(t *testing.T, system *core.System, _ *naive.Graph) {
		searched := 0
		for _, o := range []explore.Options{
			{}, {Workers: 3}, {Workers: 2, Reducer: reduction.Stubborn{}}, {Workers: 2, Compact: true},
			{Workers: 2, Bounds: explore.Bounds{States: 20}}, {Workers: 2, Conditions: explore.Conditions{Crashes: 1, Failures: 1}},
			{Workers: 2, Reducer: reduction.Stubborn{}, Conditions: explore.Conditions{Staleness: []explore.Staleness{{Rule: view.Lag(1)}}}},
		} {
			o.Run = options(1).Run
			searches := *system
			if o.Conditions.Failures > 0 {
				searches.Store = random.Failing{Store: system.Store}
			}
			space, err := explore.Search(t.Context(), &searches, o)
			if err != nil {
				continue // not under these conditions
			}
			searched++
			for _, n := range []int{300, space.States() / 2} {
				twin := func(ctx context.Context, n int, show func(*core.Listed) error) error {
					return naive.List(ctx, space, n, show)
				}
				got, want := listed(t, space.List, n), listed(t, twin, n)
				if len(got) != len(want) {
					t.Fatalf("%+v: %d states are listed, want %d", o, len(got), len(want))
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%+v: listed is\n%swant\n%s", o, got[i], want[i])
					}
				}
			}
		}
		if searched < 4 {
			t.Errorf("only %d searches were possible", searched)
		}
	})
}

// TestListInOrder lists with different numbers of workers: the very numbers are the same.
func TestListInOrder(t *testing.T) {
	var want string
	for _, workers := range []int{1, 2, 5} {
		space := search(t, counters(t, 6, 2), options(workers))
		got := ""
		err := space.List(t.Context(), space.States(), func(l *core.Listed) error {
			got += fmt.Sprintf("%+v\n", *l)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d workers list something else than 1", workers)
		}
	}
}

// TestListStops ends lists: by the context, and by whom the states are shown to.
func TestListStops(t *testing.T) {
	space := search(t, counters(t, 8, 2), options(2))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	shown := 0
	err := space.List(ctx, space.States(), func(*core.Listed) error {
		if shown++; shown == 1000 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || shown != 1000 {
		t.Errorf("%d states were shown, and the error is %v", shown, err)
	}
	full := errors.New("the disk is full")
	shown = 0
	began := time.Now()
	err = space.List(t.Context(), space.States(), func(*core.Listed) error {
		shown++
		return full
	})
	if !errors.Is(err, full) || shown != 1 {
		t.Errorf("%d states were shown, and the error is %v", shown, err)
	}
	if elapsed := time.Since(began); elapsed > time.Second {
		t.Errorf("it took %s to stop", elapsed)
	}
}
