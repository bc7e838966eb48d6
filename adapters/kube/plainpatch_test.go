package kube

import (
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"pgregory.net/rapid"
)

// TestMergePatchesAreThoseOfTheLibrary would catch a patch that is applied in another way
// because nothing in it seems to be odd.
func TestMergePatchesAreThoseOfTheLibrary(t *testing.T) {
	trees := treeGenerator()
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		// What is read has no floats that are whole, as a stored object has not.
		var fields, change map[string]any
		if decodeJSON(canonicalJSON(trees.Draw(t, "fields")), &fields) != nil || fields == nil {
			return
		}
		if decodeJSON(canonicalJSON(trees.Draw(t, "change")), &change) != nil || change == nil || !plainValue(change) {
			return
		}
		plain++
		before := string(canonicalJSON(fields))
		patched, err := jsonpatch.MergePatch(canonicalJSON(fields), canonicalJSON(change))
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := decodeJSON(patched, &want); err != nil {
			t.Fatal(err)
		}
		got := mergeFields(fields, change)
		if !sameTree(got, want) {
			t.Fatalf("%s and %s:\ngot  %s\nwant %s", before, canonicalJSON(change), canonicalJSON(got), canonicalJSON(want))
		}
		if string(canonicalJSON(fields)) != before {
			t.Fatalf("%s is changed to %s", before, canonicalJSON(fields))
		}
	})
	if plain == 0 {
		t.Error("no patch is plain")
	}
}
