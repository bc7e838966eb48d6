package typo

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"check", "chekc", 2}, {"größe", "grosse", 3},
	}
	for _, test := range tests {
		if got := Distance(test.a, test.b); got != test.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestDistanceIsOne(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		if Distance(a, b) != Distance(b, a) {
			t.Fatal("it is not the same in both directions")
		}
		if (Distance(a, b) == 0) != (a == b) {
			t.Fatal("it is not zero exactly for equal words")
		}
		if Distance(a, c) > Distance(a, b)+Distance(b, c) {
			t.Fatal("a detour is shorter")
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"settled", "quiescent", "Terminal", "team/web"}
	for name, want := range map[string]string{"setled": "settled", "TERMINAL": "Terminal", "wep": "team/web", "team/wob": "team/web", "quiet": "", "": ""} {
		if got := Nearest(name, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}
