package cluster

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

func TestLookUp(t *testing.T) {
	value := node{
		"spec": node{"replicas": 2, "containers": []any{node{"image": "i"}, node{"image": "j"}}, "absent": nil},
		"metadata": node{"labels": node{
			"example.com/team": "red", "app": "x", "a]": "bracket", `a"`: "quote", "": "nothing",
		}},
		"a":   node{"b": 1},
		"a.b": 2,
	}
	tests := []struct {
		path string
		want any
	}{
		{"", value},
		{"spec.replicas", 2},
		{"spec.containers[1].image", "j"},
		{"spec.containers[1]", node{"image": "j"}},
		{"spec.absent", nil},
		{`metadata.labels["example.com/team"]`, "red"},
		{`metadata.labels.app`, "x"},
		{`metadata.labels["a]"]`, "bracket"},
		{`metadata.labels["a\""]`, "quote"},
		{`metadata.labels[""]`, "nothing"},
		{"a.b", 1},
		{`["a.b"]`, 2},
	}
	for _, test := range tests {
		if got, ok := LookUp(value, test.path); !ok || !reflect.DeepEqual(got, test.want) {
			t.Errorf("at %q there is %v, %t, want %v", test.path, got, ok, test.want)
		}
	}
	for _, path := range []string{
		"spec.replica", "spec.replicas2", "spec.replicas.x", "spec.containers[2]", "spec.containers[1]x", "spec.containers.1",
		"metadata.labels.example.com/team", "spe", "spec.", ".spec", "[0]",
	} {
		if got, ok := LookUp(value, path); ok {
			t.Errorf("at %q there is %v, want nothing", path, got)
		}
	}
}

// fieldNames draws names of fields, those that are hard to read in a path among them.
func fieldNames() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"a", "b", "spec", "0", "example.com/team", "a.b", "a[0]", "", `"`, `\`, "a b"}),
		rapid.StringOf(rapid.RuneFrom([]rune(`ab0.[]"\ é`))),
	)
}

func values(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{rapid.Int64().AsAny(), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Just[any](nil)}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	below := values(depth - 1)
	return rapid.OneOf(append(scalars,
		rapid.MapOfN(fieldNames(), below, 0, 4).AsAny(),
		rapid.SliceOfN(below, 0, 3).AsAny(),
	)...)
}

// TestLookUpFindsWhatIsThere writes the path of every value of a tree, and looks there.
func TestLookUpFindsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := values(3).Draw(t, "tree")
		var visit func(value any, path string)
		visit = func(value any, path string) {
			if found, ok := LookUp(root, path); !ok || !reflect.DeepEqual(found, value) {
				t.Fatalf("at %q there is %v, %t, want %v", path, found, ok, value)
			}
			switch value := value.(type) {
			case map[string]any:
				for name, below := range value {
					visit(below, core.FieldOf(path, name))
				}
				if name := fieldNames().Draw(t, "another name"); value[name] == nil {
					if found, ok := LookUp(root, core.FieldOf(path, name)); found != nil || ok != has(value, name) {
						t.Fatalf("at %q there is %v", core.FieldOf(path, name), found)
					}
				}
			case []any:
				for i, below := range value {
					visit(below, core.ItemOf(path, i))
				}
				if found, ok := LookUp(root, core.ItemOf(path, len(value))); ok {
					t.Fatalf("behind the last item of %q there is %v", path, found)
				}
			}
		}
		visit(root, "")
	})
}

func has(fields map[string]any, name string) bool {
	_, ok := fields[name]
	return ok
}

func TestHolds(t *testing.T) {
	const (
		here, there   = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
		elsewhere     = "33333333-3333-4333-8333-333333333333"
		before, since = "2000-01-01T00:00:00Z", "2026-03-04T05:06:07.123456Z"
	)
	tests := []struct {
		name           string
		real, recorded any
		// want is the path where the real value differs, "" if it holds.
		want string
	}{
		{"equal", node{"a": "x"}, node{"a": "x"}, ""},
		{"another value", node{"a": "x"}, node{"a": "y"}, "a"},
		{"a field that only the server fills in", node{"a": "x", "b": 1}, node{"a": "x"}, ""},
		{"a field that is missing", node{}, node{"spec": node{"a": 1}}, "spec"},
		{"a field that is null", node{}, node{"a": nil}, ""},
		{"an empty map that is missing", node{}, node{"a": node{}}, ""},
		{"an empty list that is missing", node{}, node{"a": []any{}}, ""},
		{"an empty map for a text", node{"a": "x"}, node{"a": node{}}, "a"},
		{"an empty list for a text", node{"a": "x"}, node{"a": []any{}}, "a"},
		{"a list", node{"a": []any{1, node{"b": 2}}}, node{"a": []any{1, node{"b": 2}}}, ""},
		{"another item", node{"a": []any{1, node{"b": 3}}}, node{"a": []any{1, node{"b": 2}}}, "a[1].b"},
		{"a longer list", node{"a": []any{1, 2}}, node{"a": []any{1}}, "a"},
		{"a shorter list", node{"a": []any{1}}, node{"a": []any{1, 2}}, "a"},
		{"a name that is no word", node{"a": node{"b.c": 1}}, node{"a": node{"b.c": 2}}, `a["b.c"]`},
		{"numbers of several types", node{"a": 3.0, "b": 1e6, "c": 2.0}, node{"a": int64(3), "b": json.Number("1000000"), "c": 2}, ""},
		{"another number", node{"a": 3.0}, node{"a": int64(4)}, "a"},
		{"a text for a number", node{"a": "3"}, node{"a": int64(3)}, "a"},
		{"a number for a text", node{"a": 3.0}, node{"a": "3"}, "a"},
		{"a text for a truth", node{"a": "true"}, node{"a": true}, "a"},
		{"a map for a text", node{"a": node{}}, node{"a": "x"}, "a"},
		{
			"what counts up", node{"metadata": node{"resourceVersion": "9", "generation": 5.0}, "status": node{"observedGeneration": 5.0}},
			node{"metadata": node{"resourceVersion": "1", "generation": int64(1)}, "status": node{"observedGeneration": int64(1)}}, "",
		},
		{"who manages fields", node{"metadata": node{}}, node{"metadata": node{"managedFields": []any{node{"manager": "me"}}}}, ""},
		{"another time", node{"metadata": node{"deletionTimestamp": since}}, node{"metadata": node{"deletionTimestamp": before}}, ""},
		{"no time", node{"metadata": node{}}, node{"metadata": node{"deletionTimestamp": before}}, "metadata.deletionTimestamp"},
		{"a text for a time", node{"a": "soon"}, node{"a": before}, "a"},
		{"another uid", node{"a": there, "b": []any{there}}, node{"a": here, "b": []any{here}}, ""},
		{"two uids for one", node{"a": there, "b": elsewhere}, node{"a": here, "b": here}, "b"},
		{"one uid for two", node{"a": there, "b": there}, node{"a": here, "b": there}, "b"},
		{"a text for a uid", node{"a": "x"}, node{"a": here}, "a"},
		{"the version that it is read in", node{"apiVersion": "example.com/v1"}, node{"apiVersion": "example.com/v1beta1"}, ""},
		{"another version of an owner", node{"o": []any{node{"apiVersion": "v1"}}}, node{"o": []any{node{"apiVersion": "v2"}}}, "o[0].apiVersion"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, _ := newCluster(t)
			path, ok := c.holds(test.real, test.recorded, "")
			if ok != (test.want == "") || !ok && path != test.want {
				t.Errorf("it differs at %q (holds: %t), want %q", path, ok, test.want)
			}
		})
	}
}

func TestShows(t *testing.T) {
	const recordedUID = "11111111-1111-4111-8111-111111111111"
	object := node{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": node{"namespace": "default", "name": "a", "uid": "22222222-2222-4222-8222-222222222222"},
		"data":     node{"k": "v", "n.n": "w"},
	}
	change := func(verb string, fields ...core.FieldChange) core.TraceChange {
		return core.TraceChange{Kind: "ConfigMap", Namespace: "default", Name: "a", Verb: verb, Fields: fields}
	}
	created := func(value string) core.TraceChange {
		return change("created", core.FieldChange{To: node{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": node{"namespace": "default", "name": "a", "uid": recordedUID}, "data": node{"k": value},
		}})
	}
	tests := []struct {
		name   string
		there  bool
		change core.TraceChange
		want   string
	}{
		{"created", true, created("v"), ""},
		{"created otherwise", true, created("x"), `ConfigMap default/a: data.k is "v" on the real server`},
		{"created, not there", false, created("v"), "ConfigMap default/a is not there"},
		{"deleted", false, change("deleted"), ""},
		{"deleted, still there", true, change("deleted"), "ConfigMap default/a is still there"},
		{"changed", true, change("changed", core.FieldChange{Path: "data.k", From: "u", To: "v"}, core.FieldChange{Path: `data["n.n"]`, To: "w"}), ""},
		{
			"changed otherwise", true, change("changed", core.FieldChange{Path: "data.k", From: "u", To: "v"}, core.FieldChange{Path: `data["n.n"]`, To: "x"}),
			`ConfigMap default/a: data["n.n"] is "w" on the real server`,
		},
		{"not changed", true, change("changed", core.FieldChange{Path: "data.new", To: "x"}), "ConfigMap default/a: data.new is (absent) on the real server"},
		{"taken away", true, change("changed", core.FieldChange{Path: "data.old", From: "x"}), ""},
		{"not taken away", true, change("changed", core.FieldChange{Path: "data.k", From: "v"}), `ConfigMap default/a: data.k is "v" on the real server`},
		{"changed, not there", false, change("changed", core.FieldChange{Path: "data.k", To: "v"}), "ConfigMap default/a is not there"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, a := newCluster(t)
			if test.there {
				a.objects["/api/v1/namespaces/default/configmaps/a"] = object
			}
			got, err := c.Shows(context.Background(), test.change)
			if err != nil || got != test.want {
				t.Errorf("shows %q, error %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestUIDsFollowObjects creates an object, deletes it, and creates it again: what refers
// to it must refer to the new one then, on the real server as well.
func TestUIDsFollowObjects(t *testing.T) {
	const recorded, first, second = "00000000-0000-8000-8000-000000000000", "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	c, a := newCluster(t)
	const configMaps = "/api/v1/namespaces/default/configmaps/"
	show := func(name, realUID, owner string, want bool) {
		t.Helper()
		a.objects[configMaps+name] = node{"metadata": node{"uid": realUID, "owner": owner}}
		difference, err := c.Shows(context.Background(), core.TraceChange{
			Kind: "ConfigMap", Namespace: "default", Name: name, Verb: "created",
			Fields: []core.FieldChange{{To: node{"metadata": node{"uid": recorded, "owner": recorded}}}},
		})
		if err != nil || (difference == "") != want {
			t.Errorf("%s with the owner %s: %q, error %v", realUID, owner, difference, err)
		}
	}
	show("a", first, first, true)
	show("a", second, second, true)
	show("a", second, first, false)
}

func TestShowsWhatCannotBeRead(t *testing.T) {
	c, a := newCluster(t)
	a.answers["GET /api/v1/namespaces/default/configmaps/a"] = answer{500, "broken"}
	_, err := c.Shows(context.Background(), core.TraceChange{Kind: "ConfigMap", Namespace: "default", Name: "a", Verb: "created"})
	if err == nil || !strings.Contains(err.Error(), "reading ConfigMap default/a: ") {
		t.Errorf("error %v", err)
	}
}

// TestLookUpFindsChanges looks at the paths of the differences between two trees, with lists whose items are told apart
// by a field, and others.
func TestLookUpFindsChanges(t *testing.T) {
	list := rapid.Custom(func(t *rapid.T) any {
		key := rapid.SampledFrom([]string{"type", "type", "type", "x"}).Draw(t, "key")
		var items []any
		names := rapid.Permutation([]string{"a", "b c", `d"]`, "e", "a"}).Draw(t, "names")
		for _, name := range names[:rapid.IntRange(0, len(names)).Draw(t, "items")] {
			items = append(items, node{key: name, "y": rapid.IntRange(0, 1).Draw(t, "y")})
		}
		return items
	})
	items := func(names ...string) (all []any) {
		for _, name := range names {
			all = append(all, node{"type": name})
		}
		return all
	}
	looked := func(t interface{ Fatalf(string, ...any) }, from, to any) (ordered bool) {
		for _, change := range core.DiffFields(from, to) {
			if list, isOrder := strings.CutSuffix(change.Path, core.OrderOf("")); isOrder {
				ordered = true
				was, _ := LookUp(from, list)
				is, _ := LookUp(to, list)
				if orderOf(was, change.From) != change.From || orderOf(is, change.To) != change.To || orderOf(is, change.From) == change.From {
					t.Fatalf("%s, in %v and %v", change, was, is)
				}
				continue
			}
			if found, _ := LookUp(from, change.Path); !reflect.DeepEqual(found, change.From) {
				t.Fatalf("%s, and before it there is %v", change, found)
			}
			if found, _ := LookUp(to, change.Path); !reflect.DeepEqual(found, change.To) {
				t.Fatalf("%s, and after it there is %v", change, found)
			}
		}
		return ordered
	}
	if !looked(t, node{"l": items("a", "b", "c")}, node{"l": items("c", "d", "a")}) {
		t.Error("that items came in another order is no difference")
	}
	rapid.Check(t, func(t *rapid.T) { looked(t, node{"l": list.Draw(t, "from")}, node{"l": list.Draw(t, "to")}) })
}
