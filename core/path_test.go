package core_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

func TestFieldOf(t *testing.T) {
	tests := []struct{ path, name, want string }{
		{"", "spec", "spec"},
		{"spec", "replicas", "spec.replicas"},
		{"spec.containers[0]", "image", "spec.containers[0].image"},
		{"spec", "a-b/c_d", "spec.a-b/c_d"},
		{"spec", "0", "spec.0"},
		{"metadata.labels", "example.com/team", `metadata.labels["example.com/team"]`},
		{"", "ca.crt", `["ca.crt"]`},
		{"data", "", `data[""]`},
		{"data", "[0]", `data["[0]"]`},
		{"data", "a b", `data["a b"]`},
		{"data", `say "x"`, `data["say \"x\""]`},
	}
	for _, test := range tests {
		if got := core.FieldOf(test.path, test.name); got != test.want {
			t.Errorf("FieldOf(%q, %q) = %s, want %s", test.path, test.name, got, test.want)
		}
	}
}

func TestItemOf(t *testing.T) {
	tests := []struct {
		path  string
		index int
		want  string
	}{
		{"", 0, "[0]"},
		{"spec.containers", 12, "spec.containers[12]"},
		{"matrix[1]", 2, "matrix[1][2]"},
		{`data["ca.crt"]`, 0, `data["ca.crt"][0]`},
	}
	for _, test := range tests {
		if got := core.ItemOf(test.path, test.index); got != test.want {
			t.Errorf("ItemOf(%q, %d) = %s, want %s", test.path, test.index, got, test.want)
		}
	}
}

// TestPathsAreUnambiguous draws two ways down a tree: the same path is the same way.
func TestPathsAreUnambiguous(t *testing.T) {
	name := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune(`ab0.[]"\ `)), 0, 4, -1),
		rapid.SampledFrom([]string{"a", "b", "a.b", "[0]", "0", `["a"]`}),
	)
	step := rapid.OneOf(name.AsAny(), rapid.IntRange(0, 11).AsAny())
	path := func(way []any) string {
		at := ""
		for _, step := range way {
			if index, ok := step.(int); ok {
				at = core.ItemOf(at, index)
			} else {
				at = core.FieldOf(at, step.(string))
			}
		}
		return at
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(step, 0, 3).Draw(t, "a"), rapid.SliceOfN(step, 0, 3).Draw(t, "b")
		if got, same := path(a) == path(b), slices.Equal(a, b); got != same {
			t.Fatalf("%q and %q have the paths %s and %s", a, b, path(a), path(b))
		}
	})
}
