package inventory

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

type tree = map[string]any

// text is a content for tests.
type text string

func (t text) Canonical() string { return string(t) }
func (t text) Fields() any       { return string(t) }

// TestSizeOf counts values in fields, and finds the numbers among them, which may be written as texts.
func TestSizeOf(t *testing.T) {
	for _, test := range []struct {
		fields  any
		texts   map[string]string
		numbers map[string]int
	}{
		{nil, nil, nil},
		{1, map[string]string{"value": "1"}, map[string]int{"value": 1}},
		{"", map[string]string{"value": ""}, nil},
		{tree{}, nil, nil},
		{tree{"a": 1, "b": nil, "c": []any{"12", "x", nil}}, map[string]string{"a": "1", "c[0]": "12", "c[1]": "x"}, map[string]int{"a": 1, "c[0]": 12}},
		{[]any{tree{"a": -1}, 2.5, int64(3)}, map[string]string{"[0].a": "-1", "[1]": "2.5", "[2]": "3"}, map[string]int{"[0].a": -1, "[2]": 3}},
	} {
		got := sizeOf(test.fields)
		if got.Values != len(test.texts) || !maps.Equal(got.Texts, test.texts) || !maps.Equal(got.Numbers, test.numbers) {
			t.Errorf("%v has %d values, the texts %v, and the numbers %v", test.fields, got.Values, got.Texts, got.Numbers)
		}
	}
}

// TestGrew compares sizes: more values, or a higher number in one field.
func TestGrew(t *testing.T) {
	for _, test := range []struct {
		was, is any
		want    bool
	}{
		{tree{"n": 1}, tree{"n": 1}, false}, {tree{"n": 1}, tree{"n": 2}, true}, {tree{"n": 2}, tree{"n": 1}, false}, {tree{"m": 1}, tree{"m": 2}, false}, {tree{"n": 2}, tree{"n": 1, "m": 1}, true},
	} {
		if got := sizeOf(test.is).Grew(sizeOf(test.was), "n"); got != test.want {
			t.Errorf("from %v to %v it grew: %t", test.was, test.is, got)
		}
	}
}

// TestRenewed finds the fields that get values which they never had: not those that go back and forth, nor those that
// are new.
func TestRenewed(t *testing.T) {
	key, other := core.Key{Kind: "Pod", Name: "a"}, core.Key{Kind: "Pod", Name: "b"}
	steps := []map[core.Key]Size{
		{key: sizeOf(tree{"back": "x", "new": "1"})},
		{key: sizeOf(tree{"back": "y", "new": "2"}), other: sizeOf(tree{"new": "1"})},
		{key: sizeOf(tree{"back": "x", "new": "3", "late": "z"}), other: sizeOf(tree{"new": "1"})},
		{other: sizeOf(tree{"new": "2"})},
		{key: sizeOf(tree{"back": "x", "new": "3"}), other: sizeOf(tree{"new": "1"})},
	}
	want := []string{"", "a back, a new", "a new", "b new", ""}
	var h History
	asked := 0
	for _, at := range []int{4, 0, 1, 2, 3} {
		var names []string
		for _, field := range h.Renewed(at, func(step int) map[core.Key]Size { asked++; return steps[step] }) {
			names = append(names, field.Of.Name+" "+field.Path)
		}
		slices.Sort(names)
		if got := strings.Join(names, ", "); got != want[at] {
			t.Errorf("before step %d, what is new is %q, want %q", at, got, want[at])
		}
	}
	if asked != len(steps) {
		t.Errorf("it was asked %d times", asked)
	}
}

// TestStock looks once at each version of an object, and leaves out what does not matter.
func TestStock(t *testing.T) {
	asked := 0
	s := Stock{Outcome: func(key core.Key, content core.Content) any {
		if asked++; key.Name == "idle" {
			return nil
		}
		return content.Canonical()
	}}
	objects := []core.Object{{Key: core.Key{Name: "a"}, Content: text("x")}, {Key: core.Key{Name: "idle"}, Content: text("x")}}
	for range 2 {
		sizes := s.Of(objects)
		if len(sizes) != 1 || sizes[objects[0].Key].Texts["value"] != "x" {
			t.Errorf("the sizes are %v", sizes)
		}
	}
	if asked != len(objects) {
		t.Errorf("it was asked %d times", asked)
	}
}
