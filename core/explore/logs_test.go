package explore_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
)

// talker is a controller that is given its recorder.
type talker struct {
	name      string
	handle    func(core.EffectRecorder, core.Event)
	reconcile func(core.EffectRecorder)
}

func (w talker) Describe() core.Description {
	d := core.Description{Name: w.name, Initial: []core.Request{"r"}}
	if w.handle != nil {
		d.Watches = []core.Kind{"note"}
	}
	return d
}

func (w talker) New() (core.Instance, error) { return w, nil }

func (w talker) Handle(r core.EffectRecorder, e core.Event) []core.Request {
	w.handle(r, e)
	return nil
}

func (w talker) Reconcile(r core.EffectRecorder, _ core.Request) core.Result {
	w.reconcile(r)
	return core.Result{}
}

// says logs a line.
func says(r core.EffectRecorder, message string, pairs ...any) {
	r.(core.LogRecorder).Log(core.LogLineOf("info", "", message, pairs...))
}

// logging is what controllers log in the steps of a run to the end.
type logging struct {
	name        string
	calls       bool // whether each is a step
	controllers []talker
	want        [][]string // of each step
}

func TestLogsOfSteps(t *testing.T) {
	var runs atomic.Int64 // of all instances
	handled := func(r core.EffectRecorder, e core.Event) {
		says(r, "it is "+e.New.Canonical())
	}
	quiet := func(core.EffectRecorder) {}
	for _, test := range []logging{
		{"none", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) { r.Do(call("put n 1")) }}}, [][]string{nil}},
		{"around a call", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			says(r, "before")
			r.Do(call("put n 1"))
			says(r, "after")
		}}}, [][]string{{"0 info before", "1 info after"}}},
		{"between steps", true, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			says(r, "first")
			r.Do(call("put n 1"))
			says(r, "second")
			r.Do(call("put m 1"))
			says(r, "third")
		}}}, [][]string{nil, {"0 info first", "1 info second"}, {"1 info third"}, nil}},
		{"of event handlers, after those of the reconcile", false, []talker{
			{name: "a", reconcile: func(r core.EffectRecorder) {
				says(r, "puts")
				r.Do(call("put n 1"))
				r.Do(call("put n 2"))
				says(r, "has put")
			}},
			{name: "b", handle: handled, reconcile: quiet},
		}, [][]string{{"0 info puts", "2 info has put", "0 info it is 1 by the event handler of b", "0 info it is 2 by the event handler of b"}, nil}},
		{"in goroutines", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			var all sync.WaitGroup
			for i := range 2 {
				all.Go(func() { says(r, strconv.Itoa(i)) })
			}
			all.Wait()
			r.Do(call("put n 1"))
		}}}, [][]string{{"0 info 0 in another goroutine", "0 info 1 in another goroutine"}}},
		{"a value that is another one each time", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			says(r, "run", "number", runs.Add(1))
			r.Do(call("put n 1"))
		}}}, [][]string{{"0 info run number=(varies)"}}},
		{"a line that is another one each time", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			says(r, fmt.Sprint("run ", runs.Add(1)))
			r.Do(call("put n 1"))
			says(r, "done")
		}}}, [][]string{{"1 info done", "left out: lines that are others each time"}}},
		{"a line that is left out at times", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			if runs.Add(1)%8 != 0 {
				says(r, "sometimes")
			}
			r.Do(call("put n 1"))
		}}}, [][]string{{"left out: lines that are others each time"}}},
		{"too many of a step", false, []talker{
			{name: "a", reconcile: func(r core.EffectRecorder) {
				for range 101 {
					says(r, "again")
				}
				r.Do(call("put n 1"))
			}},
			{name: "b", reconcile: quiet},
		}, [][]string{append(slices.Repeat([]string{"0 info again"}, 100), "left out: 1 lines after the first 100"), nil}},
		{"as many as a step may have", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			for range 100 {
				says(r, "again")
			}
		}}}, [][]string{slices.Repeat([]string{"0 info again"}, 100)}},
		{"code that does something else when somebody listens", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			says(r, "hears")
			if r.(core.LogRecorder).Listens() {
				r.Do(call("put n 2"))
				return
			}
			r.Do(call("put n 1"))
		}}}, [][]string{{"left out: all lines of a, which does something else when its loggers are enabled"}}},
		{"two controllers that do so, each of them once", false, []talker{
			{name: "a", reconcile: func(r core.EffectRecorder) {
				r.Do(call("put n 1"))
				r.Do(call("put n 2"))
			}},
			{name: "b", reconcile: quiet, handle: func(r core.EffectRecorder, _ core.Event) {
				if r.(core.LogRecorder).Listens() {
					r.Do(call("get m"))
				}
			}},
		}, [][]string{{"left out: all lines of b, which does something else when its loggers are enabled"}, nil}},
	} {
		t.Run(test.name, test.holds)
	}
}

// TestTooManyLogsOfSteps has code log more than is listened to.
func TestTooManyLogsOfSteps(t *testing.T) {
	for _, test := range []logging{
		{"too many of a run", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			for range behavior.MostHeard + 1 {
				says(r, "again")
			}
		}}}, [][]string{append(slices.Repeat([]string{"0 info again"}, 100), "left out: 9900 lines after the first 100; all lines after the first 10000")}},
		{"too many of a run with goroutines", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			for range behavior.MostHeard {
				says(r, "again")
			}
			var all sync.WaitGroup
			all.Go(func() { says(r, "aside") })
			all.Wait()
		}}}, [][]string{append(slices.Repeat([]string{"0 info again"}, 100), "left out: 9900 lines after the first 100; all lines after the first 10000")}},
		{"too many of goroutines", false, []talker{{name: "a", reconcile: func(r core.EffectRecorder) {
			var all sync.WaitGroup
			all.Go(func() {
				for range behavior.MostHeard + 1 {
					says(r, "again")
				}
			})
			all.Wait()
		}}}, [][]string{{"left out: all lines of a, which logs more than 10000, in several goroutines"}}},
	} {
		t.Run(test.name, test.holds)
	}
}

// TestListens has code be listened to as often as it takes to see what chance puts into its lines, unless it says
// nothing or too much for that.
func TestListens(t *testing.T) {
	for lines, want := range map[int]int64{0: 2, 1: 11, 1_000: 11, 1_001: 2} {
		var listened atomic.Int64
		system := &core.System{Name: "talkers", Store: board{}, Initial: []core.Initial{{}}, Strategies: []core.Strategy{talker{name: "a", reconcile: func(r core.EffectRecorder) {
			if !r.(core.LogRecorder).Listens() {
				return
			}
			listened.Add(1)
			for range lines {
				says(r, "again")
			}
		}}}}
		o := options(1)
		o.Logs = true
		saidOnTheWay(t, search(t, system, o))
		if got := listened.Load(); got != want {
			t.Errorf("to %d lines it is listened %d times, want %d", lines, got, want)
		}
	}
}

func (l logging) holds(t *testing.T) {
	system := &core.System{Name: "talkers", Store: board{}, Initial: []core.Initial{{}}}
	for _, w := range l.controllers {
		system.Strategies = append(system.Strategies, w)
	}
	for _, logs := range []bool{true, false} {
		o := options(1)
		o.Logs = logs
		if l.calls {
			o.Conditions.Granularity = explore.PerCall
		}
		got := saidOnTheWay(t, search(t, system, o))
		want := l.want
		if !logs {
			want = make([][]string, len(l.want))
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("they say %q", got)
		}
	}
}

// saidOnTheWay returns what is logged in the steps to a state with nothing left to do, in which the first controller
// goes first.
func saidOnTheWay(t *testing.T, space *explore.Space) [][]string {
	t.Helper()
	var run core.Run
	for at := core.StateID(0); ; {
		edges := space.Edges(at)
		if len(edges) == 0 {
			break
		}
		run, at = append(run, edges[0]), edges[0].To
	}
	trace, err := space.Trace(context.Background(), 0, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := make([][]string, len(trace.Steps))
	for i, step := range trace.Steps {
		for _, line := range step.Logs {
			text := fmt.Sprintf("%d %s", line.Calls, line.LogLine)
			if by := line.By(); by != "" {
				text += " " + by
			}
			said[i] = append(said[i], text)
		}
		if step.MissingLogs != "" {
			said[i] = append(said[i], "left out: "+step.MissingLogs)
		}
	}
	return said
}
