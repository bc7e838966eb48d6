package kube

import (
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree/jsontreetest"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"pgregory.net/rapid"
)

// TestMergePatchesAreThoseOfTheLibrary would catch a patch that is applied in another way
// because nothing in it seems to be odd.
func TestMergePatchesAreThoseOfTheLibrary(t *testing.T) {
	names := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "<<"}), rapid.String())
	objects := rapid.Map(rapid.MapOfN(names, jsontreetest.Generator(), 0, 4), func(m map[string]any) any { return m })
	words := rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]any{"1", "2", nil}), 0, 4), func(m map[string]any) any { return m })
	changes := rapid.OneOf(objects, words)
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		// What is read has no floats that are whole, as a stored object has not.
		var fields, change map[string]any
		if jsontree.Decode(jsontree.Canonical(objects.Draw(t, "fields")), &fields) != nil || fields == nil {
			return
		}
		if jsontree.Decode(jsontree.Canonical(changes.Draw(t, "change")), &change) != nil || change == nil || !jsontree.IsPlain(change) {
			return
		}
		plain++
		before := string(jsontree.Canonical(fields))
		patched, err := jsonpatch.MergePatch(jsontree.Canonical(fields), jsontree.Canonical(change))
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := jsontree.Decode(patched, &want); err != nil {
			t.Fatal(err)
		}
		got := mergeFields(fields, change)
		if !jsontree.Same(got, want) {
			t.Fatalf("%s and %s:\ngot  %s\nwant %s", before, jsontree.Canonical(change), jsontree.Canonical(got), jsontree.Canonical(want))
		}
		if string(jsontree.Canonical(fields)) != before {
			t.Fatalf("%s is changed to %s", before, jsontree.Canonical(fields))
		}
	})
	if plain == 0 {
		t.Error("no patch is plain")
	}
}
