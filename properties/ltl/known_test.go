package ltl_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/ltl"
)

func action(name string, do func(*plain.World)) plain.Action { return plain.Action{Name: name, Do: do} }

// explored searches a model in full.
func explored(t *testing.T, model plain.Model) core.Graph {
	t.Helper()
	model.Name = "known"
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	return search(t, system)
}

// check judges a formula on a graph.
func check(t *testing.T, g core.Graph, formula string, fairness ltl.Fairness, atoms ...ltl.Atom) *core.Violation {
	t.Helper()
	property, err := ltl.Claim{Formula: formula, Atoms: atoms, Fairness: fairness}.Property()
	if err != nil {
		t.Fatal(err)
	}
	violations, err := property.Judge(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if len(violations) == 0 {
		return nil
	}
	return &violations[0]
}

// at is the atom that a variable has a value.
func at[T comparable](name string, x plain.Var[T], value T) ltl.Atom {
	return ltl.Atom{Name: name, State: func(s core.State) bool { return x.Get(s) == value }}
}

// by is the atom that a process takes the step.
func by(name, process string) ltl.Atom {
	return ltl.Atom{Name: name, Step: func(e core.Edge) bool { return e.Step.Item.Strategy == process }}
}

// A variable is incremented modulo 3, which is weakly fair, or set to any value, which is
// not: it is incremented again and again, and yet need not ever be 2 again. It has 3 states.
func TestIncrementOrAny(t *testing.T) {
	x := plain.NewVar[int]("x")
	var set []plain.Action
	for value := range 3 {
		set = append(set, action(fmt.Sprint("set ", value), func(w *plain.World) { x.Set(w, value) }))
	}
	g := explored(t, plain.Model{
		Initial: []core.Initial{plain.Start(x.Is(0))},
		Processes: []plain.Process{
			{Name: "increment", Actions: []plain.Action{action("increment", func(w *plain.World) { x.Set(w, (x.Get(w)+1)%3) })}},
			{Name: "any", Actions: set, Unfair: true},
		},
	})
	if g.States() != 3 {
		t.Fatalf("%d states, want 3", g.States())
	}
	incremented := by("incremented", "increment")
	if v := check(t, g, "G F incremented", ltl.Weak, incremented); v != nil {
		t.Errorf("it is not incremented after %v, %v", v.Stem, v.Cycle)
	}
	v := check(t, g, `G F "x is 2"`, ltl.Weak, at("x is 2", x, 2))
	if v == nil || !slices.ContainsFunc(v.Cycle, func(e core.Edge) bool { return e.Step.Item.Strategy == "increment" }) {
		t.Errorf("a fair cycle without 2 is not found: %+v", v)
	}
	if v := check(t, g, "G F incremented", ltl.Unfair, incremented); v == nil {
		t.Error("without fairness, it has to be incremented")
	}
}

// 0→1→2→0 with 0→0: that x is not 0 from some point on is violated.
func TestRingWithLoop(t *testing.T) {
	x := plain.NewVar[int]("x")
	for _, unfair := range []bool{false, true} {
		g := explored(t, plain.Model{
			Initial: []core.Initial{plain.Start(x.Is(0))},
			Processes: []plain.Process{{Name: "p", Unfair: unfair, Actions: []plain.Action{
				action("go on", func(w *plain.World) { x.Set(w, (x.Get(w)+1)%3) }),
				action("stay", func(w *plain.World) { w.Require(x.Get(w) == 0) }),
			}}},
		})
		v := check(t, g, `stable !"x is 0"`, ltl.Weak, at("x is 0", x, 0))
		if v == nil {
			t.Fatal("it holds")
		}
		// To be fair, the run has to go round, as staying at 0 for ever would neglect to go on.
		if want := map[bool]int{false: 3, true: 0}[unfair]; len(v.Cycle) != want || len(v.Stem) != 0 {
			t.Errorf("unfair %t: the run is %v, %v", unfair, v.Stem, v.Cycle)
		}
	}
}

// 0→1: without fairness, x need not ever be 1.
func TestOneStep(t *testing.T) {
	x := plain.NewVar[int]("x")
	for _, unfair := range []bool{false, true} {
		g := explored(t, plain.Model{
			Initial: []core.Initial{plain.Start(x.Is(0))},
			Processes: []plain.Process{{Name: "p", Unfair: unfair, Actions: []plain.Action{
				action("go", func(w *plain.World) { w.Require(x.Get(w) == 0); x.Set(w, 1) }),
			}}},
		})
		one := at("x is 1", x, 1)
		for _, fairness := range []ltl.Fairness{ltl.Weak, ltl.Strong, ltl.Unfair} {
			want := unfair || fairness == ltl.Unfair
			if v := check(t, g, `F "x is 1"`, fairness, one); want != (v != nil) {
				t.Errorf("unfair %t, fairness %d: violated %t", unfair, fairness, v != nil)
			}
		}
		if v := check(t, g, `G ("x is 1" -> terminal && quiescent)`, ltl.Weak, one); v != nil {
			t.Errorf("the end is not terminal: %v", v)
		}
	}
}

// Peterson's mutual exclusion has 32 states and 54 transitions. Under weak fairness nobody starves, without it
// somebody does.
func TestPeterson(t *testing.T) {
	flags, places, turn := plain.NewFamily[bool]("flag"), plain.NewFamily[int]("place"), plain.NewVar[int]("turn")
	model := plain.Model{Initial: []core.Initial{plain.Start(
		turn.Is(0), flags.At(0).Is(false), flags.At(1).Is(false), places.At(0).Is(0), places.At(1).Is(0),
	)}}
	var atoms []ltl.Atom
	for me := range 2 {
		flag, place, other := flags.At(me), places.At(me), 1-me
		var actions []plain.Action
		for from, do := range []func(*plain.World){
			func(w *plain.World) { flag.Set(w, true) },
			func(w *plain.World) { turn.Set(w, me) },
			func(w *plain.World) { w.Require(!flags.At(other).Get(w) || turn.Get(w) == other) },
			func(*plain.World) {},
			func(*plain.World) {},
			func(w *plain.World) { flag.Set(w, false) },
		} {
			actions = append(actions, action(fmt.Sprint("from ", from), func(w *plain.World) {
				w.Require(place.Get(w) == from)
				do(w)
				place.Set(w, (from+1)%6)
			}))
		}
		name := fmt.Sprint("p", me)
		model.Processes = append(model.Processes, plain.Process{Name: name, Actions: actions})
		atoms = append(atoms, at("wants"+name, flag, true), at("inside"+name, place, 4), by("moves"+name, name))
	}
	g := explored(t, model)
	transitions := 0
	for id := range core.StateID(g.States()) {
		transitions += len(g.Edges(id))
	}
	if g.States() != 32 || transitions != 54 {
		t.Errorf("%d states and %d transitions, want 32 and 54", g.States(), transitions)
	}
	for _, test := range []struct {
		formula  string
		fairness ltl.Fairness
		holds    bool
	}{
		{"G !(insidep0 && insidep1)", ltl.Unfair, true},
		{"G !terminal", ltl.Unfair, true},
		{"wantsp0 leads to insidep0", ltl.Weak, true},
		{"wantsp1 leads to insidep1", ltl.Weak, true},
		{"wantsp0 leads to insidep0", ltl.Strong, true},
		{"wantsp0 leads to insidep0", ltl.Unfair, false},
		{"G F insidep0 && G F insidep1", ltl.Weak, true},
		{"G F insidep0 && G F insidep1", ltl.Unfair, false},
		{"G F insidep0 -> G F insidep1", ltl.Weak, true},
		// The other overtakes at most once: bounded waiting.
		{"G (wantsp0 -> !insidep1 W insidep1 W !insidep1 W insidep0)", ltl.Weak, false},
		{"G !wantsp0", ltl.Weak, false},
		{"F insidep0 && (!insidep0 U insidep1)", ltl.Weak, false},
		{"G F movesp0 && G F movesp1", ltl.Weak, true},
		{"G F movesp0", ltl.Unfair, false},
		{"G (insidep0 -> X movesp0)", ltl.Weak, false},
	} {
		if v := check(t, g, test.formula, test.fairness, atoms...); test.holds != (v == nil) {
			t.Errorf("%s, on every %s: holds %t, want %t", test.formula, test.fairness, v == nil, test.holds)
		}
	}
}
