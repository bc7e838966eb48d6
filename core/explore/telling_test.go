package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
)

// TestStaleStepsAreTold has a step on stale caches say which changes the controller has not received, and how far its caches are behind, and what it does by that.
func TestStaleStepsAreTold(t *testing.T) {
	n, made, changed, gone := plain.NewVar[int]("n"), plain.NewFamily[int]("made").Named("x"), plain.NewFamily[map[string]int]("changed").Named("x"), plain.NewFamily[int]("gone").Named("x")
	seen := plain.NewVar[string]("seen")
	system, err := plain.Model{
		Name:    "stale",
		Initial: []core.Initial{plain.Start(n.Is(0), changed.Is(map[string]int{"a": 1}), gone.Is(1))},
		Processes: []plain.Process{{Name: "writer", Actions: []plain.Action{{Name: "write", Do: func(w *plain.World) {
			switch now := n.Get(w); now {
			case 0:
				made.Set(w, 1)
			case 1:
				changed.Set(w, map[string]int{"a": 2, "b": 2, "c": 2, "d": 2, "e": 2})
			case 2:
				gone.Delete(w)
			default:
				w.Require(false)
			}
			n.Set(w, n.Get(w)+1)
		}}}}},
		Controllers: []plain.Controller{{
			Name: "c", Requests: []core.Request{"r"},
			Watches: []plain.Watch{{Kind: made.Key().Kind, Map: none}, {Kind: changed.Key().Kind, Map: none}, {Kind: gone.Key().Kind, Map: none}},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				_, sees := made.Lookup(w)
				old, still := changed.Get(w), false
				_, still = gone.Lookup(w)
				seen.Set(w, fmt.Sprint(sees, len(old), still))
				return core.Result{}
			},
		}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	o := options(1)
	o.Conditions.Staleness = []explore.Staleness{{Rule: view.Lag(3)}}
	space := search(t, system, o)
	var most core.TraceStep
	for id := range core.StateID(space.States()) {
		for _, e := range space.Edges(id) {
			if e.Step.Kind != core.Reconcile {
				continue
			}
			run, _ := space.Shortest(func(at core.StateID) bool { return at == id })
			trace, err := space.Trace(t.Context(), start(run, id), run, &e.Step)
			if err != nil {
				t.Fatal(err)
			}
			last := trace.Steps[len(trace.Steps)-1]
			if last.From != id || last.To != id || last.Late != e.Late || last.Late != (len(last.Unseen) > 0) || len(trace.Steps) != len(run)+1 {
				t.Errorf("the step %v is told as %+v", e, last)
			}
			for i, step := range trace.Steps[:len(run)] {
				if step.From != run[i].From || step.To != run[i].To || step.Late != run[i].Late {
					t.Errorf("step %d of %v is told as %+v", i+1, run, step)
				}
			}
			if len(last.Unseen) > len(most.Unseen) {
				most = last
			}
		}
	}
	unseen := []string{"changed x was changed: a, b, c, d, …", "gone x was deleted", "made x was created"}
	told := slices.Clone(most.Unseen)
	slices.Sort(told)
	if !slices.Equal(told, unseen) {
		t.Errorf("it has not received %q, want %q", told, unseen)
	}
	var behind []string
	for _, call := range most.Calls {
		for _, lag := range call.Behind {
			behind = append(behind, fmt.Sprint(lag.Kind, " ", lag.Changes, " of ", lag.Of))
		}
	}
	slices.Sort(behind)
	if behind = slices.Compact(behind); !slices.Equal(behind, []string{"changed 1 of 1", "gone 1 of 1", "made 1 of 1"}) {
		t.Errorf("its caches are behind by %q", behind)
	}
	last := most.Calls[len(most.Calls)-1]
	if !last.Wrote || !slices.Equal(last.Creates, []core.Key{seen.Key()}) || last.Handler != "" || slices.ContainsFunc(most.Calls[:len(most.Calls)-1], func(c core.TraceCall) bool { return c.Wrote || len(c.Creates) > 0 }) {
		t.Errorf("its calls are %+v", most.Calls)
	}
	if len(most.Changes) != 1 || most.Changes[0].Key() != seen.Key() || most.Changes[0].Verb != "created" || fmt.Sprint(most.Changes[0].Fields[0].To) != "false 1 true" {
		t.Errorf("it changes %+v", most.Changes)
	}
}

// none has a change of an object put nothing into the work queue.
func none(core.Key) []core.Request { return nil }

// TestMemoryWithinBound has a search end that uses more memory than it may, with what it has found by then, whatever its store is.
func TestMemoryWithinBound(t *testing.T) {
	for _, compact := range []bool{false, true} {
		for workers := 1; workers <= 2; workers++ {
			o := options(workers)
			o.Bounds.Memory, o.Compact = 1, compact
			space := search(t, counters(t, 3, 2), o)
			if !reason(space, "the search reached the memory limit (0 MiB)") || space.States() >= 27 {
				t.Errorf("compact %t, %d workers: %d states, reasons %q", compact, workers, space.States(), space.Reasons())
			}
		}
	}
}
