package external_test

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/core"
)

// node is a record under a chosen name, with the names of others.
type node struct {
	ID     string   `json:"id"`
	Colour int      `json:"colour"`
	Others []string `json:"others"`
}

// graph is a service with nodes, and a table of what is not chosen and mentions them.
func graph() (*external.Service, *external.Table[node], *external.Table[string]) {
	s := external.New("graph")
	nodes := external.NewTable(s, external.TableConfig[node]{Kind: "Node", Chosen: true})
	names := external.NewTable(s, external.TableConfig[string]{Kind: "Name"})
	external.NewQuery(s, "nothing", func(*external.Transaction, string) (string, error) { return "", nil })
	return s, nodes, names
}

// outcomeOf returns the canonical outcome of nodes whose names are given, with links between them, and of what is said
// about the name of the first.
func outcomeOf(t *rapid.T, said string, names []string, colours []int, links [][]int) map[core.Key]any {
	s, nodes, others := graph()
	fill := external.NewOperation(s, "fill", func(t *external.Transaction, _ string) (string, error) {
		for i, name := range names {
			n := node{ID: name, Colour: colours[i]}
			for _, to := range links[i] {
				n.Others = append(n.Others, names[to])
			}
			nodes.Put(t, name, n)
		}
		others.Put(t, "first", fmt.Sprintf(said, names[0]))
		return "", nil
	})
	store, err := external.Compose(strange{}, s)
	if err != nil {
		t.Fatal(err)
	}
	at := &state{t: t, store: store, objects: map[core.Key]core.Content{}}
	if _, err := fill.Do(t.Context(), external.Recorded(at), ""); err != nil {
		t.Fatal(err)
	}
	var objects []core.Object
	outcome := map[core.Key]any{}
	for _, kind := range []core.Kind{"Name.graph", "Node.graph"} {
		for _, o := range at.List(kind, "") {
			objects = append(objects, o)
			outcome[o.Key] = store.Outcome(o.Key, o.Content)
		}
	}
	return store.CanonicalOutcome(objects, outcome)
}

// TestChosenNames checks that it makes no difference to an outcome which names were chosen, and that all else does.
func TestChosenNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const said = "it is %s"
		n := rapid.IntRange(1, 5).Draw(t, "nodes")
		colours, links := make([]int, n), make([][]int, n)
		names, again := make([]string, n), make([]string, n)
		order := rapid.Permutation(makeRange(n)).Draw(t, "order")
		for i := range n {
			colours[i] = rapid.IntRange(0, 1).Draw(t, "colour")
			links[i] = rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 2).Draw(t, "links")
			names[i], again[i] = fmt.Sprintf("i-%d", i), fmt.Sprintf("i-%d", order[i]+rapid.SampledFrom([]int{0, 0, 20}).Draw(t, "far"))
		}
		seen := map[string]bool{}
		for _, name := range again {
			if seen[name] {
				t.Skip("two names are the same")
			}
			seen[name] = true
		}
		one, other := outcomeOf(t, said, names, colours, links), outcomeOf(t, said, again, colours, links)
		if !reflect.DeepEqual(one, other) {
			t.Fatalf("%v and %v differ in names only:\n%v\n%v", names, again, one, other)
		}
		changed := append([]int(nil), colours...)
		changed[rapid.IntRange(0, n-1).Draw(t, "changed")] += 2
		different := outcomeOf(t, said, names, changed, links)
		if reflect.DeepEqual(one, different) {
			t.Fatalf("%v with the colours %v and %v are taken for the same", names, colours, changed)
		}
	})
}

func makeRange(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestMentions checks where a chosen name is replaced: as a word of its own.
func TestMentions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := outcomeOf(t, "it is %[1]s, and not x%[1]s", []string{"i-7"}, []int{0}, [][]int{nil})
		if said := got[core.Key{Kind: "Name.graph", Name: "first"}]; said != "it is i-<1>, and not xi-7" {
			t.Fatalf("got %q", said)
		}
		if _, there := got[core.Key{Kind: "Node.graph", Name: "i-<1>"}]; !there {
			t.Fatalf("the key is not replaced: %v", got)
		}
	})
}
