package jsontree

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree/jsontreetest"
)

// TestPlainYAMLIsReadAlike would catch JSON that YAML reads in its own way.
func TestPlainYAMLIsReadAlike(t *testing.T) {
	trees := jsontreetest.Generator(float64(1), int64(1)<<62, "0x10", "1e3", "yes", "2020-01-01", "- a", "# b", "{c}", "'d'", "é")
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		tree, ok := trees.Draw(t, "tree").(map[string]any)
		if !ok || tree == nil {
			return
		}
		text := Canonical(tree)
		got := PlainYAML(text)
		if got == nil {
			return
		}
		plain++
		encoded, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatalf("%s is no YAML: %v", text, err)
		}
		var want map[string]any
		if err := Decode(encoded, &want); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(Canonical(got), Canonical(want)) {
			t.Fatalf("%s\ngot  %s\nwant %s", text, Canonical(got), Canonical(want))
		}
	})
	// With -short so few trees are drawn that perhaps none is plain.
	if plain == 0 && !testing.Short() {
		t.Error("nothing is plain")
	}
	if got := PlainYAML(Canonical(map[string]any{"a": map[string]any{"b": "c"}, "n": int64(1)})); got == nil {
		t.Error("a plain tree is none")
	}
	for _, odd := range []string{"a: 1", `{"a": "\u0061"}`, `{"a": 1.5}`, `{"<<": {"a": 1}}`, "{\n\t\"a\": 1}", `{"a": "é"}`, "null", ""} {
		if got := PlainYAML([]byte(odd)); got != nil {
			t.Errorf("%q is plain: %s", odd, Canonical(runtime.DeepCopyJSON(got)))
		}
	}
}
