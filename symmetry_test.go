package orrery_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// race is three processes that each want to be first. Who was is said at the end, if that is asked for, and one of them is special,
// if any.
func race(t *testing.T, says bool, special string) *core.System {
	t.Helper()
	names := []string{"ann", "ben", "cleo"}
	ready := plain.NewFamily[bool]("ready")
	first := plain.NewVar[string]("first")
	model := plain.Model{Name: "race", Properties: properties.Convergent(), Interchangeable: [][]string{names}}
	start := []core.Object{first.Is("")}
	for _, name := range names {
		mine := ready.Named(name)
		start = append(start, mine.Is(false))
		model.Processes = append(model.Processes, plain.Process{Name: name, Actions: []plain.Action{{Name: "run", Do: func(w *plain.World) {
			w.Require(!mine.Get(w))
			mine.Set(w, true)
			if says && first.Get(w) == "" || name == special {
				first.Set(w, name)
			}
		}}}})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

func TestBySymmetry(t *testing.T) {
	for _, test := range []struct {
		name      string
		system    *core.System
		verdict   core.Verdict
		reduction orrery.Reduction
		states    int
		// assumed is part of what the report takes for granted.
		assumed string
	}{
		{"alike", race(t, false, ""), core.Holds, orrery.BySymmetry, 4, "taken for one: ann, ben, cleo"},
		{"different ends", race(t, true, ""), core.Violated, orrery.ByPartialOrder, 13, "something was found, and is told in full"},
		{"one is special", race(t, false, "ben"), core.Holds, orrery.ByPartialOrder, 4, "in the same state with names exchanged, do not do the same to first"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := orrery.Run(context.Background(), test.system, orrery.Options{Reduction: orrery.BySymmetry, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			r := result.Report
			if r.Verdict != test.verdict || r.Reduction != string(test.reduction) || r.States != test.states {
				t.Errorf("%s by %s with %d states, want %s by %s with %d", r.Verdict, r.Reduction, r.States, test.verdict, test.reduction, test.states)
			}
			if all := strings.Join(r.Assumptions, "\n"); !strings.Contains(all, test.assumed) {
				t.Errorf("nothing of %q is taken for granted:\n%s", test.assumed, all)
			}
			for _, o := range r.OutcomeList {
				if len(o.Trace.Steps) != 3 {
					t.Errorf("the run to an end has %d steps", len(o.Trace.Steps))
				}
			}
		})
	}
}

func TestBySymmetryNeedsNames(t *testing.T) {
	system := race(t, false, "")
	system.Interchangeable = nil
	_, err := orrery.Run(context.Background(), system, orrery.Options{Reduction: orrery.BySymmetry})
	if err == nil || !strings.Contains(err.Error(), "set System.Interchangeable") {
		t.Errorf("got %v", err)
	}
	_, err = orrery.Run(context.Background(), race(t, false, ""), orrery.Options{Reduction: orrery.BySymmetry, Search: orrery.RandomWalks})
	if err == nil || !strings.Contains(err.Error(), `use the search "bfs" or "dfs"`) {
		t.Errorf("got %v", err)
	}
}
