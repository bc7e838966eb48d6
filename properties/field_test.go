package properties

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

func TestPatterns(t *testing.T) {
	for path, want := range map[string]string{
		"":                                     "",
		"spec.replicas":                        "spec.replicas",
		"spec.containers[0].ports[12].name":    "spec.containers[].ports[].name",
		"l[name=a].x":                          "l[].x",
		`l[key="a [\"x"].y`:                    `l[].y`,
		"status.conditions[type=Ready].status": "status.conditions[type=Ready].status",
		"l[order]":                             "l[order]",
		`metadata.labels["a[0].b"]`:            `metadata.labels["a[0].b"]`,
		`metadata.labels["a\"[0]"][1]`:         `metadata.labels["a\"[0]"][]`,
		`data["x\\"][3]`:                       `data["x\\"][]`,
		"status.replicas2":                     "status.replicas2",
		`status.conditions[2]["last 3"].type`:  `status.conditions[]["last 3"].type`,
	} {
		if got := withoutPositions(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestNameless(t *testing.T) {
	for _, test := range []struct {
		text  string
		names []string
		want  string
	}{
		{`pods "web-1" not found`, []string{"default", "web"}, `pods "…-1" not found`},
		{"a cat has a tail", []string{"a"}, "… cat has … tail"},
		{"aaa a", []string{"a"}, "aaa …"},
		{"default/web in default", []string{"default", "web"}, "…/… in …"},
		{"website of web", []string{"web"}, "website of …"},
		{"nothing", []string{""}, "nothing"},
	} {
		if got := nameless(test.text, test.names...); got != test.want {
			t.Errorf("%q without %q: got %q, want %q", test.text, test.names, got, test.want)
		}
	}
	if got := numberless("3 of 42, v1"); got != "# of #, v#" {
		t.Errorf("got %q", got)
	}
}

func TestKeyed(t *testing.T) {
	tree := keyed(map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "True"},
		map[string]any{"type": "Found", "status": "False"},
	}}, "spec": map[string]any{"args": []any{"a", "b"}, "twice": []any{map[string]any{"name": "x"}, map[string]any{"name": "x"}}}})
	for path, want := range map[string]any{
		"status.conditions.Ready.status": "True",
		"status.conditions.Found.status": "False",
		"spec.args[1]":                   "b",
		"spec.twice[1].name":             "x",
		"spec.twice.x":                   nil,
		"spec.arg":                       nil,
		"spec.args[1].more":              nil,
	} {
		if got, there := lookup(tree, path); got != want || there != (want != nil) {
			t.Errorf("%s: got %v, %t, want %v", path, got, there, want)
		}
	}
	if got, there := lookup(5, ""); got != 5 || !there {
		t.Errorf("the whole is %v, %t", got, there)
	}
}

// TestLeafChanges checks that every difference is told at a place where at least one side has a value that is no tree
// with fields, and that each is found there.
func TestLeafChanges(t *testing.T) {
	var drawn func(depth int) *rapid.Generator[any]
	drawn = func(depth int) *rapid.Generator[any] {
		return rapid.Custom(func(t *rapid.T) any {
			if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
				return rapid.IntRange(0, 2).Draw(t, "value")
			}
			tree := map[string]any{}
			for _, name := range []string{"a", "b.c"} {
				if rapid.Bool().Draw(t, "there") {
					tree[name] = drawn(depth-1).Draw(t, name)
				}
			}
			return tree
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		from, to := drawn(3).Draw(t, "from"), drawn(3).Draw(t, "to")
		var paths []string
		for _, c := range leafChanges(from, to) {
			before, _ := lookup(from, c.Path)
			after, _ := lookup(to, c.Path)
			if core.FieldText(before) != core.FieldText(c.From) || core.FieldText(after) != core.FieldText(c.To) {
				t.Fatalf("%s is %v → %v, not %v", c.Path, before, after, c)
			}
			one, inner := c.From.(map[string]any)
			other, also := c.To.(map[string]any)
			if inner && c.To == nil && len(one) > 0 || also && c.From == nil && len(other) > 0 {
				t.Fatalf("%v is not told one by one", c)
			}
			paths = append(paths, c.Path)
		}
		if slices.Sort(paths); len(slices.Compact(paths)) != len(paths) {
			t.Fatalf("a difference is told twice: %q", paths)
		}
		if (len(paths) == 0) != (len(core.DiffFields(from, to)) == 0) {
			t.Fatalf("%v → %v: %q", from, to, paths)
		}
	})
}

func TestQuantities(t *testing.T) {
	for text, want := range map[string]float64{"5": 5, "500m": 0.5, "2k": 2000, "1Ki": 1024, "1.5Gi": 1.5 * 1024 * 1024 * 1024, "-1": -1, "3E": 3e18} {
		if got, ok := quantity(text); !ok || got != want {
			t.Errorf("%s is %v, %t, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "m", "Running", "1Gib", "1ki", "1 Gi", "Inf", "0x1", "1.2.3", "1iG", "1K"} {
		if got, ok := quantity(text); ok {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestSameLife(t *testing.T) {
	is := func(uid any) tree { return tree{"metadata": map[string]any{"uid": uid}} }
	for _, test := range []struct {
		before, after core.Content
		want          bool
	}{
		{is("1"), is("1"), true}, {tree{}, tree{}, true}, {is("1"), is("2"), false}, {nil, is("1"), false}, {is("1"), nil, false},
	} {
		if got := sameLife(core.Change{Before: test.before, After: test.after}); got != test.want {
			t.Errorf("%v and %v: %t", test.before, test.after, got)
		}
	}
}

// tree is an object that is nothing but its fields.
type tree map[string]any

func (t tree) Canonical() string { return core.FieldText(t) }
func (t tree) Fields() any       { return map[string]any(t) }
