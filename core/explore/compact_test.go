package explore_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/naive"
)

// TestCompactFindsWhatTheTwinFinds searches random systems without keeping their states, and looks at all of them
// afterwards.
func TestCompactFindsWhatTheTwinFinds(t *testing.T) {
	eachSystem(t, *systems/8, func(t *testing.T, system *core.System, graph *naive.Graph) {
		want := summaryOfTwin(graph)
		for workers := 1; workers <= 2; workers++ {
			o := options(workers)
			o.Compact = true
			space := search(t, system, o)
			if d := differ(summaryOf(t, space, system.Properties[0]), want); d != "" {
				t.Fatalf("%d workers: %s", workers, d)
			}
			for id := range core.StateID(space.States()) {
				run, found := space.Shortest(func(other core.StateID) bool { return other == id })
				if !found {
					t.Fatalf("there is no run to state %d", id)
				}
				if _, err := space.Trace(context.Background(), start(run, id), run, nil); err != nil {
					t.Fatalf("the run to state %d: %v", id, err)
				}
			}
			o.Bounds.States = max(len(graph.States)/2, 1)
			lookAround(t, search(t, system, o), graph)
		}
	})
}

func start(run core.Run, id core.StateID) core.StateID {
	if len(run) > 0 {
		return run[0].From
	}
	return id
}

// TestCompactOnManyStates looks at the states of a larger system in an order that is no help.
func TestCompactOnManyStates(t *testing.T) {
	o := options(1)
	whole := search(t, counters(t, 9, 2), o)
	o.Compact = true
	compact := search(t, counters(t, 9, 2), o)
	same(t, compact, whole)
	n := core.StateID(whole.States())
	for i := range n {
		id := i * 7919 % n
		if got, want := compact.Fingerprint(id), whole.Fingerprint(id); got != want {
			t.Fatalf("state %d is %v, want %v", id, got, want)
		}
	}
	if odds, want := compact.Odds(), float64(n)*float64(n-1)/math.Pow(2, 65); math.Abs(odds/want-1) > 1e-9 || whole.Odds() != 0 {
		t.Errorf("the odds are %g and %g, want %g and 0", odds, whole.Odds(), want)
	}
}

func TestCompactNeedsBreadthFirst(t *testing.T) {
	for _, order := range []explore.Order{explore.DepthFirst, explore.RandomWalks} {
		o := options(1)
		o.Compact, o.Order = true, order
		if _, err := explore.Search(context.Background(), counters(t, 2, 1), o); err == nil || !strings.Contains(err.Error(), "breadth-first") {
			t.Errorf("order %d: got the error %v", order, err)
		}
	}
}
