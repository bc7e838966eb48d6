package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/view"
)

// turning is a model of a process that turns a hand of a clock with so many hours, and of what it does besides.
func turning(hours int, besides func(*plain.World)) plain.Model {
	hand := plain.NewVar[int]("hand")
	return plain.Model{Name: "clock", Initial: []core.Initial{plain.Start(hand.Is(0))}, Processes: []plain.Process{{Name: "clock", Actions: []plain.Action{{Name: "turn", Do: func(w *plain.World) {
		hand.Set(w, (hand.Get(w)+1)%hours)
		besides(w)
	}}}}}}
}

// around returns the run that goes round all states of a clock once.
func around(space *Space) core.Run {
	var run core.Run
	for range space.States() {
		run = append(run, slices.Clone(space.Edges(run.End(0)))...)
	}
	return run
}

// TestReplay takes the steps of a trace again, in the system as it was, and in others.
func TestReplay(t *testing.T) {
	nothing := func(*plain.World) {}
	space := searchModel(t, turning(3, nothing), Options{})
	trace, err := space.Trace(t.Context(), 0, around(space), nil)
	if err != nil || len(trace.Steps) != 3 {
		t.Fatal(trace, err)
	}
	changed := func(change func(*core.Trace)) core.Trace {
		c := trace
		c.Steps, c.Initial = slices.Clone(trace.Steps), slices.Clone(trace.Initial)
		change(&c)
		return c
	}
	same := changed(func(*core.Trace) {})
	inbox := plain.NewInbox[string]("nobody")
	for name, test := range map[string]struct {
		trace  core.Trace
		model  plain.Model
		step   int
		reason string
	}{
		"as it was":                 {same, turning(3, nothing), 0, ""},
		"a cycle":                   {changed(func(c *core.Trace) { c.CycleStart = 0 }), turning(3, nothing), 0, ""},
		"a part of a cycle":         {changed(func(c *core.Trace) { c.CycleStart, c.Steps = 0, c.Steps[:2] }), turning(3, nothing), 2, "the repeated steps no longer lead back to where they began"},
		"a cycle that begins later": {changed(func(c *core.Trace) { c.CycleStart = 1 }), turning(3, nothing), 3, "the repeated steps no longer lead back to where they began"},
		"another start":             {changed(func(c *core.Trace) { c.Initial = nil }), turning(3, nothing), 0, "the system no longer starts with these objects"},
		"another controller":        {changed(func(c *core.Trace) { c.Steps[1].Controller = "watch" }), turning(3, nothing), 2, `there is no longer a controller "watch"`},
		"a step of no kind":         {changed(func(c *core.Trace) { c.Steps[1].Kind = "dream" }), turning(3, nothing), 2, `there is no step of the kind "dream"`},
		"another end":               {same, turning(2, nothing), 2, `the call was`},
		"a call more":               {same, turning(3, func(w *plain.World) { _ = plain.NewVar[int]("hand").Get(w) }), 1, "it now makes the call"},
		"what is not modelled":      {same, turning(3, func(w *plain.World) { inbox.Send(w, "x") }), 1, `and now ends with "unsupported call: send to nobody: x`},
		"what is required":          {same, turning(3, func(w *plain.World) { w.Require(false) }), 1, `the step "clock: turn" is no longer possible`},
	} {
		system, err := test.model.System()
		if err != nil {
			t.Fatal(err)
		}
		deviation, err := Replay(t.Context(), system, Conditions{}, test.trace, behavior.Limits{Deadline: time.Second, Calls: 100}, nil)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case deviation == nil && test.reason != "":
			t.Errorf("%s: it does not deviate", name)
		case deviation != nil && (test.reason == "" || deviation.Step != test.step || !strings.Contains(deviation.Reason, test.reason)):
			t.Errorf("%s: in step %d, %s; want step %d, %s", name, deviation.Step, deviation.Reason, test.step, test.reason)
		}
	}
}

// TestCyclesAreFollowed goes round cycles of several lengths with one instance: twelve times, but with no more than 500
// steps if it is not twice.
func TestCyclesAreFollowed(t *testing.T) {
	for _, test := range []struct{ hours, stem, rounds int }{{1, 0, 12}, {3, 0, 12}, {3, 3, 12}, {50, 0, 10}, {50, 50, 9}, {100, 0, 5}, {300, 0, 2}} {
		runs := 0
		space := searchModel(t, turning(test.hours, func(*plain.World) { runs++ }), Options{})
		cycle := around(space)
		runs = 0
		if err := space.Follow(0, cycle[:test.stem], cycle); err != nil {
			t.Fatal(err)
		}
		if want := test.stem + test.rounds*test.hours; runs != want {
			t.Errorf("%+v: code is run %d times, want %d", test, runs, want)
		}
		runs = 0
		if err := space.Follow(0, nil, nil); err != nil || runs > 0 {
			t.Errorf("%+v: what has no steps is followed: %v", test, err)
		}
		if err := space.Follow(core.StateID(space.States()), nil, cycle); err != nil || runs > 0 {
			t.Errorf("%+v: what begins nowhere is followed: %v", test, err)
		}
	}
}

// TestTracesSayWhatIsStale tells a run on which a cache is listed anew now and then. A reconcile behind a change that
// was not listed is told by how many it is behind, and what it has not seen; behind the list nothing is stale until the
// next change, its own: what is tried then is behind by one of two changes.
func TestTracesSayWhatIsStale(t *testing.T) {
	space := searchModel(t, mirroring(), Options{Conditions: Conditions{Staleness: []Staleness{{Rule: view.Relist()}}}})
	var run core.Run
	for _, wanted := range []string{"source", "mirror copy", "mirror ", "mirror copy"} {
		edges := space.Edges(run.End(0))
		i := slices.IndexFunc(edges, func(e core.Edge) bool {
			return e.Step.Item.Strategy == wanted || fmt.Sprint(e.Step.Item.Strategy, " ", e.Step.Item.Request) == wanted
		})
		if i < 0 {
			t.Fatalf("%s is not possible: %v", wanted, edges)
		}
		run = append(run, edges[i])
	}
	trace, err := space.Trace(t.Context(), 0, run, &run[3].Step)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range trace.Steps {
		text := fmt.Sprint(s.Kind, " ", s.Controller, " ", s.Unseen, s.Enqueued)
		for _, c := range s.Calls {
			text += fmt.Sprint("; ", c.Call, " ", c.Behind)
		}
		for _, c := range s.Changes {
			text += fmt.Sprint("; ", c.Verb, " ", c.Name)
		}
		got = append(got, text)
	}
	want := []string{
		"act source [] [log(changed)]; read from []; write from := 1 []; send to log: changed []; changed from",
		"reconcile mirror [from was changed] []; read from [{ 1 1}]; write to := 0 [{ 1 1}]",
		"deliver mirror [] [mirror(copy)]",
		"reconcile mirror [] []; read from []; write to := 1 []; changed to",
		"probe mirror [] []; read from [{ 1 2}]; write to := 1 [{ 1 2}]",
	}
	for i, line := range got {
		if i >= len(want) || line != want[i] {
			t.Errorf("step %d is told so: %s", i+1, line)
		}
	}
	if len(got) != len(want) || trace.CycleStart != -1 || len(trace.Initial) != 2 {
		t.Errorf("%d steps are told, want %d; from %v", len(got), len(want), trace.Initial)
	}
}
