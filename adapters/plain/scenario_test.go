package plain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// resizing is a loop that brings a machine to the wanted size, and a user who wants something.
func resizing(scenario plain.Scenario) plain.Model {
	wanted, machines := plain.NewFamily[int]("wanted size"), plain.NewFamily[int]("machine")
	return plain.Model{
		Name:     "resizing",
		Initial:  []core.Initial{plain.Start(wanted.Named("m").Is(1), machines.Named("m").Is(0))},
		Scenario: scenario,
		Controllers: []plain.Controller{{
			Name:    "resizer",
			Watches: []plain.Watch{{Kind: wanted.Kind()}, {Kind: machines.Kind()}},
			Reconcile: func(w *plain.World, request core.Request) core.Result {
				machines.Named(string(request)).Set(w, wanted.Named(string(request)).Get(w))
				return core.Result{}
			},
		}},
	}
}

func TestScenario(t *testing.T) {
	wanted := plain.NewFamily[int]("wanted size")
	want := func(name string, from, to int) plain.Action {
		return plain.Action{Name: name, Do: func(w *plain.World) {
			m := wanted.Named("m")
			w.Require(from == 0 || m.Get(w) == from)
			m.Set(w, to)
		}}
	}
	for _, test := range []struct {
		name     string
		scenario plain.Scenario
		ends     []string
	}{
		{"nobody acts", plain.Scenario{}, []string{"1"}},
		{"in any order", plain.Scenario{Actions: []plain.Action{want("two", 0, 2), want("three", 2, 3)}}, []string{"1", "2", "3"}},
		{"in order", plain.Scenario{Actions: []plain.Action{want("three", 2, 3), want("four", 0, 4)}, InOrder: true}, []string{"1", "4"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			system, err := resizing(test.scenario).System()
			if err != nil {
				t.Fatal(err)
			}
			result, err := orrery.Run(t.Context(), system, orrery.Options{Granularity: orrery.PerCall, Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}, Crashes: 1})
			if err != nil {
				t.Fatal(err)
			}
			if result.Report.Verdict != core.Holds {
				t.Errorf("%s: %v %v", result.Report.Verdict, result.Report.Reasons, result.Report.Findings)
			}
			var ends []string
			for _, id := range result.Graph.Quiescent() {
				ends = append(ends, result.Graph.State(id).Get(core.Key{Kind: "machine", Name: "m"}).Canonical())
			}
			slices.Sort(ends)
			if ends = slices.Compact(ends); !slices.Equal(ends, test.ends) {
				t.Errorf("it ends in %v, want %v", ends, test.ends)
			}
		})
	}
}

func TestScenarioThatCannotBe(t *testing.T) {
	_, err := resizing(plain.Scenario{Actions: []plain.Action{{Name: "nothing"}}}).System()
	if err == nil || !strings.Contains(err.Error(), `action "nothing" of the scenario does nothing: set Action.Do`) {
		t.Errorf("got the error %v", err)
	}
}

// TestSettledUsers has a user note how large a machine is that grows step by step: at any moment that is any size, and
// once the system has settled it is the last one.
func TestSettledUsers(t *testing.T) {
	size, noted := plain.NewVar[int]("size"), plain.NewVar[int]("noted")
	model := plain.Model{
		Name:    "growing",
		Initial: []core.Initial{plain.Start(size.Is(0), noted.Is(-1))},
		Controllers: []plain.Controller{{Name: "grower", Requests: []core.Request{"all"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
			now := size.Get(w)
			size.Set(w, min(now+1, 3))
			return core.Result{Requeue: now < 3}
		}}},
	}
	for settled, want := range map[bool][]string{false: {"-1", "0", "1", "2", "3"}, true: {"-1", "3"}} {
		model.Scenario = plain.Scenario{Settled: settled, Actions: []plain.Action{{Name: "note", Do: func(w *plain.World) { noted.Set(w, size.Get(w)) }}}}
		system, err := model.System()
		if err != nil {
			t.Fatal(err)
		}
		for _, options := range []orrery.Options{{}, {Reduction: orrery.NoReduction, Granularity: orrery.PerCall}, {Search: orrery.RandomWalks, Walks: 200}} {
			result, err := orrery.Run(t.Context(), system, options)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, id := range result.Graph.Quiescent() {
				got = append(got, fmt.Sprint(noted.Get(result.Graph.State(id))))
			}
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("settled %t, %+v: %v is noted, want %v", settled, options, got, want)
			}
			says := slices.ContainsFunc(result.Report.Assumptions, func(s string) bool { return strings.Contains(s, `before they take "note"`) })
			if says != settled {
				t.Errorf("settled %t: %q", settled, result.Report.Assumptions)
			}
		}
	}
}
