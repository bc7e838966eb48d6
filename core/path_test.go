package core_test

import (
	"fmt"
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

// TestLeaves checks how leaves are named, and that what they say is all there is.
func TestLeaves(t *testing.T) {
	type tree = map[string]any
	object := tree{
		"spec":   tree{"size": 1, "args": []any{"a", "b"}, "env": []any{tree{"name": "A B", "value": "x"}, tree{"name": "C"}}},
		"status": tree{"conditions": []any{tree{"type": "Ready", "status": "True"}, tree{"type": "Live", "status": "False"}}},
		"other":  []any{tree{"name": "a"}, tree{"name": "a"}, "b"},
	}
	want := []string{
		"other[0].name=a", "other[1].name=a", "other[2]=b",
		"spec.args[0]=a", "spec.args[1]=b", `spec.env[name="A B"].value=x`, "spec.env[name=C].name=C", "spec.size=1",
		"status.conditions[type=Ready].status=True", "status.conditions[type=Live].status=False",
	}
	var got []string
	for _, leaf := range core.Leaves("", object) {
		got = append(got, fmt.Sprintf("%s=%v", leaf.Path, leaf.Value))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	below := core.Leaves("l[type=Ready]", tree{"type": "Ready", "status": "True"})
	if len(below) != 1 || below[0].Path != "l[type=Ready].status" {
		t.Errorf("an item below its name: %v", below)
	}
}
