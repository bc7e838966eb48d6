package state

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

func TestWords(t *testing.T) {
	w := newWords([]string{"a", "a-b", "rm1", "x.y"})
	for _, test := range []struct {
		text, want string
		in         []int
	}{
		{"", "", nil},
		{"a", "<a>", []int{0}},
		{"a-b", "<a-b>", []int{1}},
		{"a-0 0-a", "<a>-0 0-<a>", []int{0}},
		{"aa ab ba 1a a1 äa aä", "aa ab ba 1a a1 äa aä", nil},
		{`{"a":"rm1/x.y"}`, `{"<a>":"<rm1>/<x.y>"}`, []int{0, 2, 3}},
		{"a_a A-a Za aZ [a] a^ `a {a @a/a:", "<a>_<a> A-<a> Za aZ [<a>] <a>^ `<a> {<a> @<a>/<a>:", []int{0}},
		{"za az 9a a9 0a a0", "za az 9a a9 0a a0", nil},
		{"rm11 rm1.", "rm11 <rm1>.", []int{2}},
		{"x.y rm1 a", "<x.y> <rm1> <a>", []int{0, 2, 3}},
		{"Aa aA Ya \u2000a", "Aa aA Ya \u2000a", nil},
	} {
		if got := w.replace(test.text, func(name int) string { return "<" + w.names[name] + ">" }); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
		}
		if got := w.in(test.text); !slices.Equal(got, test.in) {
			t.Errorf("in %q are %v, want %v", test.text, got, test.in)
		}
	}
}

// named is a content that is a text.
type named string

func (n named) Canonical() string { return string(n) }
func (n named) Fields() any       { return string(n) }

// exchanging returns an interchange of the names a, b, c and x, y over a vocabulary.
func exchanging(v *Vocabulary) *Interchange {
	rename := func(o core.Object, r core.Renaming) core.Object {
		o.Key.Name = r(o.Key.Name)
		switch content := o.Content.(type) {
		case named:
			o.Content = named(r(string(content)))
		case quoted:
			o.Content = quoted(r(string(content)))
		}
		return o
	}
	item := func(i core.Item) (Cell, error) { return v.Item(i), nil }
	return NewInterchange(v, [][]string{{"a", "b", "c"}, {"x", "y"}}, rename, item)
}

func plainVocabulary() *Vocabulary {
	return NewVocabulary(func(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions })
}

func TestArrangements(t *testing.T) {
	x := exchanging(plainVocabulary())
	all := x.Arrangements()
	if len(all) != 11 {
		t.Fatalf("there are %d arrangements besides the identity, want 11", len(all))
	}
	for i, a := range all {
		if !a.Moves() || slices.ContainsFunc(all[:i], func(b Arrangement) bool { return slices.Equal(a, b) }) {
			t.Errorf("%v is the identity, or there twice", a)
		}
		if back := a.After(a.Inverse()); back.Moves() || a.Inverse().After(a).Moves() {
			t.Errorf("the inverse of %v does not take it back, but to %v", a, back)
		}
	}
}

// TestImages checks that images of values are what renaming makes of their texts, one arrangement after the other.
func TestImages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := plainVocabulary()
		x := exchanging(v)
		all := x.Arrangements()
		one := all[rapid.IntRange(0, len(all)-1).Draw(t, "one")]
		other := all[rapid.IntRange(0, len(all)-1).Draw(t, "other")]
		word := rapid.SampledFrom([]string{"a", "b", "c", "x", "y", "z", "a-y"})
		key := core.Key{Kind: "kind", Name: word.Draw(t, "name")}
		text := strings.Join(rapid.SliceOfN(word, 0, 3).Draw(t, "text"), " ")
		c := v.Object(key)
		value := v.Intern(c, named(text))
		image := func(c Cell, value Value, a Arrangement) Place {
			traits, err := x.Learn(c, value)
			if err != nil {
				t.Fatal(err)
			}
			place, err := x.LearnImage(c, value, traits, a)
			if err != nil {
				t.Fatal(err)
			}
			if again, known := x.Image(c, value, traits, a, nil); !known || again != place {
				t.Fatalf("%v is remembered as %v", place, again)
			}
			return place
		}
		first := image(c, value, one)
		both := image(first.Cell, first.Value, other)
		if at := image(c, value, other.After(one)); at != both {
			t.Fatalf("one after the other lead to %v, both at once to %v", both, at)
		}
		r := x.Renaming(other.After(one))
		gotKey, _ := v.Key(both.Cell)
		if got := v.Content(both.Cell, both.Value).Canonical(); gotKey.Name != r(key.Name) || got != r(text) {
			t.Fatalf("%q %q became %q %q", key.Name, text, gotKey.Name, got)
		}
	})
}

// TestTraits checks that what is said of names is the same exactly if it only takes an exchange of the names to make it
// so.
func TestTraits(t *testing.T) {
	v := plainVocabulary()
	x := exchanging(v)
	says := func(name, text string, of int) uint64 {
		c := v.Object(core.Key{Kind: "kind", Name: name})
		traits, err := x.Learn(c, v.Intern(c, named(text)))
		if err != nil {
			t.Fatal(err)
		}
		for _, trait := range traits {
			if trait.Name == of {
				return trait.Says
			}
		}
		t.Fatalf("%q %q says nothing of name %d", name, text, of)
		return 0
	}
	if says("n", "a c", 0) != says("n", "a b", 0) || says("a", "1", 0) != says("b", "1", 1) || says("n", "a x", 0) != says("n", "c x", 2) || says("n", "a b", 0) != says("n", "b c", 1) {
		t.Error("the same is said of two names, and it does not show")
	}
	if says("n", "a-a", 0) == says("n", "a-", 0) || says("n", "a b-b", 0) == says("n", "a b-", 0) || says("a", "1", 0) == says("b", "2", 1) || says("n", "a b", 0) == says("n", "a b", 1) || says("n", "a x", 0) == says("n", "a y", 0) {
		t.Error("something else is said of two names, and it does not show")
	}
}

// TestTraitsOfDerivedNames checks that it makes no difference to a name which other one a value names besides, also
// where something is derived from that one: what is derived does not tell them apart.
func TestTraitsOfDerivedNames(t *testing.T) {
	v := plainVocabulary()
	numbers := map[string]string{"a": "1", "b": "2", "c": "3"}
	rename := func(o core.Object, r core.Renaming) core.Object {
		if o.Content != nil {
			of := strings.Fields(r(o.Content.Canonical()))
			o.Content = named(of[0] + " " + of[1] + " " + numbers[of[1]])
		}
		return o
	}
	x := NewInterchange(v, [][]string{{"a", "b", "c"}}, rename, nil)
	c := v.Object(core.Key{Kind: "kind", Name: "n"})
	var says []uint64
	for _, text := range []string{"a b 2", "a c 3", "b a 1", "b c 3", "c b 2"} {
		traits, err := x.Learn(c, v.Intern(c, named(text)))
		if err != nil || len(traits) != 2 {
			t.Fatalf("%q: %v, %v", text, traits, err)
		}
		for _, trait := range traits {
			if x.words.names[trait.Name] == text[:1] {
				says = append(says, trait.Says)
			}
		}
	}
	if len(slices.Compact(says)) != 1 {
		t.Errorf("what is said of the first names is %v, and should all be the same", says)
	}
}

// TestNamesBehindEscapes checks that names are found in contents whose canonical texts hide them.
func TestNamesBehindEscapes(t *testing.T) {
	v := plainVocabulary()
	x := exchanging(v)
	c := v.Object(core.Key{Kind: "kind", Name: "n"})
	traits, err := x.Learn(c, v.Intern(c, quoted("x\na")))
	if err != nil || len(traits) != 2 {
		t.Errorf("%v, %v", traits, err)
	}
}

// quoted is a content that is a text, of which the canonical text has escapes.
type quoted string

func (q quoted) Canonical() string { return strconv.Quote(string(q)) }
func (q quoted) Fields() any       { return string(q) }

// TestUnexchangeable says why names cannot be exchanged: in a value that does not come back, in one that moves
// elsewhere than what is named as it is, and where an item has no counterpart.
func TestUnexchangeable(t *testing.T) {
	swap := Arrangement{1, 0}
	for _, test := range []struct {
		name   string
		rename func(core.Object, core.Renaming) core.Object
		item   func(core.Item) (Cell, error)
		cell   func(*Vocabulary) Cell
		want   string
	}{
		{"what loses a name", func(o core.Object, r core.Renaming) core.Object {
			return core.Object{Key: core.Key{Kind: o.Key.Kind, Name: r(o.Key.Name)}, Content: named("b")}
		}, nil, func(v *Vocabulary) Cell { return v.Object(core.Key{Kind: "kind", Name: "a"}) }, "kind a becomes kind b when names are exchanged, and does not change back when they are exchanged again"},
		{"what is called by what it holds", func(o core.Object, r core.Renaming) core.Object {
			renamed := core.Object{Key: core.Key{Kind: o.Key.Kind, Name: r(o.Key.Name)}, Content: o.Content}
			if o.Content != nil {
				renamed.Content = named(r(o.Content.Canonical()))
				if o.Content == named("2 a") || o.Content == named("2 b") {
					renamed.Key.Name = "other " + renamed.Key.Name
				}
			}
			return renamed
		}, nil, func(v *Vocabulary) Cell { return v.Object(core.Key{Kind: "kind", Name: "a"}) }, "kind a becomes kind b by its name, but kind other b by its contents"},
		{"an item without a counterpart", nil, func(core.Item) (Cell, error) { return 0, errors.New("there is none") },
			func(v *Vocabulary) Cell { return v.Item(core.Item{Strategy: "c", Request: "a"}) }, "there is none"},
	} {
		v := plainVocabulary()
		x := NewInterchange(v, [][]string{{"a", "b"}}, test.rename, test.item)
		c := test.cell(v)
		value := Value(1)
		if _, isObject := v.Key(c); isObject {
			v.Intern(c, named("1 a"))
			value = v.Intern(c, named("2 a"))
		}
		traits, err := x.Learn(c, value)
		if err == nil {
			_, err = x.LearnImage(c, value, traits, swap)
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

// TestLearnedOnce has what is known of values not be asked for again.
func TestLearnedOnce(t *testing.T) {
	v := plainVocabulary()
	asked := 0
	rename := func(o core.Object, r core.Renaming) core.Object {
		asked++
		o.Key.Name = r(o.Key.Name)
		if o.Content != nil {
			o.Content = named(r(o.Content.Canonical()))
		}
		return o
	}
	x := NewInterchange(v, [][]string{{"a", "b"}}, rename, func(i core.Item) (Cell, error) { asked++; return v.Item(i), nil })
	if got := x.Groups(); len(got) != 1 || !slices.Equal(got[0], []int{0, 1}) {
		t.Errorf("the groups are %v", got)
	}
	object := v.Object(core.Key{Kind: "kind", Name: "a"})
	swap := Arrangement{1, 0}
	for _, at := range []Place{{object, v.Intern(object, named("1 a"))}, {v.Item(core.Item{Strategy: "s", Request: "a"}), Queued}} {
		if _, known := x.Traits(at.Cell, at.Value); known {
			t.Errorf("%v is known before", at)
		}
		first, err := x.Learn(at.Cell, at.Value)
		image, err2 := x.LearnImage(at.Cell, at.Value, first, swap)
		if err != nil || err2 != nil || image.Cell == at.Cell || image.Value == 0 {
			t.Errorf("%v becomes %v: %v, %v", at, image, err, err2)
		}
		before := asked
		again, err := x.Learn(at.Cell, at.Value)
		same, known := x.Image(at.Cell, at.Value, again, swap, []byte("buffer"))
		if err != nil || !slices.Equal(first, again) || len(first) != 1 || !known || same != image || asked != before {
			t.Errorf("%v is asked for again: %v, %v, %t", at, again, same, known)
		}
	}
}

// TestNamedByContents has an object that is not there move to where it would be with what it once had.
func TestNamedByContents(t *testing.T) {
	v := plainVocabulary()
	numbers := map[string]string{"a": "1", "b": "2"}
	rename := func(o core.Object, r core.Renaming) core.Object {
		if o.Content != nil {
			o.Content = named(r(o.Content.Canonical()))
			o.Key.Name = numbers[o.Content.Canonical()]
		}
		return o
	}
	x := NewInterchange(v, [][]string{{"a", "b"}}, rename, nil)
	one, two := v.Object(core.Key{Kind: "kind", Name: "1"}), v.Object(core.Key{Kind: "kind", Name: "2"})
	v.Intern(one, named("a"))
	v.Intern(two, named("b"))
	traits, err := x.Learn(one, 0)
	if err != nil || len(traits) != 1 {
		t.Fatalf("%v, %v", traits, err)
	}
	if image, err := x.LearnImage(one, 0, traits, Arrangement{1, 0}); err != nil || image != (Place{two, 0}) {
		t.Errorf("it moves to %v, %v", image, err)
	}
}

// TestExchangesFail has what goes wrong while something is learned be told, wherever that is.
func TestExchangesFail(t *testing.T) {
	failed := errors.New("it failed")
	for at := 1; at <= 2; at++ { // there, and back
		v := plainVocabulary()
		calls := 0
		x := NewInterchange(v, [][]string{{"a", "b"}}, nil, func(i core.Item) (Cell, error) {
			if calls++; calls == at {
				return 0, failed
			}
			return v.Item(i), nil
		})
		c := v.Item(core.Item{Strategy: "s", Request: "b"})
		if _, err := x.Learn(c, Queued); !errors.Is(err, failed) {
			t.Errorf("at call %d: %v", at, err)
		}
	}
	// The name of an object does not change back, which is found out while its contents are looked at.
	v := plainVocabulary()
	v.Note("first")
	x := NewInterchange(v, [][]string{{"a", "b"}, {"x", "y"}}, func(o core.Object, r core.Renaming) core.Object {
		o.Key.Name = map[string]string{"a": "b", "b": "b", "x": "x", "y": "x"}[o.Key.Name]
		return o
	}, nil)
	gone := v.Object(core.Key{Kind: "kind", Name: "y"})
	if _, err := x.Learn(gone, v.Intern(gone, named("1"))); err == nil || !strings.Contains(err.Error(), "does not change back") {
		t.Errorf("what does not change back is learned: %v", err)
	}
	c := v.Object(core.Key{Kind: "kind", Name: "b"})
	v.Object(core.Key{Kind: "kind", Name: "a"})
	value := v.Intern(c, named("1"))
	lost := v.Object(core.Key{Kind: "kind", Name: "a"})
	if _, err := x.Learn(c, value); err != nil {
		t.Errorf("what stays is refused: %v", err)
	}
	v.Intern(lost, named("1"))
	traits := []Trait{{Name: 0}}
	for _, time := range []string{"the first time", "again"} {
		if _, err := x.LearnImage(lost, 1, traits, Arrangement{1, 0, 2, 3}); err == nil || !strings.Contains(err.Error(), "does not change back") {
			t.Errorf("what does not change back is exchanged %s: %v", time, err)
		}
	}
}
