package ltl

import "pgregory.net/rapid"

// What tests from outside share with those from inside.

// DrawFormula draws a formula over the atoms a and b.
func DrawFormula(t *rapid.T, depth int) *Formula { return drawFormula(t, 2, depth) }

// Accepts reports whether a formula is true of an infinite word, given by letters, one bit for
// each of the atoms a, b and c.
func Accepts(f *Formula, letters []int, loop int) bool {
	word := make([]letter, len(letters))
	for i, l := range letters {
		word[i] = letter(l)
	}
	return lettersWord(word, loop).accepts(f)
}
