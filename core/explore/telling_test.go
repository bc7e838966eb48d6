package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
)

// TestStaleStepsAreTold has a step on stale caches say which changes the controller has not received, and how far its
// caches are behind, and what it does by that.
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
				_, still := gone.Lookup(w)
				seen.Set(w, fmt.Sprint(sees, len(changed.Get(w)), still))
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

// TestMemoryWithinBound has a search end that uses more memory than it may, with what it has found by then, whatever
// its store is.
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

// TestWhatStepsDoIsTold has each step of a run say what it changes, what it puts into work queues that was in none, and
// how it ends.
func TestWhatStepsDoIsTold(t *testing.T) {
	x, y := plain.NewFamily[int]("x"), plain.NewFamily[int]("y")
	system, err := plain.Model{
		Name: "told", Initial: []core.Initial{plain.Start(x.At(0).Is(0))},
		Scenario: plain.Scenario{InOrder: true, Actions: []plain.Action{
			{Name: "set", Do: func(w *plain.World) { x.At(0).Set(w, 1); x.At(1).Set(w, 1) }},
			{Name: "drop", Do: func(w *plain.World) { x.At(0).Delete(w) }},
		}},
		Controllers: []plain.Controller{{
			Name: "c", Watches: []plain.Watch{{Kind: "x"}},
			Reconcile: func(w *plain.World, r core.Request) core.Result {
				now, there := x.Named(string(r)).Lookup(w)
				was, known := y.Named(string(r)).Lookup(w)
				switch {
				case !there:
					y.Named(string(r)).Delete(w)
				case !known || was != now:
					y.Named(string(r)).Set(w, now)
					return core.Result{Requeue: true}
				case now == 0:
					return core.Result{RequeueAfter: time.Hour}
				}
				return core.Result{}
			},
		}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	item := func(request core.Request) core.Item { return core.Item{Strategy: "c", Request: request} }
	user := func(name core.Request) core.Step {
		return core.Step{Kind: core.Intervene, Item: core.Item{Strategy: core.User, Request: name}}
	}
	position, err := explore.NewSimulation(system, explore.Conditions{}, options(1).Run, nil).Run(t.Context(), 0, []core.Step{
		{Item: item("0")}, {Item: item("0")}, {Kind: core.Fire, Item: item("0")}, user("set"), {Item: item("1")}, user("drop"), {Item: item("0")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, step := range position.Trace.Steps {
		text := step.Kind + ":"
		for _, change := range step.Changes {
			text += fmt.Sprint(" ", change.Verb, " ", change.Key())
		}
		told = append(told, fmt.Sprint(text, " ", step.Enqueued, " ", step.Result))
	}
	want := []string{
		// What is queued again was queued before.
		"reconcile: created y 0 [] asks to be run again", "reconcile: [] asks to be run again in 1h0m0s", "fire: [c(0)] ", "user: changed x 0 created x 1 [c(1)] ",
		"reconcile: created y 1 [] asks to be run again", "user: deleted x 0 [] ", "reconcile: deleted y 0 [] ",
	}
	if !slices.Equal(told, want) {
		t.Errorf("it is told that\n%s", strings.Join(told, "\n"))
	}
	space := search(t, system, options(1))
	histories := map[string]bool{}
	for id := range core.StateID(space.States()) {
		history := fmt.Sprint(space.History(id))
		histories[history] = true
		_, later := x.At(1).Lookup(space.State(id))
		_, still := x.At(0).Lookup(space.State(id))
		if want := map[bool]map[bool]string{true: {true: "[set]", false: "[set drop]"}, false: {true: "[]"}}[later][still]; history != want {
			t.Errorf("in state %d users have done %s, want %s", id, history, want)
		}
	}
	if len(histories) != 3 {
		t.Errorf("users have done %v", histories)
	}
	if got := fmt.Sprint(position.Work, position.Timers, len(position.Objects)); got != "[c(1)] [] 2" {
		t.Errorf("then there are %s", got)
	}
}
