package behavior_test

import (
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// TestEnactActive has a controller work by itself where it says so, or where it does so anywhere in the recorded run;
// the second of two instances does as the first.
func TestEnactActive(t *testing.T) {
	starts := func(d *doer, r core.EffectRecorder) []func() {
		d.memory["started"] = "by itself"
		return []func(){func() { r.Do(ask("at once")); time.Sleep(time.Hour); r.Do(ask("later")) }}
	}
	says := func(d *doer, r core.EffectRecorder) core.Result {
		r.Do(ask("started " + d.memory["started"]))
		return core.Result{}
	}
	run := func(strategy string, calls ...string) core.TraceStep {
		return recorded("reconcile", strategy, "r", calls...)
	}
	own := core.Background("doer")
	nothing := recorded(core.Elapse.Name(), own, "time")
	nothing.Result = "is blocked"
	for _, test := range []struct {
		name  string
		quiet bool
		of    string
		steps []core.TraceStep
	}{
		{"it says so", false, "doer", []core.TraceStep{run("doer", "started by itself")}},
		{"it does not say so, and does nothing", true, "doer", []core.TraceStep{run("doer", "started ")}},
		{"it goes on with something", true, "doer", []core.TraceStep{run("doer", "started by itself"), recorded(core.Work.Name(), own, "1", "at once")}},
		{"it lets the time pass", true, "doer", []core.TraceStep{run("doer", "started by itself"), recorded(core.Work.Name(), own, "1", "at once"), recorded(core.Elapse.Name(), own, "time")}},
		{"it only lets the time pass", true, "doer", []core.TraceStep{nothing, run("doer", "started by itself")}},
		{"the second instance", false, core.SecondInstance("doer"), []core.TraceStep{run(core.SecondInstance("doer"), "started by itself")}},
	} {
		trace := core.Trace{Memory: []core.MemoryChange{{Controller: test.of}}, Steps: test.steps}
		deviation, err := behavior.Enact(t.Context(), system(&doer{quiet: test.quiet, start: starts, reconcile: says}), trace, &stage{}, limits())
		if err != nil {
			t.Fatal(err)
		}
		if wantDeviation(t, deviation, 0, ""); deviation != nil {
			t.Errorf("%s: it parts in step %d: %s", test.name, deviation.Step, deviation.Reason)
		}
	}
}

// TestEnactDraws has a run that is taken again draw what it drew, and its concurrent calls be answered in the order in
// which they were.
func TestEnactDraws(t *testing.T) {
	source := new(dice)
	code := controller{name: "c", work: func(r core.EffectRecorder, _ core.Request) core.Result { return pair(false)(r) }}
	s := system(code)
	s.Randomness = source
	step := recorded("reconcile", "c", "r", "b", "a", "a is a, b is b")
	step.Seed = 5
	deviation, err := behavior.Enact(t.Context(), s, core.Trace{Steps: []core.TraceStep{step}}, &stage{}, limits())
	if err != nil {
		t.Fatal(err)
	}
	wantDeviation(t, deviation, 0, "")
	// As nothing is drawn, the seed stays the same.
	want := slices.Repeat([]uint64{behavior.Activation{Seed: 5}.SeedOf(0)}, 4)
	if !slices.Equal(source.seeds, want) || !slices.Equal(source.before, []int{0, 1, 2, 3}) || source.ended != len(want) || source.clumsy != nil {
		t.Errorf("it draws from %v, want %v: %v", source.seeds, want, source.clumsy)
	}
}

// TestEnactVirtualTime enacts the run of a controller that keeps memory and lets an hour pass.
func TestEnactVirtualTime(t *testing.T) {
	sleeps := func(_ *doer, r core.EffectRecorder) core.Result {
		began := time.Now()
		time.Sleep(time.Hour)
		r.Do(ask("after " + time.Since(began).String()))
		return core.Result{}
	}
	// Of two that share a process, the other one would do without.
	for _, s := range []*core.System{
		system(&doer{quiet: true, reconcile: sleeps}),
		system(&doer{process: "p", quiet: true, reconcile: sleeps}, &doer{name: "other", process: "p", quiet: true, sequential: true}),
		system(&doer{process: "p", quiet: true, reconcile: sleeps}, &doer{name: "zero", process: "p", quiet: true, sequential: true, reconcile: sleeps}),
	} {
		trace := core.Trace{Memory: []core.MemoryChange{{Controller: "doer"}}, Steps: []core.TraceStep{recorded("reconcile", "doer", "r", "after 1h0m0s")}}
		deviation, err := behavior.Enact(t.Context(), s, trace, &stage{}, limits())
		if err != nil {
			t.Fatal(err)
		}
		wantDeviation(t, deviation, 0, "")
	}
}

// TestEnactStuckBackground does not go on with what a process does by itself that never came back.
func TestEnactStuckBackground(t *testing.T) {
	s := system(&doer{reconcile: func(_ *doer, r core.EffectRecorder) core.Result {
		for {
			r.Do(ask("more"))
		}
	}})
	runs := recorded("reconcile", "doer", "r", "more", "more")
	runs.Result = "made more than 2 calls without returning"
	trace := core.Trace{Memory: []core.MemoryChange{{Controller: "doer"}}, Steps: []core.TraceStep{runs, recorded(core.Work.Name(), core.Background("doer"), "1", "more")}}
	bounded := limits()
	bounded.Calls = 2
	deviation, err := behavior.Enact(t.Context(), s, trace, &stage{}, bounded)
	if err != nil {
		t.Fatal(err)
	}
	wantDeviation(t, deviation, 2, "doer (background) does not go on with anything")
}

// TestEnactLeaks has what a run leaves behind be a part of how it ended, also where its controller keeps memory.
func TestEnactLeaks(t *testing.T) {
	s := system(&doer{quiet: true, reconcile: func(*doer, core.EffectRecorder) core.Result {
		go func() { <-make(chan int) }()
		return core.Result{}
	}})
	leaks := recorded("reconcile", "doer", "r")
	leaks.Result = "returned, but left goroutines behind that are blocked for ever"
	trace := core.Trace{Memory: []core.MemoryChange{{Controller: "doer"}}, Steps: []core.TraceStep{leaks}}
	deviation, err := behavior.Enact(t.Context(), s, trace, &stage{}, limits())
	if err != nil {
		t.Fatal(err)
	}
	wantDeviation(t, deviation, 0, "")
}

// TestEnactSharedProcess has the first of several controllers of a process that works by itself do what all of them do,
// and events be for controllers that there are.
func TestEnactSharedProcess(t *testing.T) {
	starts := func(how string) func(*doer, core.EffectRecorder) []func() {
		return func(d *doer, _ core.EffectRecorder) []func() { d.memory["started"] = how; return nil }
	}
	says := func(d *doer, r core.EffectRecorder) core.Result {
		r.Do(ask("started " + d.memory["started"] + ", runs for " + d.of))
		return core.Result{}
	}
	member := func(name, how string, quiet bool) *doer {
		return &doer{name: name, process: "p", quiet: quiet, start: starts(how), reconcile: says}
	}
	s := system(member("a", "as a", true), member("b", "as b", false), member("c", "as c", false))
	memory := []core.MemoryChange{{Controller: "p"}}
	for _, controller := range []string{"a", "b", "c"} {
		trace := core.Trace{Memory: memory, Steps: []core.TraceStep{recorded("reconcile", controller, "r", "started as b, runs for "+controller)}}
		deviation, err := behavior.Enact(t.Context(), s, trace, &stage{}, limits())
		if err != nil {
			t.Fatal(err)
		}
		wantDeviation(t, deviation, 0, "")
	}
	trace := core.Trace{Memory: memory, Events: []core.TraceEvent{{Controller: "p", Kind: "Lamp", Name: "x"}}}
	deviation, err := behavior.Enact(t.Context(), s, trace, &stage{}, limits())
	if err != nil {
		t.Fatal(err)
	}
	if deviation == nil || deviation.Reason != `there is no longer a controller "p"` {
		t.Errorf("an event of nobody: %+v", deviation)
	}
}
