package core_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

func TestDiffFields(t *testing.T) {
	type tree = map[string]any
	for _, test := range []struct {
		name     string
		from, to any
		want     []string
	}{
		{"equal scalars", 1, 1, nil},
		{"scalars", 1, 2, []string{"1 → 2"}},
		{"texts", "a", "b", []string{`"a" → "b"`}},
		{"absent", nil, true, []string{"(absent) → true"}},
		{"a null is there", tree{"a": tree{}, "b": nil, "c": nil}, tree{"a": tree{"when": nil}, "b": 1, "c": nil}, []string{"a.when: (absent) → null", "b: (absent) → 1"}},
		{"another type", "1", 1, []string{`"1" → 1`}},
		{"equal trees", tree{"a": tree{"b": []any{1, "x"}}}, tree{"a": tree{"b": []any{1, "x"}}}, nil},
		{
			"fields in order",
			tree{"c": 1, "a": 1, "same": 0},
			tree{"b": 1, "a": 2, "same": 0},
			[]string{"a: 1 → 2", "b: (absent) → 1", "c: 1 → (absent)"},
		},
		{
			"nested", tree{"spec": tree{"replicas": 1, "image": "i"}}, tree{"spec": tree{"replicas": 2, "image": "i"}},
			[]string{"spec.replicas: 1 → 2"},
		},
		{
			"names that are no words", tree{"l": tree{"a.b/c": 1}}, tree{"l": tree{"a.b/c": 2}},
			[]string{`l["a.b/c"]: 1 → 2`},
		},
		{
			"lists by position", tree{"l": []any{1, tree{"n": "x"}, 3}}, tree{"l": []any{1, tree{"n": "y"}}},
			[]string{`l[1].n: "x" → "y"`, "l[2]: 3 → (absent)"},
		},
		{
			"lists by what tells items apart",
			tree{"l": []any{tree{"type": "B", "is": 1}, tree{"type": "A", "is": 1}}},
			tree{"l": []any{tree{"type": "A", "is": 2}, tree{"type": "C d", "is": 3}, tree{"type": "B", "is": 1}}},
			[]string{"l[type=A].is: 1 → 2", `l[type="C d"]: (absent) → {"is":3,"type":"C d"}`, `l[order]: "B, A" → "A, B"`},
		},
		{
			"names before keys", tree{"l": []any{tree{"type": "x", "name": "a"}, tree{"type": "x", "name": "b"}}},
			tree{"l": []any{tree{"type": "x", "name": "a"}, tree{"type": "y", "name": "b"}}},
			[]string{`l[name=b].type: "x" → "y"`},
		},
		{
			"items that are no longer told apart", tree{"l": []any{tree{"name": "a"}}}, tree{"l": []any{tree{"name": "a"}, tree{"name": "a"}}},
			[]string{`l: [{"name":"a"}] → [{"name":"a"},{"name":"a"}]`},
		},
		{"from nothing", tree{"l": []any{}}, tree{"l": []any{tree{"name": "a"}}}, []string{`l[name=a]: (absent) → {"name":"a"}`}},
		{"a list of its own", []any{}, []any{"x"}, []string{`[0]: (absent) → "x"`}},
		{"a list in place of a map", tree{"f": tree{}}, tree{"f": []any{}}, []string{"f: {} → []"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, change := range core.DiffFields(test.from, test.to) {
				got = append(got, change.String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestFieldText wants values to be written as people read them.
func TestFieldText(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, "(absent)"},
		{"a<b", `"a<b"`},
		{1, "1"},
		{map[string]any{"at": "<time>", "and": "a & b"}, `{"and":"a & b","at":"<time>"}`},
		{[]any{"<", 1}, `["<",1]`},
	} {
		if got := core.FieldText(test.value); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestChangedPaths(t *testing.T) {
	from := map[string]any{"b": []any{1, 2}, "a": "x"}
	to := map[string]any{"b": []any{2, 2}, "a": "y"}
	if got, want := core.ChangedPaths(from, to), []string{"a", "b[0]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDiffFieldsIsADifference checks that trees have differences exactly if they differ, and
// the same in both directions.
func TestDiffFieldsIsADifference(t *testing.T) {
	var tree func(depth int) *rapid.Generator[any]
	tree = func(depth int) *rapid.Generator[any] {
		scalar := rapid.OneOf(rapid.Just[any]("x"), rapid.Just[any]("y"), rapid.Just[any](1))
		if depth == 0 {
			return scalar
		}
		return rapid.OneOf(
			scalar,
			rapid.Map(rapid.SliceOfN(tree(depth-1), 0, 3), func(list []any) any { return list }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "name", "type"}), tree(depth-1), 0, 2), func(m map[string]any) any { return m }),
		)
	}
	rapid.Check(t, func(t *rapid.T) {
		from, to := tree(3).Draw(t, "from"), tree(3).Draw(t, "to")
		there, back := core.DiffFields(from, to), core.DiffFields(to, from)
		if same := fmt.Sprintf("%#v", from) == fmt.Sprintf("%#v", to); same != (len(there) == 0) {
			t.Fatalf("the differences are %v", there)
		}
		for i := range there {
			if there[i].Path != back[i].Path || fmt.Sprint(there[i].From) != fmt.Sprint(back[i].To) {
				t.Fatalf("there %v, back %v", there[i], back[i])
			}
		}
		if len(there) != len(back) {
			t.Fatalf("there %v, back %v", there, back)
		}
	})
}
