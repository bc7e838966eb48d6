package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/view"
)

// minding is a controller that keeps what it was told last, and how its last run went. It watches words. A run looks at
// a and puts b and d; an event of a has it put c.
func minding(name string) hand {
	return hand{core.Description{Name: name, Watches: []core.Kind{"word"}, Initial: []core.Request{"go"}, Sequential: true}, func() hired {
		kept := map[string]string{}
		return hired{
			handle: func(do asks, e core.Event) []core.Request {
				kept["told"] = e.Key.Name
				if e.Key.Name != "a" {
					return nil
				}
				if !e.Initial {
					do("put c %s", e.New.Canonical())
				}
				return []core.Request{"go"}
			},
			reconcile: func(do asks, _ core.Request) core.Result {
				kept["run"] = "under way"
				now := do("look a")
				if do("put b %s", now) == "refused" {
					kept["run"] = "failed"
					return core.Result{}
				}
				kept["run"] = "half way"
				do("put d %s", now)
				kept["run"] = "saw " + now
				return core.Result{}
			},
			memory: func() map[string]string { return maps.Clone(kept) },
		}
	}}
}

// stepText writes a step of a trace as a line.
func stepText(step core.TraceStep) string {
	text := step.Kind + " " + step.Controller
	if step.Crashes {
		text += " crashes"
	}
	for _, c := range step.Calls {
		text += "; " + c.Handler + ":" + c.Call + " " + c.Response
		if c.Fault != "" {
			text += " (" + c.Fault + ")"
		}
	}
	for _, e := range step.Events {
		text += fmt.Sprintf("; event %s %s %d-%d of %d behind %d %s", e.Controller, e.Name, e.From, e.To, e.Of, e.Calls, e.Result)
	}
	for _, m := range step.Memory {
		text += "; " + m.Controller + " " + m.String()
	}
	if step.Result != "" {
		text += "; " + step.Result
	}
	return text
}

// wantSteps compares the steps of a trace with lines.
func wantSteps(t *testing.T, name string, steps []core.TraceStep, want ...string) {
	t.Helper()
	var got []string
	for _, step := range steps {
		got = append(got, stepText(step))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: it is told that\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// runOf returns a run from a state by steps of which each has a text in it.
func runOf(t *testing.T, space *Space, at core.StateID, texts ...string) core.Run {
	t.Helper()
	var run core.Run
	for _, text := range texts {
		edges := space.Edges(at)
		i := slices.IndexFunc(edges, func(e core.Edge) bool { return strings.Contains(e.Step.String(), text) })
		if i < 0 {
			t.Fatalf("%s is not possible: %v", text, edges)
		}
		run, at = append(run, edges[i]), edges[i].To
	}
	return run
}

// heedless is a controller that watches words, and keeps nothing.
func heedless(name string) hand {
	return hand{core.Description{Name: name, Watches: []core.Kind{"word"}, Sequential: true}, func() hired {
		return hired{
			handle:    func(asks, core.Event) []core.Request { return nil },
			reconcile: func(asks, core.Request) core.Result { return core.Result{} },
		}
	}}
}

// TestTracesTellMemory tells runs of a controller with memory: what it keeps, what its event handlers got and wrote,
// and what it loses in a crash, between two runs or in the midst of one.
func TestTracesTellMemory(t *testing.T) {
	remembers := Conditions{Crashes: 1, Failures: 1, Remembering: []string{"minds"}}
	perCall, lags := remembers, remembers
	perCall.Granularity = PerCall
	lags.Staleness = []Staleness{{Controller: "minds", Rule: view.Lag(2)}}
	searched := func(c Conditions) *Space {
		system := slateWith([]string{"a 0"}, heedless("heedless"), minding("minds"), settles("sets", "a", "1"))
		system.Store = slate{fails: true}
		return searchSlate(t, system, Options{Conditions: c})
	}
	whole, calls, late := searched(remembers), searched(perCall), searched(lags)
	for _, test := range []struct {
		name  string
		space *Space
		steps []string
		want  []string
	}{
		{"a run", whole, []string{"minds reconciles go"}, []string{
			"reconcile minds; :look a 0; :put b 0 ok; :put d 0 ok; event minds b 0-1 of 2 behind 3 ; event minds d 1-2 of 2 behind 3 ; minds run = saw 0; minds told: a → b; minds told: b → d",
		}},
		{"what others write", whole, []string{"sets reconciles go", "minds reconciles go"}, []string{
			"reconcile sets; :put a 1 ok; minds:put c 1 ok; event minds a 0-1 of 1 behind 1 enqueues [go]; event minds c 1-2 of 2 behind 2 ; minds told: a → c",
			"reconcile minds; :look a 1; :put b 1 ok; :put d 1 ok; event minds b 2-3 of 4 behind 3 ; event minds d 3-4 of 4 behind 3 ; minds run = saw 1; minds told: c → b; minds told: b → d",
		}},
		{"a call fails", whole, []string{"\"put b 0\", fails"}, []string{"reconcile minds; :look a 0; :put b 0 refused (refused); minds run = failed"}},
		{"it crashes in a run", whole, []string{"it crashes after \"put b 0\""}, []string{
			"reconcile minds crashes; :look a 0; :put b 0 ok; event minds a 1-1 of 1 behind 2 enqueues [go]; event minds b 1-1 of 1 behind 2 ; minds loses run = half way; minds loses told = a, restarts with b",
		}},
		{"it crashes between runs", whole, []string{"sets reconciles go", "minds crashes and restarts"}, []string{
			"reconcile sets; :put a 1 ok; minds:put c 1 ok; event minds a 0-1 of 1 behind 1 enqueues [go]; event minds c 1-2 of 2 behind 2 ; minds told: a → c",
			"restart minds; event minds a 2-2 of 2 behind 0 enqueues [go]; event minds c 2-2 of 2 behind 0 ",
		}},
		{"it crashes behind a run", whole, []string{"minds reconciles go", "minds crashes and restarts"}, []string{
			"reconcile minds; :look a 0; :put b 0 ok; :put d 0 ok; event minds b 0-1 of 2 behind 3 ; event minds d 1-2 of 2 behind 3 ; minds run = saw 0; minds told: a → b; minds told: b → d",
			"restart minds; event minds a 2-2 of 2 behind 0 enqueues [go]; event minds b 2-2 of 2 behind 0 ; event minds d 2-2 of 2 behind 0 ; minds loses run = saw 0",
		}},
		{"call by call", calls, []string{"sets starts", "sets continues with go"}, []string{
			"begin sets", "call sets; :put a 1 ok; minds:put c 1 ok; event minds a 0-1 of 1 behind 1 enqueues [go]; event minds c 1-2 of 2 behind 2 ; minds told: a → c",
		}},
		{"it crashes in a run, call by call", calls, []string{"sets starts", "sets crashes"}, []string{"begin sets", "restart sets"}},
		{"late", late, []string{"sets reconciles go", "minds reconciles go", "minds receives"}, []string{
			"reconcile sets; :put a 1 ok",
			"reconcile minds; :look a 0; :put b 0 ok; :put d 0 ok; minds:put c 1 ok; event minds a 0-1 of 3 behind 3 enqueues [go]; event minds b 1-2 of 4 behind 4 ; minds run = saw 0; minds told: a → b",
			"deliver minds; event minds d 2-3 of 4 behind 0 ; minds told: b → d",
		}},
	} {
		space := test.space
		space.executor.Load(space.row(core.StateID(space.States() - 1))) // wherever it was before
		trace, err := space.Trace(t.Context(), 0, runOf(t, space, 0, test.steps...), nil)
		if err != nil || space.executor.Listener != nil {
			t.Fatalf("%s: %v, and somebody listens: %v", test.name, err, space.executor.Listener)
		}
		if got := fmt.Sprint(trace.Memory, trace.Events); got != "[told = a] [{minds word  a 0 0 0 false true 0 enqueues [go]}]" {
			t.Errorf("%s: at the start it is told that %s", test.name, got)
		}
		wantSteps(t, test.name, trace.Steps, test.want...)
	}
}

// TestTracesBeginAnywhere tells what is kept where a run begins that does not begin as the system does, wherever
// somebody has looked before; and what a crash loses of a controller that is alone.
func TestTracesBeginAnywhere(t *testing.T) {
	space := searchSlate(t, slateWith([]string{"a 0"}, minding("minds")), Options{Conditions: Conditions{Crashes: 1, Remembering: []string{"minds"}}})
	run := runOf(t, space, 0, "minds reconciles go")
	for id, want := range map[core.StateID]string{0: "[told = a] 1", run[0].To: "[run = saw 0 told = d] 0"} {
		space.executor.Load(space.row(run[0].To - id))
		trace, err := space.Trace(t.Context(), id, nil, nil)
		if got := fmt.Sprint(trace.Memory, " ", len(trace.Events)); err != nil || got != want || space.executor.Listener != nil {
			t.Errorf("in state %d it is told that %s, want %s; %v listens: %v", id, got, want, space.executor.Listener, err)
		}
	}
	trace, err := space.Trace(t.Context(), 0, runOf(t, space, 0, "it crashes after"), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantSteps(t, "a crash", trace.Steps, "reconcile minds crashes; :look a 0; :put b 0 ok; event minds a 1-1 of 1 behind 2 enqueues [go]; event minds b 1-1 of 1 behind 2 ; minds loses run = half way; minds loses told = a, restarts with b")
}
