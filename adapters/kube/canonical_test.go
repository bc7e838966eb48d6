package kube

import (
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
)

// treeGenerator draws trees of JSON values, and of others, with all that is hard to write
// in them.
func treeGenerator(others ...any) *rapid.Generator[any] {
	text := rapid.OneOf(rapid.StringOf(rapid.Rune()), rapid.SampledFrom([]string{"", "a", "b", "<&>", "\"\\", "\u2028", "\ufffd", "\x7f", "\x00", "~ "}))
	scalar := rapid.OneOf(
		rapid.SampledFrom(append(others, nil)),
		rapid.Just[any](map[string]any(nil)),
		rapid.Just[any]([]any(nil)),
		rapid.Just[any](map[string]string{"b": "1", "a": "2"}),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Int64Range(-2, 2), func(n int64) any { return float64(n) }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f + 0 }), // -0 is read as a whole number
		rapid.Map(text, func(s string) any { return s }),
	)
	tree := scalar
	for range 3 {
		below := tree
		tree = rapid.OneOf(
			scalar,
			rapid.Map(rapid.MapOfN(text, below, 0, 4), func(m map[string]any) any { return m }),
			rapid.Map(rapid.SliceOfN(below, 0, 4), func(l []any) any { return l }),
		)
	}
	return tree
}

// TestCanonicalJSONIsThatOfTheLibrary would catch a value that is written in another way.
func TestCanonicalJSONIsThatOfTheLibrary(t *testing.T) {
	trees := treeGenerator(json.RawMessage(`{"b": 1, "a": "<"}`), "not UTF-8: \xff")
	rapid.Check(t, func(t *rapid.T) {
		tree := trees.Draw(t, "tree")
		want, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		if got := canonicalJSON(tree); string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

// TestSameTreeComparesTexts would catch trees that are told apart, or not, by anything
// but their texts.
func TestSameTreeComparesTexts(t *testing.T) {
	trees := treeGenerator()
	rapid.Check(t, func(t *rapid.T) {
		a, b := trees.Draw(t, "a"), trees.Draw(t, "b")
		if want := string(canonicalJSON(a)) == string(canonicalJSON(b)); sameTree(a, b) != want {
			t.Fatalf("%s and %s: got %t", canonicalJSON(a), canonicalJSON(b), !want)
		}
		var read any
		if err := decodeJSON(canonicalJSON(a), &read); err != nil {
			t.Fatal(err)
		}
		if !sameTree(a, read) {
			t.Fatalf("%s is not the same when it is read again", canonicalJSON(a))
		}
		if fields, ok := read.(map[string]any); ok {
			changed := runtime.DeepCopyJSON(fields)
			changed["another"] = "one"
			if sameTree(fields, changed) {
				t.Fatalf("%s and %s are the same", canonicalJSON(fields), canonicalJSON(changed))
			}
		}
	})
}

// TestCopiesAreReadFromText would catch a copy of a tree that is not what others read.
func TestCopiesAreReadFromText(t *testing.T) {
	trees := treeGenerator("not UTF-8: \xff")
	rapid.Check(t, func(t *rapid.T) {
		tree := trees.Draw(t, "tree")
		var want any
		if err := decodeJSON(canonicalJSON(tree), &want); err != nil {
			t.Fatal(err)
		}
		if got := copyJSON(tree); !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %#v\nwant %#v", got, want)
		}
	})
}
