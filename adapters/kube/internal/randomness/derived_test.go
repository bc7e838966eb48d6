package randomness_test

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube/internal/randomness"
	"github.com/orrery-dev/orrery/core"
)

// knowing is a source that knows words. Each is another one in each of three runs that it compares.
func knowing(t *testing.T, words ...string) *randomness.Source {
	source := randomness.New()
	for _, word := range words {
		var runs []core.Drawn
		for _, end := range []string{"", "other", "third"} {
			runs = append(runs, core.Drawn{Texts: []string{`{"word":"` + word + end + `"}`}})
		}
		if _, at := source.Compare(runs, false); at >= 0 {
			t.Fatalf("%s is no word", word)
		}
	}
	return source
}

// TestDerived has the words follow from what a run was given that are others where it is, and that it did not copy.
func TestDerived(t *testing.T) {
	const password, sum, name = "password12345", "checksum123456", "anyname1234567"
	const mixed = "ab+cd/efghijk="
	source := knowing(t, password, sum, name)
	if _, at := source.Compare([]core.Drawn{{Texts: []string{`{"a":"` + mixed + `"}`}}, {Texts: []string{`{"a":"ghij+klmnopqr="}`}}, {Texts: []string{`{"a":"stuvw/xyz0123="}`}}}, false); at >= 0 {
		t.Fatalf("%s is no word", mixed)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(password))
	for _, test := range []struct {
		what, one, other string
		given            []string
		want             []string
	}{
		{"the same", `{"sum":"` + sum + `"}`, `{"sum":"` + sum + `"}`, nil, nil},
		{"another checksum", `{"sum":"` + sum + `","name":"` + name + `"}`, `{"sum":"other1234567","name":"` + name + `"}`, nil, []string{sum}},
		{"a part of a text", `{"is":"by ` + sum + ` for ` + name + `"}`, `{"is":"by other1234567 for ` + name + `"}`, nil, []string{sum}},
		{"a text of another form", `{"is":"` + sum + `/` + name + `"}`, `{"is":"other/1234567/` + name + `"}`, nil, []string{sum}},
		{"a name", "create " + name + " in default", "create other in default", nil, []string{name}},
		{"letters of base64", `{"sum":"` + mixed + `"}`, `{"sum":"gh/ij+klmnop1="}`, nil, []string{strings.TrimSuffix(mixed, "=")}},
		{"a copy", `{"sum":"` + sum + `"}`, `{"sum":"other1234567"}`, []string{"it is " + sum}, nil},
		{"a copy in base64", `{"password":"` + password + `"}`, `{"password":"other1234567"}`, []string{encoded}, nil},
		{"no word", `{"is":"this"}`, `{"is":"that"}`, nil, nil},
	} {
		got := source.Derived(core.Drawn{Texts: []string{test.one, "more"}}, core.Drawn{Texts: []string{test.other}}, [][]string{test.given, nil})
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}

// TestSignatures has a certificate follow from who has signed it, whoever draws its key: another one with the same words
// does not. It is the same certificate in base64.
func TestSignatures(t *testing.T) {
	const password, key = "password12345", "drawnKey12345"
	source := knowing(t, password, key)
	certificate := func(signed byte) string {
		block := []byte{0x30, byte(len(key) + 10), 0x30, byte(len(key) + 2), 0x13, byte(len(key))}
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: append(append(block, key...), 0x30, 0, 0x03, 2, 0, signed)}))
	}
	inJSON := func(text string) string { return fmt.Sprintf(`{"crt":%q}`, text) }
	one, other := certificate(1), certificate(2)
	words := source.Derived(core.Drawn{Texts: []string{inJSON(one)}}, core.Drawn{Texts: []string{inJSON(other)}}, [][]string{nil})
	if len(words) != 1 || words[0] == key {
		t.Fatalf("%q follow from who has signed it", words)
	}
	if copied := source.Derived(core.Drawn{Texts: []string{inJSON(one)}}, core.Drawn{Texts: []string{inJSON(other)}}, [][]string{{base64.StdEncoding.EncodeToString([]byte(one))}}); len(copied) > 0 {
		t.Errorf("of a copy, %q follow", copied)
	}
	if source.Signature(one) != "" {
		t.Error("it follows from something before that is recorded")
	}
	source.Follow(map[string][]string{words[0]: {password}})
	for text, want := range map[string]string{one: words[0], base64.StdEncoding.EncodeToString([]byte(one)): words[0], other: "", key: ""} {
		if got := source.Signature(text); got != want {
			t.Errorf("the signature of %.60q is %q, want %q", text, got, want)
		}
	}
	if got := source.Origins(words[0]); !slices.Equal(got, []string{password}) {
		t.Errorf("it follows from %q", got)
	}
}

// TestFollow has words follow from those in texts, and, if that is found out again, from those that were found both
// times. Nothing follows from itself.
func TestFollow(t *testing.T) {
	const first, second, third, fourth = "firstWord123", "secondWord123", "thirdWord1234", "fourthWord123"
	source := knowing(t, first, second, third, fourth)
	for _, step := range []struct {
		words map[string][]string
		of    string
		want  []string
	}{
		{map[string][]string{second: {"nothing"}}, second, nil},
		{map[string][]string{second: {second}}, second, nil},
		{map[string][]string{third: {second + " and " + first, base64.StdEncoding.EncodeToString([]byte(first))}}, third, []string{first, second}},
		{map[string][]string{second: {third}}, second, nil},
		{map[string][]string{third: {"of " + first}}, third, []string{first}},
		{map[string][]string{third: {"of " + second}}, third, []string{first}},
		{map[string][]string{third: {first}, fourth: {third, second}}, fourth, []string{second}},
		{map[string][]string{second: {third}}, second, []string{first, third}},
		{nil, fourth, []string{first, second, third}},
	} {
		if source.Follow(step.words); !slices.Equal(source.Origins(step.of), step.want) {
			t.Errorf("with %v, %s follows from %q, want %q", step.words, step.of, source.Origins(step.of), step.want)
		}
	}
}
