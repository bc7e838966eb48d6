package ltl

import (
	"testing"

	"pgregory.net/rapid"
)

func TestStutterInvariant(t *testing.T) {
	for _, test := range []struct {
		formula string
		want    bool
	}{
		{"a U b", true},
		{"X a", false},
		{"X X a", false},
		{"X true", true},
		{"X G F a", true},
		{"F X a", false},
		{"F G X a", true},
		{"G (a -> X a)", true},
		{"G (a -> X !a)", false},
		{"a && X (a U (!a && b))", true},
		{"F (a && X (!a && b))", true},
		{"F (a && X b)", false},
		// A change is seen however often the states before and after it repeat (Etessami, Stutter-invariant
		// languages, CAV 1999).
		{"F (a && (a U (!a && (!a U (a && b)))))", true},
		{"!a && F (!a && X a)", true},
		{"G a || F (a && X !a) || !a", true},
	} {
		if got := mustParse(test.formula).StutterInvariant(); got != test.want {
			t.Errorf("%s: got %t, want %t", test.formula, got, test.want)
		}
	}
}

// TestStutteringWords compares the decision with words in which a letter is repeated: an invariant
// formula tells no two of them apart, and one that is not tells some two apart.
func TestStutteringWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFormula(t, 1, 3)
		told := false
		eachWord(1, 2, 3, func(w *lassoWord) {
			for at := range w.length {
				told = told || w.accepts(f) != repeated(w, at).accepts(f)
			}
		})
		if invariant := f.StutterInvariant(); invariant == told {
			t.Fatalf("%s is said to be invariant: %t; it tells words apart: %t", f, invariant, told)
		}
	})
}

// repeated returns the word with the letter at a position written twice.
func repeated(w *lassoWord, at int) *lassoWord {
	before := func(i int) int {
		if i > at {
			return i - 1
		}
		return i
	}
	loop := w.loop
	if loop > at {
		loop++
	}
	return &lassoWord{length: w.length + 1, loop: loop, holds: func(name string, i int) bool { return w.holds(name, before(i)) }}
}
