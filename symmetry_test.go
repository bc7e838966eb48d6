package orrery_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// race is three processes that each want to be first. Who was is said at the end, if that is asked for, and one of them
// is special, if any.
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
		{"alike", race(t, false, ""), core.Holds, orrery.BySymmetry, 4, "names were merged: ann, ben, cleo"},
		{"different ends", race(t, true, ""), core.Violated, orrery.ByPartialOrder, 13, "there are findings, and their traces need states that are not merged"},
		{"one is special", race(t, false, "ben"), core.Holds, orrery.ByPartialOrder, 4, "in the same state with names exchanged, do not change first"},
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

// TestMergedRunsEndAsTold checks that the run to each end leads to what the report says of the end, and happens again.
func TestMergedRunsEndAsTold(t *testing.T) {
	system := race(t, true, "")
	system.Properties = nil // or else different ends would be told without merging
	for _, options := range []orrery.Options{
		{Reduction: orrery.NoReduction},
		{Reduction: orrery.BySymmetry},
		{Reduction: orrery.BySymmetry, Compact: true},
		{Reduction: orrery.BySymmetry, Search: orrery.DepthFirst},
	} {
		result, err := orrery.Run(context.Background(), system, options)
		if err != nil {
			t.Fatal(err)
		}
		r := result.Report
		if len(r.OutcomeList) != 3 || r.Reduction != string(options.Reduction) {
			t.Errorf("%+v: %d outcomes by %s", options, len(r.OutcomeList), r.Reduction)
		}
		for _, o := range r.OutcomeList {
			now := map[core.Key]any{}
			for _, object := range o.Trace.Initial {
				now[object.Key()] = object.Fields
			}
			for _, step := range o.Trace.Steps {
				for _, change := range step.Changes {
					now[change.Key()] = change.Fields[len(change.Fields)-1].To
				}
			}
			for _, object := range o.Objects {
				if now[object.Key()] != object.Fields {
					t.Errorf("%+v: the run ends with %s = %v, and the outcome has %v", options, object.Key(), now[object.Key()], object.Fields)
				}
			}
			if difference, err := orrery.Replay(context.Background(), system, o.Trace, orrery.Options{}); err != nil || difference != nil {
				t.Errorf("%+v: it does not happen again: %v, %v", options, difference, err)
			}
		}
	}
}

// TestInvariantsInAllArrangements checks that an invariant that is not alike for all names is found to be broken for
// each of them, however it looks at objects.
func TestInvariantsInAllArrangements(t *testing.T) {
	ready := plain.NewFamily[bool]("ready")
	lists := map[string]func(core.State) []core.Object{
		"in a list": func(s core.State) []core.Object { return s.List(ready.Kind(), "") },
		"one by one, in any order": func(s core.State) []core.Object {
			var found []core.Object
			for name := range map[string]bool{"ann": true, "ben": true, "cleo": true} {
				found = append(found, core.Object{Key: ready.Named(name).Key(), Content: s.Get(ready.Named(name).Key())})
			}
			return found
		},
		"all at once": func(s core.State) []core.Object { return s.(interface{ Objects() []core.Object }).Objects() },
	}
	for how, list := range lists {
		for _, special := range []string{"ann", "ben", "cleo", "nobody"} {
			system := race(t, false, "")
			system.Properties = []core.Property{{Name: "not alone", Invariant: func(s core.State) error {
				alone := ""
				for _, o := range list(s) {
					if o.Key.Kind == ready.Kind() && o.Content.Canonical() == "true" {
						if alone != "" {
							return nil
						}
						alone = o.Key.Name
					}
				}
				if alone == special {
					return errors.New("it is")
				}
				return nil
			}}}
			want := core.Violated
			if special == "nobody" {
				want = core.Holds
			}
			for _, reduction := range []orrery.Reduction{orrery.ByPartialOrder, orrery.BySymmetry} {
				result, err := orrery.Run(context.Background(), system, orrery.Options{Reduction: reduction})
				if err != nil {
					t.Fatal(err)
				}
				if result.Report.Verdict != want {
					t.Errorf("looked at %s, %s, by %s: %s", how, special, reduction, result.Report.Verdict)
				}
			}
		}
	}
}
