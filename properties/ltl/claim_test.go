package ltl_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/ltl"
)

func TestClaimMistakes(t *testing.T) {
	state := func(core.State) bool { return true }
	atom := func(name string) ltl.Atom { return ltl.Atom{Name: name, State: state} }
	for _, test := range []struct {
		name  string
		claim ltl.Claim
		want  string
	}{
		{"syntax", ltl.Claim{Formula: "F ("}, "formula, column 4: the formula ends"},
		{"unknown atom", ltl.Claim{Formula: "G F redy", Atoms: []ltl.Atom{atom("ready"), atom("b")}},
			"formula, column 5: there is no atom \"redy\": did you mean \"ready\"? Known are \"quiescent\", \"terminal\", \"ready\", \"b\"\n  G F redy\n      ^^^^"},
		{"nothing similar", ltl.Claim{Formula: "F something"}, `there is no atom "something": known are "quiescent", "terminal"`},
		{"name used twice", ltl.Claim{Formula: "F b && a", Atoms: []ltl.Atom{atom("a"), atom("b"), atom("a")}},
			"formula, column 8: two atoms are called \"a\": give each its own name\n  F b && a\n         ^"},
		{"name used twice, but not in the formula", ltl.Claim{Formula: "F b", Atoms: []ltl.Atom{atom("a"), atom("b"), atom("a")}},
			`two atoms are called "a": give each its own name`},
		{"name of a built-in atom", ltl.Claim{Formula: "F terminal", Atoms: []ltl.Atom{atom("terminal")}},
			"formula, column 3: there is an atom \"terminal\" already, which is built in: give yours another name"},
		{"no name", ltl.Claim{Formula: "F b", Atoms: []ltl.Atom{{State: state}}}, "an atom has no name: set Atom.Name"},
		{"no meaning", ltl.Claim{Formula: "F b", Atoms: []ltl.Atom{{Name: "b"}}}, `the atom "b" must have exactly one of State, Step and Graph`},
		{"two meanings", ltl.Claim{Formula: "F b", Atoms: []ltl.Atom{{Name: "b", State: state, Step: func(core.Edge) bool { return true }}}},
			`the atom "b" must have exactly one of State, Step and Graph`},
		{"fairness", ltl.Claim{Formula: "true", Fairness: 9}, "there is no fairness number 9: use Weak, Strong or Unfair"},
		{"too large", ltl.Claim{Formula: "terminal" + tooLarge()},
			"the formula is too large to be checked"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.claim.Property()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			_, err = test.claim.Unreducible()
			if err == nil && test.name != "too large" {
				t.Error("whether it can be reduced is said of it all the same")
			}
		})
	}
}

// tooLarge is the end of a formula that is satisfied in too many ways.
func tooLarge() string {
	text := ""
	for i := range 20 {
		next := strings.Repeat("X ", i+1)
		text += " && (F (quiescent && " + next + "terminal) || G (terminal || " + next + "quiescent))"
	}
	return text
}

func TestClaimTexts(t *testing.T) {
	p, err := ltl.Claim{Formula: "[]<>terminal"}.Property()
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "G F terminal" || p.Doc != "G F terminal is true of every weakly fair run." || p.Validate() != nil {
		t.Errorf("the property is %q: %q", p.Name, p.Doc)
	}
	p, err = ltl.Claim{Name: "name", Doc: "doc", Formula: "[]<>terminal", Fairness: ltl.Strong}.Property()
	if err != nil || p.Name != "name" || p.Doc != "doc" {
		t.Errorf("the property is %q: %q, %v", p.Name, p.Doc, err)
	}
}

func TestUnreducible(t *testing.T) {
	taken := ltl.Atom{Name: "taken", Step: func(core.Edge) bool { return true }}
	for _, test := range []struct{ formula, want string }{
		{"G (a -> F b)", ""},
		{"F (a && X (!a && F b))", ""},
		{"a U (a && X X !a)", "a U (a && X X !a) tells apart how often a state repeats, by the X at column 11"},
		{"G taken", `the atom "taken" is about steps, and a reduction leaves out steps`},
	} {
		got, err := ltl.Claim{Formula: test.formula, Atoms: append(atoms(), taken)}.Unreducible()
		if err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.formula, got, err, test.want)
		}
	}
}

// TestEndedContext checks that judging stops early.
func TestEndedContext(t *testing.T) {
	p, err := ltl.Claim{Formula: "G F a", Atoms: atoms()}.Property()
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := p.Judge(ended, newGraph(0).add(0, 0, "p")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
