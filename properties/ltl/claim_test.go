package ltl_test

import (
	"context"
	"errors"
	"slices"
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
		{"no meaning", ltl.Claim{Formula: "F b", Atoms: []ltl.Atom{{Name: "b"}}}, `the atom "b" must have exactly one of State, Partial, Step and Graph`},
		{"two meanings", ltl.Claim{Formula: "F b", Atoms: []ltl.Atom{{Name: "b", State: state, Step: func(core.Edge) bool { return true }}}},
			`the atom "b" must have exactly one of State, Partial, Step and Graph`},
		{"fairness", ltl.Claim{Formula: "true", Fairness: 9}, "there is no fairness number 9: use Weak, Strong or Unfair"},
		{"too large", ltl.Claim{Formula: "terminal" + tooLarge()},
			"the formula is too large to be checked"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.claim.Property()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
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
	if p.Name != "G F terminal" || p.Doc != "Becomes true again and again on every weakly fair run: terminal." || p.Assumption != "" || p.Validate() != nil {
		t.Errorf("the property is %q: %q", p.Name, p.Doc)
	}
	p, err = ltl.Claim{Name: "name", Doc: "doc", Formula: "[]<>terminal", Fairness: ltl.Strong}.Property()
	if err != nil || p.Name != "name" || p.Doc != "doc" || !strings.Contains(p.Assumption, "strong fairness") {
		t.Errorf("the property is %q: %q, assuming %q, %v", p.Name, p.Doc, p.Assumption, err)
	}
}

func TestUnreducible(t *testing.T) {
	taken := ltl.Atom{Name: "taken", Step: func(core.Edge) bool { return true }}
	for _, test := range []struct {
		formula  string
		fairness ltl.Fairness
		want     string
	}{
		{"G (a -> F b)", ltl.Weak, ""},
		{"F (a && X (!a && F b))", ltl.Weak, ""},
		{"a U (a && X X !a)", ltl.Weak, "a U (a && X X !a) depends on how often a state repeats, because of the X at column 11"},
		{"G taken", ltl.Weak, `the atom "taken" is about steps`},
		{"G F quiescent", ltl.Weak, `the atom "quiescent" is about which steps are possible in a state`},
		{"G F a", ltl.Strong, "strong fairness depends on how often a step is possible"},
		{"G F a", ltl.Unfair, "without fairness, a run may ignore a step forever"},
	} {
		p, err := ltl.Claim{Formula: test.formula, Atoms: append(atoms(), taken), Fairness: test.fairness}.Property()
		if err != nil {
			t.Fatal(err)
		}
		if p.Unreducible != test.want || p.Reducible() != (test.want == "") || p.Validate() != nil {
			t.Errorf("%s: got %q, reducible %t, want %q", test.formula, p.Unreducible, p.Reducible(), test.want)
		}
	}
}

// TestSees checks that a claim looks at all that its atoms look at, and at nothing else.
func TestSees(t *testing.T) {
	var looked []string
	atom := func(name string) ltl.Atom {
		return ltl.Atom{Name: name, Partial: func(core.State) (bool, error) {
			looked = append(looked, name)
			return false, errors.New("no answer")
		}}
	}
	p, err := ltl.Claim{Formula: "G (b || a)", Atoms: []ltl.Atom{atom("a"), atom("b"), atom("c")}}.Property()
	if err != nil {
		t.Fatal(err)
	}
	p.Sees(nil)
	if got := strings.Join(looked, " "); got != "b a" {
		t.Errorf("it looked at %s", got)
	}
}

// TestNoAnswer checks that a state in which an atom is neither true nor false is told.
func TestNoAnswer(t *testing.T) {
	foggy := ltl.Atom{Name: "clear", Partial: func(s core.State) (bool, error) {
		if atoms()[0].State(s) {
			return false, errors.New("fog")
		}
		return true, nil
	}}
	g := newGraph(none, b, a).add(0, 1, "p").add(1, 2, "q").add(2, 2, "q")
	v := g.violation(t, "G (clear || !b)", ltl.Weak, foggy)
	if v == nil || v.Summary != `the system reaches a state in which "clear" is neither true nor false: fog` ||
		len(v.Stem) != 2 || v.State != 2 || !slices.Equal(v.Controllers, []string{"q"}) {
		t.Errorf("got %+v", v)
	}
	if v := newGraph(a).add(0, 0, "p").violation(t, "F clear", ltl.Weak, foggy); v == nil || len(v.Stem) != 0 || v.State != 0 {
		t.Errorf("at the start: got %+v", v)
	}
	if v := newGraph(b).add(0, 0, "p").violation(t, "F clear", ltl.Weak, foggy); v != nil {
		t.Errorf("where it is clear: got %+v", v)
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
