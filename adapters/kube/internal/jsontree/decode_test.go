package jsontree

import (
	"reflect"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree/jsontreetest"

	"pgregory.net/rapid"
	kjson "sigs.k8s.io/json"
)

// TestPlainJSONIsReadAlike would catch JSON that is read in another way than by the
// library, or read although something is wrong with it.
func TestPlainJSONIsReadAlike(t *testing.T) {
	leaf := rapid.OneOf(rapid.SampledFrom([]any{"", "a", "<", true, false, nil}), rapid.Map(rapid.Int64Range(-11, 11), func(n int64) any { return n }))
	tree := leaf
	for range 3 {
		tree = rapid.OneOf(leaf,
			rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"", "a", "b", "c d"}), tree, 0, 3), func(m map[string]any) any { return m }),
			rapid.Map(rapid.SliceOfN(tree, 0, 3), func(l []any) any { return l }))
	}
	trees := rapid.OneOf(tree, tree, jsontreetest.Generator(int64(1)<<62))
	parts := rapid.SampledFrom([]string{"", " ", "\n", "\t", "0", "-", "-0", "12", "1.", "1e2", "123456789012345678", "1234567890123456789",
		"{", "}", "[", "]", "{}", "[]", ",", ":", `"`, `"a"`, `"a":`, `\`, "\x00", "\x7f", "é", "true", "nul", "null", "tru"})
	plain := 0
	check := func(t rapid.TB, text []byte) {
		t.Helper()
		got := plainJSON(text)
		if got == nil {
			return
		}
		plain++
		var want map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &want); err != nil {
			t.Fatalf("%q is read, and refused with %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\ngot  %v\nwant %v", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := Canonical(map[string]any{"a": trees.Draw(t, "tree"), "b": trees.Draw(t, "other")})
		check(t, text)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			end := min(len(text), at+rapid.IntRange(0, 2).Draw(t, "cut"))
			text = append(append(append([]byte{}, text[:at]...), parts.Draw(t, "put")...), text[end:]...)
			check(t, text)
		}
	})
	if plain == 0 {
		t.Error("nothing is plain")
	}
	for text, want := range map[string]bool{
		`{"a":[1,-2,"x",true,false,null,{},[]]}`: true,
		" {\n\t\"a\" : 1 }\r\n":                  true,
		`{"a":1,"a":2}`:                          true,
		`{"a":1} {}`:                             false,
		`{"a":01}`:                               false,
		`{"a":1,}`:                               false,
		`{"a" 1}`:                                false,
		`{"a":"b`:                                false,
		`[]`:                                     false,
		`null`:                                   false,
		``:                                       false,
	} {
		check(t, []byte(text))
		if got := plainJSON([]byte(text)) != nil; got != want {
			t.Errorf("%q: plain is %t, want %t", text, got, want)
		}
	}
}
