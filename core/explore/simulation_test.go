package explore_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestSimulationOffersWhatASearchFinds follows random runs of random systems, and wants the objects and the steps of
// each state on the way to be those that a full search has stored.
func TestSimulationOffersWhatASearchFinds(t *testing.T) {
	met := map[core.StepKind]int{}
	last := uint64(80)
	if testing.Short() {
		last = 40
	}
	for seed := uint64(1); seed <= last; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		system, err := random.Loose(seed)
		if err != nil {
			t.Fatal(err)
		}
		o := options(1)
		o.Conditions, _ = conditionsOf(r, system)
		o.Bounds.States = 2_000
		space, err := explore.Search(t.Context(), system, o)
		if err != nil {
			t.Fatal(err)
		}
		simulation := explore.NewSimulation(system, o.Conditions, o.Run, nil)
		at := space.Initial()[0]
		var steps []core.Step
		for range 12 {
			position, err := simulation.Run(t.Context(), 0, steps)
			if err != nil {
				t.Fatalf("seed %d, steps %v: %v", seed, steps, err)
			}
			if got, want := position.Objects, space.Objects(at); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, steps %v: the objects are %v, want %v", seed, steps, got, want)
			}
			if len(position.Trace.Steps) != len(steps) {
				t.Fatalf("seed %d: %d of %d steps are in the trace", seed, len(position.Trace.Steps), len(steps))
			}
			if space.Cut(at) {
				break // the search did not look at all of its steps
			}
			edges := space.Edges(at)
			var want, got []core.Step
			for _, e := range edges {
				want = append(want, e.Step)
			}
			for _, c := range position.Choices {
				if c.Stopped == "" {
					got = append(got, c.Edge.Step)
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, steps %v: the choices are %v, want %v", seed, steps, got, want)
			}
			if len(edges) == 0 {
				break
			}
			next := edges[r.IntN(len(edges))]
			met[next.Step.Kind]++
			steps, at = append(slices.Clip(steps), next.Step), next.To
		}
	}
	for _, kind := range []core.StepKind{core.Reconcile, core.Deliver, core.Restart, core.Fire, core.Ask} {
		if met[kind] == 0 {
			t.Errorf("no step %q was chosen", kind.Name())
		}
	}
}

// TestSimulationRefuses wants clear errors for what cannot be done.
func TestSimulationRefuses(t *testing.T) {
	system := counters(t, 1, 1)
	simulation := explore.NewSimulation(system, explore.Conditions{}, options(1).Run, nil)
	if _, err := simulation.Run(t.Context(), 7, nil); err == nil || !strings.Contains(err.Error(), "there is no initial state 7") {
		t.Errorf("got %v", err)
	}
	nobody := core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "nobody", Request: "r"}}
	if _, err := simulation.Run(t.Context(), 0, []core.Step{nobody}); err == nil || !strings.Contains(err.Error(), "step 1: ") {
		t.Errorf("got %v", err)
	}
	position, err := simulation.Run(t.Context(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := position.Choices[0].Edge.Step
	if _, err := simulation.Run(t.Context(), 0, []core.Step{first, first}); err == nil || !strings.Contains(err.Error(), "no longer possible") {
		t.Errorf("got %v", err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := simulation.Run(ended, 0, []core.Step{first}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := simulation.Run(t.Context(), 0, []core.Step{first}); err != nil {
		t.Errorf("after an interruption: %v", err)
	}
}
