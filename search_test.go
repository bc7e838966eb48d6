package orrery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/properties"
)

// randomSystem returns a random system with the properties of controllers.
func randomSystem(t *testing.T, seed uint64) *core.System {
	t.Helper()
	system, err := random.System(seed)
	if err != nil {
		t.Fatal(err)
	}
	system.Properties = append(system.Properties, properties.Convergent()...)
	return system
}

// told returns what a report tells, without what may differ between two checks and without what is known of the way it
// was searched.
func told(t *testing.T, system *core.System, options orrery.Options) string {
	t.Helper()
	result, err := orrery.Run(context.Background(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	r := result.Report
	r.ElapsedMS, r.StatesPerSecond, r.Workers = 0, 0, 0
	r.Compact, r.MissedStateOdds, r.Assumptions = false, 0, nil
	text, err := json.Marshal(struct {
		core.Report
		Traces   []core.Finding
		Outcomes []core.OutcomeReport
	}{r, r.Findings, r.OutcomeList})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCompactTellsTheSame checks random systems with and without keeping their states, with orders left out and with
// all of them.
func TestCompactTellsTheSame(t *testing.T) {
	n := uint64(40)
	if testing.Short() {
		n = 6
	}
	for seed := range n {
		for _, reduction := range []orrery.Reduction{orrery.ByPartialOrder, orrery.NoReduction} {
			options := orrery.Options{Reduction: reduction, MaxStates: 3000}
			want := told(t, randomSystem(t, seed), options)
			options.Compact, options.Workers = true, 2
			if got := told(t, randomSystem(t, seed), options); got != want {
				t.Fatalf("seed %d, reduction %s: got\n%s\nwant\n%s", seed, reduction, got, want)
			}
		}
	}
}

// TestWalksTellTheTruth checks that walks violate nothing that a full search says holds, that they say so if they did
// not come everywhere, and that they repeat.
func TestWalksTellTheTruth(t *testing.T) {
	found := map[orrery.Search]int{}
	n := uint64(24)
	if testing.Short() {
		n = 8
	}
	for seed := range n {
		whole, err := orrery.Run(context.Background(), randomSystem(t, seed), orrery.Options{Reduction: orrery.NoReduction, MaxStates: 3000})
		if err != nil {
			t.Fatal(err)
		}
		if len(whole.Report.Reasons) > 0 {
			continue
		}
		for _, search := range []orrery.Search{orrery.RandomWalks, orrery.PriorityWalks, orrery.SwarmWalks} {
			options := orrery.Options{Search: search, Walks: 4, MaxDepth: 12, ChangePoints: 1, Seed: int64(seed)}
			result, err := orrery.Run(context.Background(), randomSystem(t, seed), options)
			if err != nil {
				t.Fatal(err)
			}
			r := result.Report
			at := fmt.Sprintf("seed %d, search %s", seed, search)
			for _, p := range r.Properties {
				same := func(q core.PropertyReport) bool { return q.Name == p.Name && q.Verdict == p.Verdict }
				if p.Verdict != core.Inconclusive && !slices.ContainsFunc(whole.Report.Properties, same) {
					t.Errorf("%s: %q is %s, and a full search says otherwise", at, p.Name, p.Verdict)
				}
				if p.Verdict == core.Violated {
					found[search]++
				}
			}
			if r.States < whole.Report.States && (r.Verdict == core.Holds || len(r.Reasons) == 0) {
				t.Errorf("%s: of %d states %d were seen, and the verdict is %s, for %q", at, whole.Report.States, r.States, r.Verdict, r.Reasons)
			}
			again := told(t, randomSystem(t, seed), options)
			options.Workers = 2
			if other := told(t, randomSystem(t, seed), options); other != again {
				t.Errorf("%s: it tells something else each time", at)
			}
		}
	}
	for _, search := range []orrery.Search{orrery.RandomWalks, orrery.PriorityWalks, orrery.SwarmWalks} {
		if found[search] == 0 {
			t.Errorf("search %s found nothing at all, so that its findings were not tested", search)
		}
	}
}
