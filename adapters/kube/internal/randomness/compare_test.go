package randomness_test

import (
	"encoding/base64"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/orrery-dev/orrery/adapters/kube/internal/randomness"
	"github.com/orrery-dev/orrery/core"
)

// TestCompare has runs differ in words, or in more than that.
func TestCompare(t *testing.T) {
	secret := func(password string) string {
		return `{"data":{"p":"` + base64.StdEncoding.EncodeToString([]byte(password)) + `"}}`
	}
	const one, two, three = "0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7", "123e4567-e89b-12d3-a456-426614174000"
	for _, test := range []struct {
		name      string
		runs      [][]string
		run, text int // -1 if they differ in nothing but words
		words     []string
	}{
		{"nothing", [][]string{{"a", "b"}, {"a", "b"}}, 0, -1, nil},
		{"UUIDs", [][]string{{"of " + one, one}, {"of " + two, two}, {"of " + three, three}}, 0, -1, []string{one, one}},
		{"another UUID", [][]string{{"of " + one, one}, {"of " + two, three}}, 1, 1, nil},
		{"one UUID for two", [][]string{{one, two}, {three, three}}, 1, 1, nil},
		{"a UUID that is the same in two runs", [][]string{{one}, {two}, {two}}, 1, 0, nil},
		{"a UUID of the answers", [][]string{{one, one}, {two, one}, {three, one}}, 0, -1, []string{one}},
		{"names", [][]string{{"web-abcd"}, {"web-efgh"}, {"web-ijkl"}, {"web-mnop"}}, 0, -1, []string{"abcd"}},
		{"names of which there are too few to tell", [][]string{{"web-abcd"}, {"web-efgh"}}, 1, 0, nil},
		{"short names", [][]string{{"web-abc"}, {"web-efg"}, {"web-ijk"}, {"web-mno"}, {"web-pqr"}}, 1, 0, nil},
		{"a choice", [][]string{{"zone north"}, {"zone south"}, {"zone north"}, {"zone east0"}}, 1, 0, nil},
		{"ports", [][]string{{`{"port":"30001"}`}, {`{"port":"31234"}`}, {`{"port":"32767"}`}, {`{"port":"30876"}`}}, 1, 0, nil},
		{"numbers", [][]string{{`{"n":1234567890}`}, {`{"n":2345678901}`}}, 1, 0, nil},
		{"another field", [][]string{{`{"aaaaaaaaaaaaaaaa":1}`}, {`{"bbbbbbbbbbbbbbbb":1,"c":2}`}}, 1, 0, nil},
		{"passwords", [][]string{{secret("a+Bc/12=34!d")}, {secret("x$9!yz&Qq==7")}}, 0, -1, []string{"a+Bc/12=34!d"}},
		{"passwords in an address", [][]string{{"admin:a+Bc/12=34!d@db"}, {"admin:x$9!yz&Qq==7@db"}}, 0, -1, []string{"a+Bc/12=34!d"}},
		{"a short password", [][]string{{secret("a+B")}, {secret("x$9!")}}, 1, 0, nil},
		{"none at all", [][]string{{"admin:a+Bc/12=34!d@db"}, {"admin:@db"}}, 1, 0, nil},
	} {
		source := randomness.New()
		var runs []core.Drawn
		for _, texts := range test.runs {
			runs = append(runs, core.Drawn{Texts: texts})
		}
		run, text := source.Compare(runs, false)
		if run != test.run || text != test.text {
			t.Errorf("%s: run %d differs in text %d, want run %d and text %d", test.name, run, text, test.run, test.text)
			continue
		}
		for _, word := range test.words {
			if found := source.Within("it is " + word + ", is it?"); !slices.Contains(found, word) {
				t.Errorf("%s: it knows %q, want %q", test.name, found, word)
			}
		}
		if text < 0 && source.Knows() != (len(test.words) > 0) {
			t.Errorf("%s: that it knows words is %t", test.name, source.Knows())
		}
	}
}

// TestCompareNames has runs draw names of which it is known where they were drawn. Which of them was drawn first does
// not matter, as code may sort them; that one stands in the place of another one, does.
func TestCompareNames(t *testing.T) {
	source := randomness.New()
	first := core.Drawn{Texts: []string{"abcde before fghkl", "the leader is abcde"}, Words: []string{"abcde", "fghkl"}}
	for texts, same := range map[[2]string]bool{
		{"mnpqr before stvwx", "the leader is mnpqr"}: true,
		{"stvwx before mnpqr", "the leader is stvwx"}: true,
		{"stvwx before mnpqr", "the leader is mnpqr"}: false,
		{"mnpqr before mnpqr", "the leader is mnpqr"}: false,
		{"mnpqr before fghkl", "the leader is mnpqr"}: true, // taken from an answer
		{"mnpqr after stvwx", "the leader is mnpqr"}:  false,
	} {
		other := core.Drawn{Texts: texts[:], Words: []string{"mnpqr", "stvwx"}}
		if _, at := source.Compare([]core.Drawn{first, other}, false); (at < 0) != same {
			t.Errorf("%q is the same: %t", texts, !same)
		}
	}
}

// TestOther has texts in JSON be what they are in a variation.
func TestOther(t *testing.T) {
	source := randomness.New()
	body := func(password string) string {
		return `{"data":{"password":"` + base64.StdEncoding.EncodeToString([]byte(password)) + `"},"of":"` + password + ` of the web"}`
	}
	passwords := []string{"passwordOne12345", "secretTwo2345678", "thirdWord3456789"}
	var runs []core.Drawn
	for _, password := range passwords {
		runs = append(runs, core.Drawn{Texts: []string{body(password)}})
	}
	if _, at := source.Compare(runs, false); at >= 0 {
		t.Fatalf("they differ in text %d", at)
	}
	// What differs in more than words is nothing that would stand there.
	for i := range runs {
		runs[i].Texts = []string{`{"a":"` + passwords[2-i] + `"}`, `{"answer":"` + []string{"yes", "no", "no"}[i] + `","b":"` + passwords[i] + `"}`}
	}
	if _, at := source.Compare(runs, false); at != 1 {
		t.Fatalf("they differ in text %d", at)
	}
	for _, test := range []struct {
		text, want string
		variation  int
		known      bool
	}{
		{"yes", "yes", 1, true},
		{passwords[0] + " of the web", passwords[2] + " of the web", 2, true},
		{base64.StdEncoding.EncodeToString([]byte(passwords[0])), base64.StdEncoding.EncodeToString([]byte(passwords[1])), 1, true},
		{"of the web", "of the web", 1, true},
		{passwords[0] + " of a job", passwords[0] + " of a job", 1, false},
		{passwords[0] + " of the web", passwords[0] + " of the web", 3, false},
	} {
		for range 2 { // it remembers
			if got, known := source.Other(test.text, test.variation); got != test.want || known != test.known {
				t.Errorf("%q in variation %d is %q, and known: %t", test.text, test.variation, got, known)
			}
		}
	}
}

// TestRenamed has names be what they are in a variation: with words of which it is known where they were drawn, and
// with others.
func TestRenamed(t *testing.T) {
	source := randomness.New()
	passwords := []string{"passwordOne12345", "secretTwo2345678", "thirdWord3456789"}
	var words []string
	var runs []core.Drawn
	for i, password := range passwords {
		draw := source.Set(uint64(i+1), 0)
		word := rand.String(5)
		draw.End()
		texts := []string{"web-" + word, password}
		words, runs = append(words, word), append(runs, core.Drawn{Texts: texts, Words: draw.Words(texts)})
	}
	if _, at := source.Compare(runs, false); at >= 0 {
		t.Fatalf("they differ in text %d", at)
	}
	// A later comparison gives words no other names.
	if _, at := source.Compare([]core.Drawn{runs[0], runs[2], runs[1]}, false); at >= 0 {
		t.Fatalf("they differ in text %d", at)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(passwords[0]))
	for _, test := range []struct {
		text, want string
		variation  int
		known      bool
	}{
		{"default/web", "default/web", 1, true},
		{"default/web-" + words[0], "default/web-" + words[1], 1, true},
		{words[0] + "/web-" + passwords[0], words[2] + "/web-" + passwords[2], 2, true},
		{"default/web-" + words[0], "default/web-" + words[0], 3, false},
		{encoded, encoded, 1, false},
	} {
		if got, known := source.Renamed(test.text, test.variation); got != test.want || known != test.known {
			t.Errorf("%q in variation %d is %q, and known: %t", test.text, test.variation, got, known)
		}
	}
}

// TestEchoes tells what a run says in place of what a recorded one said: whole texts in JSON, as far as it has come.
func TestEchoes(t *testing.T) {
	const one, other = `{"metadata":{"name":"web-abcde"},"data":{"at":"north","key":"a+Bc/12=34!d"}}`, `{"metadata":{"name":"web-vwxyz"},"data":{"at":"north","key":"x$9!yz&Qq==7"}}`
	for _, test := range []struct {
		name               string
		recorded, observed []string
		want               map[string]string
	}{
		{"words", []string{"create", one, "later"}, []string{"create", other}, map[string]string{"web-abcde": "web-vwxyz", "a+Bc/12=34!d": "x$9!yz&Qq==7"}},
		{"the same", []string{one}, []string{one}, nil},
		{"what is no JSON", []string{"create web-abcde"}, []string{"create web-vwxyz"}, nil},
		{"more calls", nil, []string{one}, nil},
	} {
		if got := randomness.Echoes(test.recorded, test.observed); !maps.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestGivenOthers has runs that were given others tell what texts would be, and not those that were only compared as
// they drew others.
func TestGivenOthers(t *testing.T) {
	source := randomness.New()
	runs := func(words ...string) []core.Drawn {
		var runs []core.Drawn
		for _, word := range words {
			runs = append(runs, core.Drawn{Texts: []string{`{"sum":"` + word + `"}`}})
		}
		return runs
	}
	for _, test := range []struct {
		given bool
		other string
		want  string
	}{{false, "drawnOnce12345", "drawnOnce12345"}, {false, "drawnAgain1234", "drawnOnce12345"}, {true, "givenOther1234", "givenOther1234"}, {false, "drawnOnce12345", "givenOther1234"}} {
		if _, at := source.Compare(runs("firstWord12345", test.other, "thirdWord12345"), test.given); at >= 0 {
			t.Fatalf("they differ in text %d", at)
		}
		if got, _ := source.Other("firstWord12345", 1); got != test.want {
			t.Errorf("with %q, given %t, it would be %q, want %q", test.other, test.given, got, test.want)
		}
	}
}
