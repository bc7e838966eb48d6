package ltl

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a", "a"},
		{" a.b_c1 ", "a.b_c1"},
		{`"x is 0"`, `"x is 0"`},
		{`'x is 0'`, `"x is 0"`},
		{`"a"`, "a"},
		{`"F" && "until" && "GF" && "leads"`, `"F" && "until" && "GF" && "leads"`},
		{`"say \"a\""`, `"say \"a\""`},
		{"größe", "größe"},
		{"true U false", "true U false"},
		{"[] <> a", "G F a"},
		{"GF a -> FGX b", "G F a -> F G X b"},
		{"not next a and always eventually b or c implies d iff e", "!X a && G F b || c -> d <-> e"},
		{"a until b", "a U b"},
		{"a unless b", "a W b"},
		{"a releases b", "a R b"},
		{"a V b M c", "a R b M c"},
		{"stable a", "F G a"},
		{"a leads to b", "G (a -> F b)"},
		{"a && b ~> b || c", "G (a && b -> F (b || c))"},
		{"(a leads\n to b) && c", "G (a -> F b) && c"},
		{"always a leads to b", "G (G a -> F b)"},
		// How tightly operators bind.
		{"!a U X b", "!a U X b"},
		{"!(a U b)", "!(a U b)"},
		{"a U b && c", "a U b && c"},
		{"a U (b && c)", "a U (b && c)"},
		{"a & b | c & d", "a && b || c && d"},
		{"(a | b) & c", "(a || b) && c"},
		{"a || b -> c", "a || b -> c"},
		{"a -> b <-> c -> d", "a -> b <-> c -> d"},
		{"a => (b <=> c)", "a -> (b <-> c)"},
		// Equals group to the right.
		{"a U b U c", "a U b U c"},
		{"(a U b) U c", "(a U b) U c"},
		{"a -> b -> c", "a -> b -> c"},
		{"(a -> b) -> c", "(a -> b) -> c"},
		{"!!F!a", "!!F !a"},
	} {
		f, err := Parse(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if got := f.String(); got != test.want {
			t.Errorf("%s is read as %s, want %s", test.text, got, test.want)
		}
	}
}

// TestMistakes checks what is said of mistakes, and where: the mark is below the wrong place.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "column 1: the formula is empty\n  \n  ^"},
		{"  ", "column 3: the formula is empty\n    \n    ^"},
		{"G (a -> F )", "column 11: an atom or a formula should stand before \")\"\n  G (a -> F )\n            ^"},
		{"a ->", "column 5: the formula ends where an atom or a formula in parentheses should follow\n  a ->\n      ^"},
		{"a b", "column 3: an operator is missing before \"b\"\n  a b\n    ^"},
		{"(a F b)", "column 4: an operator is missing before \"F\"\n  (a F b)\n     ^"},
		{"(a", "column 1: the parenthesis is never closed\n  (a\n  ^"},
		{"a)", "column 2: no parenthesis is open here: remove this one\n  a)\n   ^"},
		{"U b", "column 1: \"U\" stands between two formulas, and the one before it is missing\n  U b\n  ^"},
		{"a && until b", "column 6: \"until\" stands between two formulas, and the one before it is missing\n  a && until b\n       ^^^^^"},
		{"F \"a", "column 3: the quote is never closed\n  F \"a\n    ^"},
		{"''", "column 1: the name of an atom is empty\n  ''\n  ^^"},
		{`"\q"`, "column 1: a name in double quotes is written as a Go string: no line breaks, and a backslash only before what it escapes\n  \"\\q\"\n  ^^^^"},
		{"x = 0", "column 3: \"=\" is not part of the logic: give a comparison a name of its own as an atom, and write the name in quotes\n  x = 0\n    ^"},
		{"a ? b", "column 3: \"?\" is not part of the logic: put the name of an atom in quotes if it has such characters\n  a ? b\n    ^"},
		{"a leads b", "column 3: after \"leads\" comes \"to\"; put the word in quotes if it is the name of an atom\n  a leads b\n    ^^^^^"},
		{"a leads to b leads to c", "column 14: a chain of \"leads to\" is ambiguous: add parentheses, or join the pairs with &&\n  a leads to b leads to c\n               ^^^^^^^^"},
		{"ä && ?", "column 6: \"?\" is not part of the logic: put the name of an atom in quotes if it has such characters\n  ä && ?\n       ^"},
		{"a &&\n\tG )\n&& b", "line 2, column 4: an atom or a formula should stand before \")\"\n  \tG )\n  \t  ^"},
	} {
		_, err := Parse(test.text)
		var m *Mistake
		if !errors.As(err, &m) {
			t.Errorf("%q: got the error %v", test.text, err)
			continue
		}
		if want := "formula, " + test.want; m.Error() != want {
			t.Errorf("%q: got\n%s\nwant\n%s", test.text, m, want)
		}
	}
	deep := strings.Repeat("(", 1_000_000)
	if _, err := Parse(deep); err == nil || !strings.Contains(err.Error(), "nested more than 1000 deep") {
		t.Error("a million parentheses are not refused as too deep")
	}
}

// TestRoundTrip checks that a formula that is printed and parsed is the same formula.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t, 3, 5)
		text := (&Formula{root: n}).String()
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if !same(f.root, n) {
			t.Fatalf("%s is read as %s", text, f)
		}
	})
}

// same reports whether two parts are built in the same way.
func same(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.operator == b.operator && a.name == b.name && same(a.left, b.left) && same(a.right, b.right)
}

// FuzzParse checks that any text is either read, and then can be printed and read again, or refused with
// a place inside it.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "a", "G (a -> F b)", `"x is 0" U 'y'`, "GF a leads to [] <> b", "((a", "a ->", "\"\\", "\xff", "a\n?\tb", "F\"\\x\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := Parse(text)
		var m *Mistake
		switch {
		case errors.As(err, &m):
			if m.From < 0 || m.From > m.To || m.To > len(text) || m.Error() == "" {
				t.Errorf("%q: the place is from %d to %d", text, m.From, m.To)
			}
		case err != nil:
			t.Errorf("%q: the error is not a mistake: %v", text, err)
		default:
			again, err := Parse(parsed.String())
			if err != nil || !same(parsed.root, again.root) {
				t.Errorf("%q is printed as %q, which is read as %v with %v", text, parsed, again, err)
			}
		}
	})
}
