package ltl

import "testing"

// TestSizes compares the number of states of the automata of formulas from the literature, and of their
// negations, with those that are published of ltl2tgba (tests/core/ltl2tgba2.test of Spot 2.5). It
// also makes deterministic automata minimal, which explains where ours are larger: they may not become larger still.
func TestSizes(t *testing.T) {
	total, totalPublished := 0, 0
	for _, test := range []struct {
		formula            string
		published, negated int
		// ours are our sizes where they are larger.
		ours, oursNegated int
	}{
		// Etessami and Holzmann, Optimizing Büchi automata, CONCUR 2000.
		{formula: "p0 U (p1 && G p2)", published: 2, negated: 4},
		{formula: "p0 U (p1 && X (p2 U p3))", published: 3, negated: 4},
		{formula: "p0 U (p1 && X (p2 && F (p3 && X F (p4 && X F (p5 && X F p6)))))", published: 7, negated: 8},
		{formula: "F (p0 && X G p1)", published: 2, negated: 2},
		{formula: "F (p0 && X (p1 && X F p2))", published: 4, negated: 3},
		{formula: "F (p0 && X (p1 U p2))", published: 3, negated: 2},
		{formula: "F G p0 || G F p1", published: 3, negated: 2},
		{formula: "G (p0 -> p1 U p2)", published: 2, negated: 3},
		{formula: "G (p0 && X F (p1 && X F (p2 && X F p3)))", published: 5, negated: 5},
		{formula: "G F p0 && G F p1 && G F p2 && G F p3 && G F p4", published: 1, negated: 6},
		{formula: "p0 U (p1 U p2) || p1 U (p2 U p0) || p2 U (p0 U p1)", published: 2, negated: 2},
		{formula: "G (p0 -> p1 U (G p2 || G p3))", published: 4, negated: 6},
		// Somenzi and Bloem, Efficient Büchi automata from LTL formulae, CAV 2000.
		{formula: "p0 U p1", published: 2, negated: 2},
		{formula: "p0 U (p1 U p2)", published: 3, negated: 3},
		{formula: "G F p0 -> G F p1", published: 3, negated: 2},
		{formula: "F p0 U G p1", published: 3, negated: 2},
		{formula: "G p0 U p1", published: 4, negated: 3},
		{formula: "!(F F p0 <-> F p1)", published: 3, negated: 4, ours: 5, oursNegated: 6},
		{formula: "!(G F p0 <-> G F p1)", published: 3, negated: 4},
		{formula: "p0 R (p0 || p1)", published: 2, negated: 2},
		{formula: "X p0 U X p1 || !X (p0 U p1)", published: 1, negated: 1},
		{formula: "X p0 U p1 || !X (p0 U (p0 && p1))", published: 1, negated: 1, ours: 4},
		{formula: "G (p0 -> F p1) && (X p0 U p1 || !X (p0 U (p0 && p1)))", published: 2, negated: 2, ours: 6},
		{formula: "G (p0 -> F p1) && (X p0 U X p1 || !X (p0 U p1))", published: 2, negated: 2},
		{formula: "!G (p0 -> X (p1 R p2))", published: 3, negated: 2},
		{formula: "!(F G p0 || F G p1)", published: 1, negated: 3},
		{formula: "G (F p0 && F p1)", published: 1, negated: 3},
		{formula: "F p0 && F !p0", published: 4, negated: 3},
		{formula: "(X p1 && p2) R X (((p3 U p0) R p2) U (p3 R p2))", published: 5, negated: 4},
		{formula: "G (p1 || G F p0) && G (p2 || G F !p0) || G p1 || G p2", published: 4, negated: 6, oursNegated: 11},
		{formula: "G (p1 || F G p0) && G (p2 || F G !p0) || G p1 || G p2", published: 3, negated: 4, oursNegated: 9},
		{formula: "G (p1 || X G p0) && G (p2 || X G !p0)", published: 3, negated: 4},
		{formula: "G (p1 || (X p0 && X !p0))", published: 1, negated: 2},
		// Dwyer, Avrunin and Corbett, Property specification patterns, FMSP 1998.
		{formula: "F p2 -> !p0 U p2", published: 3, negated: 3, ours: 4},
		{formula: "G (p1 -> G !p0)", published: 2, negated: 3},
		{formula: "G (p1 && !p2 && F p2 -> p0 U p2)", published: 3, negated: 4},
		{formula: "G (p1 && !p2 -> p0 W p2)", published: 2, negated: 3},
		{formula: "!p0 W p3", published: 2, negated: 2},
		{formula: "F p2 -> !p0 U (p3 || p2)", published: 3, negated: 3, ours: 4},
		{formula: "G !p1 || F (p1 && !p0 W p3)", published: 5, negated: 3, oursNegated: 4},
		{formula: "G (p0 -> F p3)", published: 2, negated: 2},
		{formula: "F p2 -> (p0 -> !p2 U (p3 && !p2)) U p2", published: 3, negated: 3, ours: 5},
		{formula: "G (p1 -> G (p0 -> F p3))", published: 3, negated: 3},
		{formula: "G (p1 && !p2 && F p2 -> (p0 -> !p2 U (p3 && !p2)) U p2)", published: 3, negated: 4, ours: 4},
		{formula: "G (p1 && !p2 -> (p0 -> !p2 U (p3 && !p2)) W p2)", published: 3, negated: 4},
		{formula: "F p0 -> !p0 U (p3 && !p0 && X (!p0 U p4))", published: 3, negated: 3, ours: 5},
		{formula: "G (p3 && X F p4 -> X F (p4 && F p0))", published: 6, negated: 3, ours: 8, oursNegated: 4},
		{formula: "G (p0 -> F (p3 && X F p4))", published: 4, negated: 3},
	} {
		f := mustParse(test.formula)
		for _, negated := range []bool{false, true} {
			published, ours := test.published, test.ours
			if negated {
				published, ours = test.negated, test.oursNegated
			}
			a, err := translate(f, negated)
			if err != nil {
				t.Fatal(err)
			}
			if got, most := len(a.states), max(published, ours); got > most {
				t.Errorf("%s, negated %t: %d states, and there were %d; published are %d", test.formula, negated, got, most, published)
			}
			total += len(a.states)
			totalPublished += published
		}
	}
	t.Logf("%d states, published are %d", total, totalPublished)
	if total*100 > totalPublished*115 {
		t.Errorf("%d states in all, published are %d: more than 15%% above", total, totalPublished)
	}
}

// TestMinimalSizes compares with numbers of states that are proved to be the least that a Büchi automaton can have
// (Cichoń, Czubak and Jasiński, Minimal Büchi automata for certain classes of LTL formulas, DepCoS 2009).
func TestMinimalSizes(t *testing.T) {
	for _, test := range []struct {
		formula string
		least   int
	}{
		{"F a", 2},
		{"F a && F b", 4},
		{"F a && F b && F c && F d", 16},
		{"F (a && F (b && F c)) && F (d && F (e && F f))", 16},
	} {
		a, err := translate(mustParse(test.formula), false)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(a.states); got != test.least {
			t.Errorf("%s: %d states, the least are %d", test.formula, got, test.least)
		}
	}
}
