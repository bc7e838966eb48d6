package ltl_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// The letters of states.
const none, a, b = 0, 1, 2

// TestByHand checks verdicts and runs on graphs that can be looked through by hand. A run is told by the states
// of its stem and of its cycle.
func TestByHand(t *testing.T) {
	// A process is possible in one of two states only, and leads out to a: it may be neglected under weak
	// fairness, not under strong fairness.
	blinking := func() *graph {
		return newGraph(none, none, a).add(0, 1, "p").add(1, 0, "p").add(1, 2, "q").add(2, 2, "p")
	}
	// Here a run need not blink, as the step that does is unfair.
	steady := blinking().add(0, 0, "stay")
	steady.unfair[step("p")] = true
	kept := newGraph(none, a).add(0, 0, "p").add(0, 1, "q").add(1, 1, "p")
	kept.unfair[step("q")], kept.promised[step("q")] = true, true
	broken := newGraph(none, a).add(0, 0, "p").add(0, 1, "q").add(1, 1, "p")
	broken.unfair[step("q")] = true
	detour := newGraph(none, b).add(0, 0, "p").add(0, 1, "q").add(1, 0, "q")
	detour.unfair[step("q")] = true
	// Time passes once, and somebody waits for more of it behind that.
	passing := func(awaits string) *graph {
		g := newGraph(none, none, none).add(0, 1, "time").add(1, 2, "p").add(2, 2, "p")
		g.edges[0][0].Step.Kind, g.edges[2][0].Wrote = core.Pass, true
		g.awaited, g.dated = map[core.StateID]string{2: awaits}, map[string]bool{"p": true}
		return g
	}
	writing := passing("p")
	writing.edges[1][0].Wrote, writing.dated = true, nil
	elsewhere := passing("q").add(1, 1, "r")
	elsewhere.unfair[step("p")] = true
	early := passing("q")
	early.awaited = map[core.StateID]string{0: "q"}
	for _, test := range []struct {
		name     string
		graph    *graph
		formula  string
		fairness ltl.Fairness
		holds    bool
		stem     []core.StateID
		cycle    []core.StateID
	}{
		{name: "one state that repeats for ever", graph: newGraph(a), formula: "G a && X X a", holds: true},
		{name: "a run that ends", graph: newGraph(none).add(0, 0, "p"), formula: "F a", stem: []core.StateID{0}, cycle: []core.StateID{0, 0}},
		{name: "an end", graph: newGraph(a, none).add(0, 1, "p"), formula: "G F a", stem: []core.StateID{0, 1}},
		{name: "a bad prefix", graph: newGraph(a, a, none, a).add(0, 1, "p").add(1, 2, "p").add(2, 3, "p"),
			formula: "G a", stem: []core.StateID{0, 1, 2}},
		{name: "X at the end", graph: newGraph(a, b).add(0, 1, "p"), formula: "X X X b", holds: true},
		{name: "weakly fair, neglected", graph: blinking(), formula: "F a", stem: []core.StateID{0}, cycle: []core.StateID{0, 1, 0}},
		{name: "strongly fair", graph: blinking(), formula: "F a", fairness: ltl.Strong, holds: true},
		{name: "strongly fair in a part", graph: steady, formula: "F a", fairness: ltl.Strong, stem: []core.StateID{0}, cycle: []core.StateID{0, 0}},
		{name: "a cycle that is strongly fair", fairness: ltl.Strong, formula: "F a",
			graph: newGraph(none, none).add(0, 1, "p").add(1, 0, "p").add(1, 1, "q"),
			stem:  []core.StateID{0}, cycle: []core.StateID{0, 1, 1, 0}},
		{name: "a detour that matters", graph: detour, formula: "F b -> G F b",
			stem: []core.StateID{0, 1, 0}, cycle: []core.StateID{0, 0}},
		// Staying in the component needs two steps that lead apart.
		{name: "a cycle that does all duties", formula: "F G a",
			graph: newGraph(a, none, a).add(0, 1, "p").add(1, 0, "p").add(0, 2, "q").add(2, 0, "q").add(1, 1, "q").add(2, 2, "p"),
			stem:  []core.StateID{0}, cycle: []core.StateID{0, 1, 1, 0}},
		{name: "a promise", graph: kept, formula: "F a", holds: true},
		{name: "a promise does not bind without fairness", graph: kept, formula: "F a", fairness: ltl.Unfair, stem: []core.StateID{0}},
		{name: "no promise", graph: broken, formula: "F a", stem: []core.StateID{0}, cycle: []core.StateID{0, 0}},
		{name: "more time may change it", graph: passing("q"), formula: "F a", holds: true},
		{name: "more time changes other things", graph: writing, formula: "F a", holds: true},
		{name: "more time only renews times", graph: passing("p"), formula: "F a", stem: []core.StateID{0, 1, 2}, cycle: []core.StateID{2, 2}},
		{name: "more time makes no difference to a bad prefix", graph: passing("q"), formula: "G a", stem: []core.StateID{0}},
		{name: "a run that does not come to where more time may change it", graph: elsewhere, formula: "F a", stem: []core.StateID{0, 1}, cycle: []core.StateID{1, 1}},
		{name: "who waits on the way makes no difference", graph: early, formula: "F a", stem: []core.StateID{0, 1, 2}, cycle: []core.StateID{2, 2}},
		{name: "more time, and no fairness", graph: passing("q"), formula: "F a", fairness: ltl.Unfair, stem: []core.StateID{0}},
		{name: "two marks", formula: "!(G F a && G F b)",
			graph: newGraph(none, a, b).add(0, 1, "p").add(0, 2, "p2").add(1, 0, "p").add(2, 0, "p"),
			stem:  []core.StateID{0}, cycle: []core.StateID{0, 1, 0, 2, 0}, fairness: ltl.Unfair},
		// The stem is no longer than needed, though the automaton decides a step later.
		{name: "an early entry", formula: "G F a", graph: newGraph(none).add(0, 0, "p").add(0, 0, "q"),
			stem: []core.StateID{0}, cycle: []core.StateID{0, 0, 0}},
		{name: "a folded lasso", formula: "F G a", graph: newGraph(none, a).add(0, 1, "p").add(1, 0, "p"),
			stem: []core.StateID{0}, cycle: []core.StateID{0, 1, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := test.graph.violation(t, test.formula, test.fairness)
			if v == nil || test.holds {
				if (v == nil) != test.holds {
					t.Errorf("holds %t, want %t", v == nil, test.holds)
				}
				return
			}
			if got := visited(v, v.Stem); !slices.Equal(got, test.stem) {
				t.Errorf("the stem is %v, want %v", got, test.stem)
			}
			if len(v.Cycle) == 0 && test.cycle == nil {
				return
			}
			if got := visited(v, v.Cycle); !slices.Equal(got, test.cycle) {
				t.Errorf("the cycle is %v, want %v", got, test.cycle)
			}
		})
	}
}

// visited returns the states of a part of a lasso.
func visited(v *core.Violation, run core.Run) []core.StateID {
	if len(run) == 0 {
		return []core.StateID{v.State}
	}
	states := []core.StateID{run[0].From}
	for _, e := range run {
		states = append(states, e.To)
	}
	return states
}

// TestCutStates checks that no run is said to go on for ever through a state of which not all steps
// are known, that what lies behind it counts, and that a prefix that decides is enough.
func TestCutStates(t *testing.T) {
	ring := func() *graph { return newGraph(a, none).add(0, 1, "p").add(1, 0, "p") }
	for _, test := range []struct {
		name    string
		cut     core.StateID
		graph   *graph
		formula string
		holds   bool
	}{
		{"a cycle through it", 1, ring(), "F G a", true},
		{"an end in it", 1, newGraph(a, none).add(0, 1, "p"), "F G a", true},
		{"a cycle behind it", 0, newGraph(a, none).add(0, 1, "p").add(1, 1, "p"), "F G a", false},
		{"a cycle around it", 1, ring().add(0, 0, "q"), "F G b", false},
		{"a prefix to it", 1, newGraph(a, none).add(0, 1, "p"), "G a", false},
	} {
		test.graph.cut[test.cut] = true
		test.graph.unfair[step("p")] = test.name == "a cycle around it"
		if v := test.graph.violation(t, test.formula, ltl.Weak); test.holds != (v == nil) {
			t.Errorf("%s: holds %t, want %t", test.name, v == nil, test.holds)
		}
	}
}

// TestFewestFaults checks that a run with fewer faults is told rather than a shorter one.
func TestFewestFaults(t *testing.T) {
	g := newGraph(a, a, a, none).add(0, 1, "p").add(1, 2, "p").add(2, 3, "p").add(0, 3, "q")
	fault := &g.edges[0][1]
	fault.Step.Detail = "the call fails"
	for _, undisturbed := range []bool{false, true} {
		if undisturbed {
			fault.Step.Detail = ""
		}
		v := g.violation(t, "G a", ltl.Weak)
		if want := map[bool]int{false: 3, true: 1}[undisturbed]; v == nil || len(v.Stem) != want {
			t.Errorf("undisturbed %t: %+v", undisturbed, v)
		}
	}
}

// TestTelling checks what is said of a violation.
func TestTelling(t *testing.T) {
	g := newGraph(a, b).add(0, 1, "p").add(1, 0, "q")
	v := g.violation(t, "F (a && b) || G quiescent || F G a", ltl.Weak)
	if v == nil {
		t.Fatal("it holds")
	}
	if want := "F (a && b) || G quiescent || F G a is not true of a run that repeats forever"; v.Summary != want {
		t.Errorf("got %q, want %q", v.Summary, want)
	}
	want := []string{
		`In the repeated steps, "a" is sometimes true.`,
		`In the repeated steps, "b" is sometimes true.`,
		`In the repeated steps, "quiescent" is never true.`,
	}
	if !slices.Equal(v.Details, want) {
		t.Errorf("got %q, want %q", v.Details, want)
	}
	if !slices.Equal(v.Controllers, []string{"p", "q"}) {
		t.Errorf("the controllers are %q", v.Controllers)
	}
	// However it goes on.
	v = newGraph(a, none).add(0, 1, "p").violation(t, "a && G a", ltl.Weak)
	if want := "a && G a is not true of a run, however it continues"; v == nil || v.Summary != want {
		t.Errorf("got %+v, want %q", v, want)
	}
	if want := []string{`In the last state, "a" is not true.`}; v != nil && !slices.Equal(v.Details, want) {
		t.Errorf("got %q, want %q", v.Details, want)
	}
}

// TestManyDuties checks a component in which more has to be done to be fair than the search for a shortest
// cycle can follow.
func TestManyDuties(t *testing.T) {
	for _, fairness := range []ltl.Fairness{ltl.Weak, ltl.Strong} {
		g := newGraph(none, a, none, none)
		for id := range core.StateID(4) {
			g.add(id, (id+1)%4, "round")
			for duty := range 20 {
				// Each leads back to the start, but in one state, where it stays.
				to := core.StateID(0)
				if int(id) == duty%4 {
					to = id
				}
				g.add(id, to, fmt.Sprint("duty ", duty))
			}
		}
		v := g.violation(t, "F G !a", fairness)
		if v == nil {
			t.Fatal("it holds")
		}
		if !g.fair(fairness, v.State, v.Cycle) {
			t.Errorf("the cycle is not fair: %v", v.Cycle)
		}
		if len(v.Cycle) > 60 {
			t.Errorf("the cycle has %d steps", len(v.Cycle))
		}
	}
}

// TestGraphAtoms checks atoms that are about the whole graph, and the built-in ones.
func TestGraphAtoms(t *testing.T) {
	g := newGraph(none, none, none).add(0, 1, "p").add(1, 2, "p")
	g.edges[1][0].Step.Kind = core.Fire
	odd := ltl.Atom{Name: "odd", Graph: func(context.Context, core.Graph) (func(core.StateID) bool, error) {
		return func(id core.StateID) bool { return id%2 == 1 }, nil
	}}
	for _, test := range []struct {
		formula string
		holds   bool
	}{
		{"!odd && X odd && X X G !odd", true},
		{"X quiescent && !quiescent", true},
		{"X !terminal && X X G (terminal && quiescent)", true},
		{"F G odd", false},
	} {
		if v := g.violation(t, test.formula, ltl.Weak, odd); test.holds != (v == nil) {
			t.Errorf("%s: holds %t, want %t", test.formula, v == nil, test.holds)
		}
	}
}
