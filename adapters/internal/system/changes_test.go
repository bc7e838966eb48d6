package system

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// TestChangeable says what may be changed of an object.
func TestChangeable(t *testing.T) {
	for _, test := range []struct{ kind, object, want string }{
		{"ConfigMap", "{data: {b: x, a: y}}", "data a"},
		{"ConfigMap", "{binaryData: {a: eA==}, spec: {size: 1}}", ""},
		{"Secret", "{stringData: {a: x}}", "stringData a"},
		{"Secret", "{data: {z: eA==}, stringData: {a: x}}", "data z"},
		{"Widget", "{spec: {a: {open: true, text: x}, b: {c: {size: 3}}}}", "spec b c size"},
		{"Widget", "{spec: {b: {open: false}, list: [{size: 1}], text: x}}", "spec b open"},
		{"Widget", "{spec: {text: x}, status: {size: 1}}", ""},
		{"Widget", "{}", ""},
	} {
		var tree map[string]any
		if err := yaml.Unmarshal([]byte(test.object), &tree); err != nil {
			t.Fatal(err)
		}
		whole(tree)
		if got := changeable(schema.GroupKind{Kind: test.kind}, tree); strings.Join(got, " ") != test.want {
			t.Errorf("%s %s: %q, want %q", test.kind, test.object, got, test.want)
		}
	}
	for _, test := range [][2]any{{int64(3), int64(4)}, {true, false}, {"x", "x changed"}} {
		if got := changed("Widget", test[0]); got != test[1] {
			t.Errorf("%v becomes %v, want %v", test[0], got, test[1])
		}
	}
	if got := changed("Secret", "eA=="); got != "Y2hhbmdlZA==" {
		t.Errorf("the data of a Secret becomes %v", got)
	}
}

// whole makes whole numbers of those that were read, as objects have them.
func whole(tree map[string]any) {
	for name, value := range tree {
		switch value := value.(type) {
		case float64:
			tree[name] = int64(value)
		case map[string]any:
			whole(value)
		}
	}
}
