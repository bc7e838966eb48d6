package ltl_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// breaks reports whether a run breaks a formula.
func (g *graph) breaks(f *ltl.Formula, start core.StateID, stem, cycle core.Run) bool {
	var letters []int
	for _, e := range slices.Concat(stem, cycle) {
		letters = append(letters, g.letters[e.From])
	}
	loop := len(stem)
	if len(cycle) == 0 {
		letters = append(letters, g.letters[stem.End(start)])
	}
	return !ltl.Accepts(f, letters, loop)
}

// lasso checks that a violation is a run of the graph that breaks the formula.
func (g *graph) lasso(t failer, f *ltl.Formula, fairness ltl.Fairness, v *core.Violation) {
	t.Helper()
	start := v.State
	if len(v.Stem) > 0 {
		start = v.Stem[0].From
	}
	if !slices.Contains(g.initial, start) {
		t.Fatalf("%s: the run begins in %d, which is no start", f, start)
	}
	at := start
	for i, e := range slices.Concat(v.Stem, v.Cycle) {
		if e.From != at || !slices.Contains(g.edges[at], e) {
			t.Fatalf("%s: %+v is no step from %d", f, e, at)
		}
		if at = e.To; i == len(v.Stem)-1 && at != v.State {
			t.Fatalf("%s: the stem ends in %d, not in %d", f, at, v.State)
		}
	}
	if at != v.State {
		t.Fatalf("%s: the cycle %v does not close", f, v.Cycle)
	}
	if len(v.Cycle) > 0 && !g.fair(fairness, at, v.Cycle) {
		t.Fatalf("%s: the cycle %v is not fair", f, v.Cycle)
	}
	if !g.breaks(f, start, v.Stem, v.Cycle) {
		t.Fatalf("%s is true of the run %v, %v", f, v.Stem, v.Cycle)
	}
}

// TestAgainstLassos compares the verdicts on random formulas and graphs with every lasso of the graph that
// is not too long: each is evaluated by the definition of the logic.
func TestAgainstLassos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := ltl.DrawFormula(t, 3)
		g := drawGraph(t, "p", "q")
		fairness := rapid.SampledFrom([]ltl.Fairness{ltl.Weak, ltl.Strong, ltl.Unfair}).Draw(t, "fairness")
		v := g.violation(t, f.String(), fairness)
		if v != nil {
			g.lasso(t, f, fairness, v)
			return
		}
		g.lassos(fairness, 7, func(start core.StateID, stem, cycle core.Run) bool {
			if g.breaks(f, start, stem, cycle) {
				t.Fatalf("%s is said to hold with fairness %d, and is not true of %v, %v", f, fairness, stem, cycle)
			}
			return true
		})
	})
}

// TestOneRun checks that of a formula and its negation exactly one holds where there is
// only one run.
func TestOneRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := ltl.DrawFormula(t, 4)
		g := newGraph(rapid.SliceOfN(rapid.IntRange(0, 3), 1, 6).Draw(t, "letters")...)
		last := core.StateID(len(g.letters) - 1)
		for id := range last {
			g.add(id, id+1, "p")
		}
		if back := rapid.IntRange(-1, int(last)).Draw(t, "back"); back >= 0 {
			g.add(last, core.StateID(back), "p")
		}
		holds, fails := g.violation(t, f.String(), ltl.Weak), g.violation(t, fmt.Sprintf("!(%s)", f), ltl.Weak)
		if (holds == nil) == (fails == nil) {
			t.Fatalf("%s holds: %t; its negation: %t", f, holds == nil, fails == nil)
		}
	})
}
