package orrery_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
)

// relay is a system whose controllers copy a word from one place to the next, bubbled as most are.
func relay() *core.System {
	system := onSlate(map[string]string{"w0": "hello", "w1": "none", "w2": "none", "w3": "none"})
	for _, names := range [][2]string{{"w0", "w1"}, {"w1", "w2"}, {"w2", "w3"}} {
		copies := stateless("to "+names[1], func(do ask, _ core.Request) core.Result {
			if word := do("get %s", names[0]); word != do("get %s", names[1]) {
				do("put %s %s", names[1], word)
			}
			return core.Result{}
		})
		copies.bubbled = true
		react := copies.reaction
		copies.reaction = func() (func(core.Event) []core.Request, func(ask, core.Request) core.Result) {
			_, reconcile := react()
			return func(core.Event) []core.Request { return []core.Request{"r"} }, reconcile
		}
		system.Strategies = append(system.Strategies, &copies)
	}
	return system
}

func checked(t *testing.T, system *core.System, options orrery.Options) core.Report {
	t.Helper()
	result, err := orrery.Run(t.Context(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// TestSecondCheckLearnsWhatIsNew counts the runs of code of checks of one system: each path has to be run once.
func TestSecondCheckLearnsWhatIsNew(t *testing.T) {
	system, memo := relay(), orrery.NewMemo()
	first := checked(t, system, orrery.Options{Memo: memo})
	for name, options := range map[string]orrery.Options{
		"the same":             {},
		"another seed":         {Seed: 1},
		"two workers":          {Workers: 2},
		"all orders":           {Reduction: orrery.NoReduction},
		"two instances of one": {Doubles: []string{"to w2"}},
	} {
		fresh := checked(t, system, options)
		options.Memo = memo
		again := checked(t, system, options)
		if 4*again.ReconcilesExecuted > fresh.ReconcilesExecuted {
			t.Errorf("%s: %d runs of code, %d if nothing is known", name, again.ReconcilesExecuted, fresh.ReconcilesExecuted)
		}
		if again.ReconcilesExecuted < again.Behaviours {
			t.Errorf("%s: %d runs of code for %d behaviors", name, again.ReconcilesExecuted, again.Behaviours)
		}
		if again.States != fresh.States || again.Transitions != fresh.Transitions || again.Behaviours != fresh.Behaviours {
			t.Errorf("%s: %+v is searched, want %+v", name, again, fresh)
		}
	}
	if first.Verdict != core.Holds {
		t.Errorf("the verdict is %s: %v", first.Verdict, first.Reasons)
	}
}

// TestSecondCheckFindsWhatIsWrong checks systems again in which something is wrong with the code, or has become wrong
// in between.
func TestSecondCheckFindsWhatIsWrong(t *testing.T) {
	kept, changed, memo := 0, false, orrery.NewMemo()
	system := onSlate(map[string]string{"w0": "none"})
	forgetful := stateless("forgetful", func(do ask, _ core.Request) core.Result {
		do("get w0")
		return core.Result{}
	})
	react := forgetful.reaction
	forgetful.reaction = func() (func(core.Event) []core.Request, func(ask, core.Request) core.Result) {
		_, honest := react()
		memory := 0
		return nil, func(do ask, r core.Request) core.Result {
			if !changed {
				return honest(do, r)
			}
			kept++
			if memory++; memory > 1 {
				do("get w0")
			}
			do("get w0")
			do("get w0")
			return core.Result{}
		}
	}
	system.Strategies = []core.Strategy{&forgetful}
	if report := checked(t, system, orrery.Options{Memo: memo}); report.Verdict != core.Holds {
		t.Fatalf("the verdict is %s", report.Verdict)
	}
	changed = true
	for range 3 {
		kept = 0
		report := checked(t, system, orrery.Options{Memo: memo})
		if len(report.Reasons)+len(report.Findings) == 0 || !strings.Contains(strings.Join(reasonsOf(report), " "), "memory") {
			t.Errorf("nothing is said about memory: %v", reasonsOf(report))
		}
		if kept < 3 {
			t.Errorf("the code was run %d times", kept)
		}
	}
}

// reasonsOf returns all that speaks against a system.
func reasonsOf(r core.Report) []string {
	texts := r.Reasons
	for _, f := range r.Findings {
		texts = append(texts, f.Summary)
	}
	return texts
}

func TestChecksAtTheSameTimeShareWhatTheyLearn(t *testing.T) {
	system, memo := relay(), orrery.NewMemo()
	want := checked(t, relay(), orrery.Options{}).States
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if report := checked(t, system, orrery.Options{Memo: memo}); report.Verdict != core.Holds || report.States != want {
				t.Errorf("%s, %d states, want %d", report.Verdict, report.States, want)
			}
		})
	}
	all.Wait()
}
