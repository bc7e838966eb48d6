package randomness_test

import (
	"encoding/base64"
	"slices"
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
	source := knowing(t, password, sum, name)
	encoded := base64.StdEncoding.EncodeToString([]byte(password))
	for _, test := range []struct {
		what, one, other string
		given            []string
		want             []string
	}{
		{"the same", `{"sum":"` + sum + `"}`, `{"sum":"` + sum + `"}`, nil, nil},
		{"another checksum", `{"sum":"` + sum + `","name":"` + name + `"}`, `{"sum":"other1234567","name":"` + name + `"}`, nil, []string{sum}},
		{"a part of a text", `{"is":"by ` + sum + ` for ` + name + `"}`, `{"is":"by other1234567 for ` + name + `"}`, nil, []string{sum}},
		{"a text of another form", `{"is":"` + sum + `/` + name + `"}`, `{"is":"other1234567"}`, nil, []string{name, sum}},
		{"a name", "create " + name + " in default", "create other in default", nil, []string{name}},
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

// TestFollow has words follow from those in texts that were found before, and, if that is found out again, from those
// that were found both times.
func TestFollow(t *testing.T) {
	const first, second, third, fourth = "firstWord123", "secondWord123", "thirdWord1234", "fourthWord123"
	source := knowing(t, first, second, third, fourth)
	for _, step := range []struct {
		words map[string][]string
		of    string
		want  []string
	}{
		{map[string][]string{second: {"nothing"}}, second, nil},
		{map[string][]string{second: {second, third}}, second, nil},
		{map[string][]string{third: {second + " and " + first, base64.StdEncoding.EncodeToString([]byte(first))}}, third, []string{first, second}},
		{map[string][]string{third: {"of " + first}}, third, []string{first}},
		{map[string][]string{third: {"of " + second}}, third, []string{first}},
		{map[string][]string{third: {first}, fourth: {third, second}}, fourth, []string{second}},
	} {
		if source.Follow(step.words); !slices.Equal(source.Origins(step.of), step.want) {
			t.Errorf("with %v, %s follows from %q, want %q", step.words, step.of, source.Origins(step.of), step.want)
		}
	}
}
