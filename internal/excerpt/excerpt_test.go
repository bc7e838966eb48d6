package excerpt

import (
	"strings"
	"testing"
)

func TestExcerpt(t *testing.T) {
	for _, test := range []struct {
		name, text, part, place, want string
	}{
		{"a word", "G settled", "settled", "column 3", "  G settled\n    ^^^^^^^"},
		{"wide characters", "größe > 1", ">", "column 7", "  größe > 1\n        ^"},
		{"a tab", "a\tb", "b", "column 3", "  a\tb\n   \t^"},
		{"a line of several", "one\ntwo\nthree", "two", "line 2, column 1", "  two\n  ^^^"},
		{"several lines", "one\ntwo", "e\ntwo", "line 1, column 3", "  one\n    ^"},
		{"the end", "p &&", "", "column 5", "  p &&\n      ^"},
	} {
		from := strings.Index(test.text, test.part)
		if test.part == "" {
			from = len(test.text)
		}
		if got := lineOf(test.text, from, from+len(test.part)).String(); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
		if got := Place(test.text, from); got != test.place {
			t.Errorf("%s is at %s, want %s", test.name, got, test.place)
		}
	}
}
