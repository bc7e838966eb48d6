package randomness_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// secretOf is a Secret with two passwords in it.
func secretOf(a, b string) string {
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	return fmt.Sprintf(`{"data":{"a":%q,"b":%q}}`, encoded(a), encoded(b))
}

// TestExchanged has a run be another one, but for the order in which it has put to use what it draws, as long as it was
// not given that, and each word stands for one.
func TestExchanged(t *testing.T) {
	const one, two, mixed = "password12345", "password67890", "ab+cd/efghijk="
	source := knowing(t, one, two)
	if _, at := source.Compare([]core.Drawn{{Texts: []string{secretOf(mixed, "")}}, {Texts: []string{secretOf("ghij+klmnopqr!", "")}}, {Texts: []string{secretOf("stuvw/xyz0123?", "")}}}, false); at >= 0 {
		t.Fatalf("%s is no word", mixed)
	}
	for _, test := range []struct {
		what        string
		said, other []string
		given       []string
		want        bool
	}{
		{"in another order", []string{secretOf(one, two)}, []string{secretOf(two, one)}, nil, true},
		{"others", []string{secretOf(one, two)}, []string{secretOf(two, "anyotherword1")}, nil, true},
		{"other characters", []string{secretOf(mixed, two)}, []string{secretOf("3wor+ds?andso!", "anyotherword1")}, nil, true},
		{"a text of another length", []string{secretOf(one, two)}, []string{secretOf(two, "changeme")}, nil, false},
		{"another one that it was given", []string{secretOf(one, two)}, []string{secretOf(two, "givenpassword")}, []string{"it is givenpassword"}, false},
		{"within a text", []string{`{"a":"by ` + one + `, not ` + two + `"}`}, []string{`{"a":"by ` + two + `, not ` + one + `"}`}, nil, true},
		{"twice, in the same order", []string{secretOf(one, two), secretOf(one, two)}, []string{secretOf(two, one), secretOf(two, one)}, nil, true},
		{"twice, in another order", []string{secretOf(one, two), secretOf(one, two)}, []string{secretOf(two, one), secretOf(one, two)}, nil, false},
		{"one in place of two", []string{secretOf(one, two)}, []string{secretOf(two, two)}, nil, false},
		{"no word", []string{secretOf("what is drawn", two)}, []string{secretOf("what is not", two)}, nil, false},
		{"something besides", []string{`{"a":"` + one + `","is":"this"}`}, []string{`{"a":"` + two + `","is":"that"}`}, nil, false},
		{"what it was given", []string{secretOf(one, two)}, []string{secretOf(two, one)}, []string{"it is " + one}, false},
		{"less", []string{secretOf(one, two), "more"}, []string{secretOf(two, one)}, nil, false},
		{"the same", []string{secretOf(one, two)}, []string{secretOf(one, two)}, nil, false},
	} {
		given := make([][]string, len(test.said))
		for i := range given {
			given[i] = test.given
		}
		if got := source.Exchanged(core.Drawn{Texts: test.said}, core.Drawn{Texts: test.other}, given); got != test.want {
			t.Errorf("%s: %t, want %t", test.what, got, test.want)
		}
	}
}
