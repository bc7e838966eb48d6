package ltl

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// mustParse parses a formula that is right.
func mustParse(text string) *Formula {
	f, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return f
}

// drawFormula draws a formula over the first of the atoms a, b, c.
func drawFormula(t *rapid.T, atoms, depth int) *Formula {
	n := drawNode(t, atoms, depth)
	return mustParse((&Formula{root: n}).String())
}

func drawNode(t *rapid.T, atoms, depth int) *node {
	unary := []operator{not, next, eventually, always}
	binary := []operator{and, or, implies, iff, until, release, unless, strongRelease}
	o := atom
	if depth > 0 {
		o = rapid.SampledFrom(slices.Concat([]operator{atom}, unary, unary, binary)).Draw(t, "operator")
	}
	switch {
	case o == atom && rapid.IntRange(0, 19).Draw(t, "constant") == 0:
		return &node{operator: rapid.SampledFrom([]operator{constTrue, constFalse}).Draw(t, "which")}
	case o == atom:
		return &node{operator: atom, name: string(rune('a' + rapid.IntRange(0, atoms-1).Draw(t, "atom")))}
	case slices.Contains(unary, o):
		return &node{operator: o, left: drawNode(t, atoms, depth-1)}
	}
	return &node{operator: o, left: drawNode(t, atoms, depth-1), right: drawNode(t, atoms, depth-1)}
}

// lettersWord is a word whose letters are sets of the atoms a, b, c, one bit each.
func lettersWord(letters []letter, loop int) *lassoWord {
	return &lassoWord{length: len(letters), loop: loop, holds: func(name string, i int) bool {
		return letters[i]&(1<<(name[0]-'a')) != 0
	}}
}

// drawWord draws an infinite word over a number of atoms.
func drawWord(t *rapid.T, atoms int) *lassoWord {
	letters := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 1<<atoms-1), func(i int) letter { return letter(i) }), 1, 7).Draw(t, "letters")
	return lettersWord(letters, rapid.IntRange(0, len(letters)-1).Draw(t, "loop"))
}

// words calls visit with each infinite word of a stem and a cycle of at most so many
// letters each.
func eachWord(atoms, stem, cycle int, visit func(*lassoWord)) {
	n := 1 << atoms
	for length := 1; length <= stem+cycle; length++ {
		letters := make([]letter, length)
		for code := range pow(n, length) {
			for i := range letters {
				letters[i] = letter(code % n)
				code /= n
			}
			for loop := max(0, length-cycle); loop <= min(stem, length-1); loop++ {
				visit(lettersWord(letters, loop))
			}
		}
	}
}

func pow(n, exponent int) int {
	result := 1
	for range exponent {
		result *= n
	}
	return result
}

func (w *lassoWord) String() string {
	s := ""
	for i := range w.length {
		if i == w.loop {
			s += "("
		}
		for _, name := range []string{"a", "b", "c"} {
			if w.holds(name, i) {
				s += name
			}
		}
		s += "."
	}
	return fmt.Sprint(s, ")")
}
