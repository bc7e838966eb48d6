package explore

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/random"
)

// told returns the trace of a run of a system of hands, of which each step has a text in it.
func toldRun(t *testing.T, system *core.System, c Conditions, texts ...string) core.Trace {
	t.Helper()
	space := searchSlate(t, system, Options{Conditions: c})
	trace, err := space.Trace(t.Context(), 0, runOf(t, space, 0, texts...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// TestReplaysChangeNothing replays a trace with all that there is to tell: the trace is as it was, and each step is
// logged, and what is learned.
func TestReplaysChangeNothing(t *testing.T) {
	system := slateWith([]string{"a 0"}, minding("minds"), settles("sets", "a", "1"))
	system.Store = slate{fails: true}
	c := Conditions{Failures: 1, Remembering: []string{"minds"}, Staleness: []Staleness{{Controller: "minds", Rule: view.Relist()}}}
	texts := []string{"sets reconciles go", `call 2, "put b 0", fails`}
	trace, again := toldRun(t, system, c, texts...), toldRun(t, system, c, texts...)
	if len(trace.Steps[1].Calls[0].Behind) == 0 || trace.Steps[1].Calls[1].Fault == "" {
		t.Fatalf("there is not much to tell: %+v", trace.Steps)
	}
	var log bytes.Buffer
	logger := hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Trace, DisableTime: true})
	if d, err := Replay(t.Context(), system, c, trace, slateLimits, logger); d != nil || err != nil {
		t.Fatalf("it deviates: %+v, %v", d, err)
	}
	if !reflect.DeepEqual(trace, again) {
		t.Error("a trace is another one behind its replay")
	}
	for _, line := range []string{"a step is replayed: step=1 controller=sets request=go", "a step is replayed: step=2 controller=minds request=go", "a reconcile was learned: controller=sets request=go"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("%q is not logged:\n%s", line, log.String())
		}
	}
}

// sticky is a controller that does something else in its second run, by what it keeps.
func sticky(name string) hand {
	return goes(name, func() hired {
		ran := map[string]string{}
		return hired{
			reconcile: func(do asks, _ core.Request) core.Result {
				if ran["once"] == "" {
					ran["once"] = "yes"
					do("put b 1")
					return core.Result{Requeue: true}
				}
				do("put b 2")
				return core.Result{}
			},
			memory: func() map[string]string { return maps.Clone(ran) },
		}
	})
}

// TestReplaysFindOutWhoRemembers replays a run of a controller of which it is not known beforehand that it keeps
// memory.
func TestReplaysFindOutWhoRemembers(t *testing.T) {
	system := slateWith(nil, sticky("sticky"))
	trace := toldRun(t, system, Conditions{}, "sticky", "sticky")
	wantSteps(t, "the run", trace.Steps, "reconcile sticky; :put b 1 ok; sticky once = yes; asks to be run again", "reconcile sticky; :put b 2 ok")
	if d, err := Replay(t.Context(), system, Conditions{}, trace, slateLimits, nil); d != nil || err != nil {
		t.Errorf("it deviates: %+v, %v", d, err)
	}
}

// TestReplaysFindMemoryAtTheStart replays a trace that says something else of what is kept at the start.
func TestReplaysFindMemoryAtTheStart(t *testing.T) {
	c := Conditions{Remembering: []string{"minds"}}
	system := slateWith([]string{"a 0"}, minding("minds"))
	trace := toldRun(t, system, c, "minds")
	other := "b"
	trace.Memory[0].To = &other
	d, err := Replay(t.Context(), system, c, trace, slateLimits, nil)
	if err != nil || d == nil || d.Step != 0 || !strings.Contains(d.Reason, `the memory of minds is different: it was "told = b", and is now "told = a"`) {
		t.Errorf("it deviates: %+v, %v", d, err)
	}
}

// TestReplaysFail has replays end with an error: where a set-up fails, the context ends, the trace cannot be written,
// or code does something else when a step runs again.
func TestReplaysFail(t *testing.T) {
	build := func() *core.System {
		return slateWith([]string{"a 0"}, settles("sets", "a", "1"), settles("sets too", "b", "1"))
	}
	trace := toldRun(t, build(), Conditions{}, "sets reconciles", "sets too reconciles")
	replay := func(ctx context.Context, system *core.System, trace core.Trace) error {
		d, err := Replay(ctx, system, Conditions{}, trace, slateLimits, nil)
		if err == nil && d != nil {
			t.Errorf("it deviates: %+v", d)
		}
		return err
	}
	system := build()
	made, failing := countedIn(system)
	if err := replay(t.Context(), system, trace); err != nil {
		t.Fatal(err)
	}
	for at, all := int64(1), made.Load(); at <= all; at += max(1, all/20) {
		made.Store(0)
		failing.Store(at)
		if err := replay(t.Context(), system, trace); made.Load() >= at && !errors.Is(err, errFails) {
			t.Errorf("of %d set-ups, number %d fails, and the error is %v", all, at, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := replay(ended, build(), trace); !errors.Is(err, context.Canceled) {
		t.Errorf("behind the end, the error is %v", err)
	}
	unwritten := trace
	unwritten.Initial = []core.TraceObject{{Name: "a", Fields: math.NaN()}}
	if d, err := Replay(t.Context(), build(), Conditions{}, unwritten, slateLimits, nil); err == nil || !strings.Contains(err.Error(), "the initial objects of the trace: ") {
		t.Errorf("with what cannot be written, it deviates: %+v, %v", d, err)
	}
	// Code may do something else in the run that makes sure.
	turned := false
	turns := slateWith(nil, goes("turns", always(func(do asks, _ core.Request) core.Result {
		if turned && makesSure() {
			do("put b 2")
		}
		do("put b 1")
		return core.Result{}
	})))
	once := toldRun(t, turns, Conditions{}, "turns")
	if err := replay(t.Context(), turns, once); err != nil {
		t.Fatal(err)
	}
	turned = true
	if err := replay(t.Context(), turns, once); err == nil || !strings.Contains(err.Error(), "behaved differently when the step ran again") {
		t.Errorf("where code does something else when a step runs again, the error is %v", err)
	}
}

// makesSure reports whether somebody makes sure that a step happens. The goroutine of a run may be another one.
func makesSure() bool {
	stacks := make([]byte, 1<<16)
	return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*traceBuilder).again(")
}

// TestProbesAreReplayed replays a trace with a step that nothing asked for.
func TestProbesAreReplayed(t *testing.T) {
	system := slateWith([]string{"a 0"}, settles("sets", "a", "1"))
	space := searchSlate(t, system, Options{})
	run := runOf(t, space, 0, "sets")
	trace, err := space.Trace(t.Context(), 0, run, &run[0].Step)
	if err != nil || trace.Steps[1].Kind != probed {
		t.Fatalf("%+v: %v", trace.Steps, err)
	}
	if d, err := Replay(t.Context(), system, Conditions{}, trace, slateLimits, nil); d != nil || err != nil {
		t.Errorf("it deviates: %+v, %v", d, err)
	}
}

// TestDrawsAreReplayed replays traces in which controllers draw values that follow from seeds, without knowing
// beforehand who does.
func TestDrawsAreReplayed(t *testing.T) {
	drew := 0
	for seed := uint64(0); drew < 2; seed++ {
		system, err := random.Drawing(seed)
		if err != nil {
			t.Fatal(err)
		}
		space, err := Search(t.Context(), system, Options{Workers: 1, Bounds: Bounds{States: 60}, Run: slateLimits})
		if err != nil {
			t.Fatal(err)
		}
		goal := core.StateID(space.States() - 1)
		run, _ := space.Shortest(func(id core.StateID) bool { return id == goal })
		if len(run) == 0 {
			continue
		}
		trace, err := space.Trace(t.Context(), run[0].From, run, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(trace.Steps, func(step core.TraceStep) bool { return step.Seed != 0 && len(step.Changes) > 0 }) {
			continue
		}
		drew++
		if d, err := Replay(t.Context(), system, Conditions{}, trace, slateLimits, nil); d != nil || err != nil {
			t.Errorf("seed %d: it deviates: %+v, %v", seed, d, err)
		}
	}
}

// TestWhatCannotBeWrittenDiffers compares what cannot be written, or read: it is not the same.
func TestWhatCannotBeWrittenDiffers(t *testing.T) {
	odd := core.TraceStep{Changes: []core.TraceChange{{Name: "a", Fields: []core.FieldChange{{To: math.NaN()}}}}}
	if got := differs(odd, odd); got != "it changes other objects or enqueues other requests than before" {
		t.Errorf("a step that cannot be written differs from itself: %q", got)
	}
	for _, test := range []struct {
		a, b string
		want bool
	}{{"{", "[", false}, {"{", "{", true}, {`{"a":1,"b":2}`, `{"b":2.0, "a":1}`, true}, {`{"a":1}`, `{"a":2}`, false}} {
		if got := equalJSON([]byte(test.a), []byte(test.b)); got != test.want {
			t.Errorf("%s and %s are the same: %t", test.a, test.b, got)
		}
	}
}
