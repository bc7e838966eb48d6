package cel

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"pgregory.net/rapid"
)

// trees are JSON trees of few different values.
func trees(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		choices := 4
		if depth > 0 {
			choices = 6
		}
		switch rapid.IntRange(0, choices-1).Draw(t, "form") {
		case 0:
			return rapid.Int64Range(0, 1).Draw(t, "number")
		case 1:
			return rapid.SampledFrom([]string{"", "a", "ü"}).Draw(t, "text")
		case 2:
			return rapid.Bool().Draw(t, "boolean")
		case 3:
			return nil
		case 4:
			return rapid.SliceOfN(trees(depth-1), 0, 2).Draw(t, "list")
		}
		return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c__d", "__namespace__"}), trees(depth-1), 0, 2).Draw(t, "object")
	})
}

// TestEqualTrees checks that two trees are equal as values exactly if they are equal, also if the library has made a
// value of one of them.
func TestEqualTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := trees(2).Draw(t, "a"), trees(2).Draw(t, "b")
		if rapid.Bool().Draw(t, "same") {
			b = a
		}
		equal := types.Bool(reflect.DeepEqual(a, b))
		library := types.DefaultTypeAdapter.NativeToValue
		for _, pair := range [][2]ref.Val{{guess(a), guess(b)}, {guess(a), library(b)}, {library(a), guess(b)}} {
			if got := types.Equal(pair[0], pair[1]); got != equal {
				t.Fatalf("%v and %v are equal: %v", a, b, got)
			}
		}
	})
}

// TestOrderedKeys checks that what is in an object comes in order, and is found.
func TestOrderedKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := rapid.MapOf(rapid.String(), rapid.Int64()).Draw(t, "tree")
		parts := map[string]any{}
		for name, value := range tree {
			parts[name] = value
		}
		m := guess(parts).(traits.Mapper)
		var names []string
		for it := m.Iterator(); it.HasNext() == types.True; {
			name := it.Next()
			value, found := m.Find(name)
			if !found || value != types.Int(tree[string(name.(types.String))]) || m.Contains(name) != types.True || m.Get(name) != value {
				t.Fatalf("%v is %v, %t", name, value, found)
			}
			names = append(names, string(name.(types.String)))
		}
		if !slices.Equal(names, slices.Sorted(maps.Keys(tree))) || m.Size() != types.Int(len(tree)) {
			t.Fatalf("the names are %q", names)
		}
	})
}
