package models

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
)

// TestBySymmetry checks how many states are left of models by symmetry. Of counters only how many have which value counts: as many ways as
// to choose n of k+1 with repetition. Of the rest, the classes of states are counted by hand, so to speak: by renaming them in all ways.
func TestBySymmetry(t *testing.T) {
	for _, test := range []struct {
		model, params string
		states        int // 0 for as many as there are classes
	}{
		{"model/counters", "n=3 k=2", 10},
		{"model/counters", "n=6 k=2", 28},
		{"model/counters", "n=5 k=9", 2002},
		// The end is stored in all its n arrangements.
		{"model/contended", "n=3 k=2", 13 + 2},
		{"model/contended", "n=6 k=2", 43 + 5},
		{"model/two-phase-commit", "n=2", 0},
		{"model/two-phase-commit", "n=3", 0},
		{"model/two-phase-commit", "n=4", 0},
	} {
		t.Run(test.model+" "+test.params, func(t *testing.T) {
			k := known{model: test.model, params: test.params}
			result, err := orrery.Run(t.Context(), k.system(t), orrery.Options{Reduction: orrery.BySymmetry})
			if err != nil {
				t.Fatal(err)
			}
			r := result.Report
			if r.Reduction != string(orrery.BySymmetry) || r.Verdict != core.Holds {
				t.Fatalf("%s by %s: %q", r.Verdict, r.Reduction, r.Assumptions)
			}
			want := test.states
			if want == 0 {
				want = classes(t, k.system(t))
			}
			if r.States != want {
				t.Errorf("%d states, want %d", r.States, want)
			}
		})
	}
}

// classes counts the states of a system up to the names that it declares to be interchangeable.
func classes(t *testing.T, system *core.System) int {
	t.Helper()
	names := system.Interchangeable[0]
	result, err := orrery.Run(t.Context(), system, orrery.Options{Reduction: orrery.NoReduction})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for id := range core.StateID(result.Graph.States()) {
		found[smallest(result.Graph.State(id), names)] = true
	}
	return len(found)
}

// smallest returns the first of the texts of a state with names in all orders.
func smallest(state core.State, names []string) string {
	first := ""
	permute(names, 0, func(order []string) {
		var pairs []string
		for i, name := range names {
			pairs = append(pairs, name, order[i])
		}
		renaming := strings.NewReplacer(pairs...)
		var texts []string
		for _, kind := range []core.Kind{"", "known to be prepared", "message prepared", "rm"} {
			for _, o := range state.List(kind, "") {
				texts = append(texts, renaming.Replace(fmt.Sprint(o.Key, "=", o.Content.Canonical())))
			}
		}
		slices.Sort(texts)
		if text := strings.Join(texts, "\n"); first == "" || text < first {
			first = text
		}
	})
	return first
}

// permute calls a function with all orders of a list from one place on.
func permute(list []string, from int, call func([]string)) {
	if from == len(list) {
		call(list)
		return
	}
	for i := from; i < len(list); i++ {
		next := slices.Clone(list)
		next[from], next[i] = next[i], next[from]
		permute(next, from+1, call)
	}
}
