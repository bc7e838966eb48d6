package plain

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type inner struct {
	Names []string
	Count map[string]int
	small uint8
}

type outer struct {
	Inner  inner
	Pair   [2]bool
	Nested map[int][]inner
	Ratio  float64
	hidden struct{ depth int }
}

func outers() *rapid.Generator[outer] {
	inners := rapid.Custom(func(t *rapid.T) inner {
		return inner{
			Names: rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("a\" ]")), 0, 2, -1), 0, 2).Draw(t, "names"),
			Count: rapid.MapOfN(rapid.SampledFrom([]string{"", "a", "b:"}), rapid.IntRange(0, 2), 0, 2).Draw(t, "count"),
			small: rapid.Uint8Range(0, 2).Draw(t, "small"),
		}
	})
	return rapid.Custom(func(t *rapid.T) outer {
		o := outer{
			Inner:  inners.Draw(t, "inner"),
			Pair:   [2]bool{rapid.Bool().Draw(t, "first"), rapid.Bool().Draw(t, "second")},
			Nested: rapid.MapOfN(rapid.IntRange(-1, 1), rapid.SliceOfN(inners, 0, 1), 0, 1).Draw(t, "nested"),
			Ratio:  float64(rapid.IntRange(0, 2).Draw(t, "ratio")) / 3,
		}
		o.hidden.depth = rapid.IntRange(0, 1).Draw(t, "depth")
		return o
	})
}

// Texts are equal exactly for equal values, once both are normalised as every
// stored value is.
func TestTextsIdentifyValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := newContent(outers().Draw(t, "a")), newContent(outers().Draw(t, "b"))
		if equal := reflect.DeepEqual(a.value, b.value); equal != (a.text == b.text) {
			t.Fatalf("values equal: %v, but the texts are\n%s\n%s", equal, a.text, b.text)
		}
	})
}

func TestAStoredValueIsNeverShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := outers().Draw(t, "value")
		given.Inner.Names = append(given.Inner.Names, "x")
		c := newContent(given)
		before := c.text

		taken := c.get()
		for _, o := range []outer{given, taken} {
			o.Inner.Names[0] = "changed"
			if o.Inner.Count != nil {
				o.Inner.Count["changed"] = 1
			}
			for _, list := range o.Nested {
				for i := range list {
					list[i].small = 99
				}
			}
		}
		if after := string(encode(nil, reflect.ValueOf(c.value))); after != before {
			t.Fatalf("the stored value changed from\n%s to\n%s", before, after)
		}
	})
}

func TestEmptyAndNilAreOne(t *testing.T) {
	withNil, withEmpty := newContent(inner{}), newContent(inner{Names: []string{}, Count: map[string]int{}})
	if withNil.Canonical() != withEmpty.Canonical() {
		t.Errorf("texts differ: %s and %s", withNil.Canonical(), withEmpty.Canonical())
	}
	if a, b := withNil.get(), withEmpty.get(); !reflect.DeepEqual(a, b) {
		t.Errorf("a run can tell them apart: %#v and %#v", a, b)
	}
	withNil.get().Count["a nil map would panic here"] = 1
}

func TestText(t *testing.T) {
	type phase string
	for _, test := range []struct {
		got  interface{ Canonical() string }
		want string
	}{
		{newContent(-7), "-7"},
		{newContent("a b"), `"a b"`},
		{newContent(true), "true"},
		{newContent(phase("idle")), `"idle"`},
		{newContent(uint8(3)), "3"},
		{newContent(math.Inf(-1)), "-Inf"},
		{newContent([]int{1, 2}), "[1 2]"},
		{newContent(map[string]int{"b": 1, "a": 2}), `{"a":2 "b":1}`},
		{newContent(struct {
			A int
			b string
		}{1, "x"}), `{A:1 b:"x"}`},
	} {
		if got := test.got.Canonical(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestFields(t *testing.T) {
	o := outer{Inner: inner{Names: []string{"a"}, small: 2}, Nested: map[int][]inner{1: nil}, Ratio: 0.5}
	want := map[string]any{
		"Inner":  map[string]any{"Names": []any{"a"}, "Count": map[string]any{}, "small": uint64(2)},
		"Pair":   []any{false, false},
		"Nested": map[string]any{"1": []any{}},
		"Ratio":  0.5,
		"hidden": map[string]any{"depth": int64(0)},
	}
	if got := newContent(o).Fields(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhatCannotBeStored(t *testing.T) {
	type tree struct {
		Name     string
		Children []tree
	}
	if err := newContent(tree{Children: []tree{{Name: "leaf"}}}).err; err != nil {
		t.Errorf("a tree: %v", err)
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{newContent(new(int)).err, "*int is a ptr"},
		{newContent(struct{ Do func() }{}).err, ".Do is a func"},
		{newContent(map[string]any{}).err, "[] is a interface"},
		{newContent[error](nil).err, "error is a interface"},
		{newContent(struct{ list []int }{}).err, "export the field"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("got %v, want one that says %q", test.err, test.want)
		}
	}
}
