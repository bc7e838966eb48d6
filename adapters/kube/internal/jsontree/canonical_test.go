package jsontree

import (
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree/jsontreetest"
)

// TestCanonicalJSONIsThatOfTheLibrary would catch a value that is written in another way.
func TestCanonicalJSONIsThatOfTheLibrary(t *testing.T) {
	trees := jsontreetest.Generator(json.RawMessage(`{"b": 1, "a": "<"}`), "not UTF-8: \xff")
	rapid.Check(t, func(t *rapid.T) {
		tree := trees.Draw(t, "tree")
		want, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		if got := Canonical(tree); string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

// TestSameTreeComparesTexts would catch trees that are told apart, or not, by anything
// but their texts.
func TestSameTreeComparesTexts(t *testing.T) {
	trees := jsontreetest.Generator()
	rapid.Check(t, func(t *rapid.T) {
		a, b := trees.Draw(t, "a"), trees.Draw(t, "b")
		if want := string(Canonical(a)) == string(Canonical(b)); Same(a, b) != want {
			t.Fatalf("%s and %s: got %t", Canonical(a), Canonical(b), !want)
		}
		var read any
		if err := Decode(Canonical(a), &read); err != nil {
			t.Fatal(err)
		}
		if !Same(a, read) {
			t.Fatalf("%s is not the same when it is read again", Canonical(a))
		}
		if fields, ok := read.(map[string]any); ok {
			changed := runtime.DeepCopyJSON(fields)
			changed["another"] = "one"
			if Same(fields, changed) {
				t.Fatalf("%s and %s are the same", Canonical(fields), Canonical(changed))
			}
		}
	})
}

// TestCopiesAreReadFromText would catch a copy of a tree that is not what others read.
func TestCopiesAreReadFromText(t *testing.T) {
	trees := jsontreetest.Generator("not UTF-8: \xff")
	rapid.Check(t, func(t *rapid.T) {
		tree := trees.Draw(t, "tree")
		var want any
		if err := Decode(Canonical(tree), &want); err != nil {
			t.Fatal(err)
		}
		if got := Copy(tree); !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %#v\nwant %#v", got, want)
		}
	})
}
