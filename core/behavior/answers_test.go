package behavior

import (
	"encoding/binary"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// cells is a glance at a few cells; a list shows those from 2 on, and of cell 0 somebody holds what is in cell 1.
type cells []state.Value

func (c cells) Value(cell state.Cell) state.Value { return c[cell] }

func (c cells) Project(p *state.Projection, cell state.Cell) (state.Value, bool) {
	return p.Shown(cell, c[cell])
}

func (c cells) AppendHeld(buffer []byte, cell state.Cell) []byte {
	return binary.AppendUvarint(buffer, uint64(c[cell+1]))
}

func (c cells) AppendSignature(buffer []byte, _ core.Kind, _ string, _ *state.Selection) ([]byte, bool) {
	for _, value := range c[2:] {
		buffer = binary.AppendUvarint(buffer, uint64(value))
	}
	return buffer, true
}

func (c cells) signature() string {
	signature, _ := c.AppendSignature(nil, "k", "", nil)
	return string(signature)
}

// reads returns what an answer looks at: cell 0, then cell 1, the list, or what is held, by what is in cell 0; and
// behind what is held of cell 0, what is of cell 2, by what is in cell 1.
func (c cells) reads() []Read {
	first := Read{Cell: 0, Value: c[0]}
	held := func(cell state.Cell) Read {
		return Read{Held: true, Cell: cell, Signature: string(c.AppendHeld(nil, cell))}
	}
	switch {
	case c[0]%4 == 0:
		return []Read{first}
	case c[0]%4 == 1:
		return []Read{first, {Cell: 1, Value: c[1]}}
	case c[0]%4 == 2:
		return []Read{first, {Listed: true, Kind: "k", Signature: c.signature()}}
	case c[1]%2 == 0:
		return []Read{first, held(0)}
	}
	return []Read{first, held(0), held(2)}
}

// key is all that the answer depends on.
func (c cells) key() string {
	var key strings.Builder
	for _, r := range c.reads() {
		key.WriteString(r.Signature)
		key.WriteByte(byte(r.Value))
		key.WriteByte(0xff)
	}
	return key.String()
}

// TestAnswersAreRemembered compares a node's answers with a map from what they depend
// on.
func TestAnswersAreRemembered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := &Node{}
		twin := map[string]*Answered{}
		draw := rapid.Custom(func(t *rapid.T) cells {
			c := make(cells, 4)
			for i := range c {
				c[i] = state.Value(rapid.IntRange(0, 7).Draw(t, "value"))
			}
			return c
		})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			glance := draw.Draw(t, "cells")
			want := twin[glance.key()]
			if got := node.Look(glance, nil); got != want {
				t.Fatalf("in %v the answer is %v, want %v", glance, got, want)
			}
			if want == nil {
				answered := &Answered{}
				twin[glance.key()] = answered
				if err := node.Remember(glance.reads(), answered); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestAnswersFromOtherReads(t *testing.T) {
	one, other := Read{Cell: 1, Value: 5}, Read{Cell: 2, Value: 5}
	list := Read{Listed: true, Kind: "k"}
	held := Read{Held: true, Cell: 1}
	for _, test := range []struct {
		name          string
		first, second []Read
	}{
		{"another cell", []Read{one}, []Read{other}},
		{"a list in place of a cell", []Read{one}, []Read{list}},
		{"more", []Read{one}, []Read{one, other}},
		{"fewer", []Read{one, other}, []Read{one}},
		{"something in place of nothing", nil, []Read{one}},
		{"what is held in place of the cell", []Read{one}, []Read{held}},
		{"a cell in place of what is held", []Read{held}, []Read{{Cell: 1}}},
		{"a list in place of what is held", []Read{held}, []Read{list}},
		{"what is held of another cell", []Read{held}, []Read{{Held: true, Cell: 2}}},
		{"fewer behind what is held", []Read{held, one}, []Read{held}},
		{"another namespace", []Read{list}, []Read{{Listed: true, Kind: "k", Namespace: "n"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			node := &Node{Call: named("get a")}
			if err := node.Remember(test.first, &Answered{}); err != nil {
				t.Fatal(err)
			}
			if err := node.Remember(test.second, &Answered{}); err == nil || !strings.Contains(err.Error(), `"get a"`) {
				t.Errorf("got the error %v, want one that names the call", err)
			}
		})
	}
}

// named is a call or a response with a name.
type named string

func (n named) Identity() string    { return string(n) }
func (n named) String() string      { return string(n) }
func (n named) Source() core.Source { return core.Live }

// TestResponses checks that a response has one edge, however many there are.
func TestResponses(t *testing.T) {
	for _, many := range []int{3, 30} {
		node := &Node{Call: named("get")}
		edges := map[string]*Edge{}
		for round := range 2 {
			for i := range many {
				name := strings.Repeat("x", i)
				edge := node.Respond(named(name))
				if round == 0 {
					edges[name] = edge
				}
				if edges[name] != edge || edge.Response.Identity() != name || edge.From != node || edge.To.Explored() {
					t.Fatalf("of %d, the edge of response %d is wrong", many, i)
				}
			}
		}
		if len(edges) != many || edges[""] == edges["x"] {
			t.Error("responses share an edge")
		}
	}
	for _, test := range []struct {
		node Node
		want bool
	}{{Node{}, false}, {Node{Drawn: true, Draw: 1}, false}, {Node{Call: named("get")}, true}, {Node{Leaf: &Leaf{}}, true}} {
		if got := test.node.Explored(); got != test.want {
			t.Errorf("it is explored: %t, want %t", got, test.want)
		}
	}
}

// TestVariants has a node go on otherwise with each draw, from the first one on that was made there.
func TestVariants(t *testing.T) {
	n := new(Node)
	if n.Varies() || n.Variant(1) != nil {
		t.Error("a node varies where nothing was drawn")
	}
	one, two := n.Vary(1), n.Vary(2)
	if one == two || n.Vary(1) != one || n.Variant(1) != one || n.Variant(2) != two || n.Variant(3) != nil || !n.Varies() {
		t.Error("draws share a node, or have several")
	}
	if !one.Drawn || one.Draw != 1 || !two.Drawn || two.Draw != 2 || one.Varies() || one.Explored() {
		t.Errorf("with draws 1 and 2 it goes on at %+v and %+v", one, two)
	}
}

// TestLookAtParts has the answer to a call that looks at a part of an object be found by what the part is, if that is
// known.
func TestLookAtParts(t *testing.T) {
	v := state.NewVocabulary(func(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions })
	c := v.Object(core.Key{Kind: "k", Name: "a"})
	p := v.Projection("k", initial{})
	for _, content := range []textOf{"ax", "ay", "bx", "cx"} {
		if value := v.Intern(c, content); content != "cx" {
			v.Project(p, c, value)
		}
	}
	n := &Node{Call: put{"look", ""}}
	answers := map[state.Value]*Answered{}
	for _, value := range []state.Value{1, 3} {
		shown, _ := p.Shown(c, value)
		answers[value] = &Answered{}
		if err := n.Remember([]Read{{Cell: c, Projection: p, Value: shown}}, answers[value]); err != nil {
			t.Fatal(err)
		}
	}
	answers[2] = answers[1] // which differs in another part
	for value := range state.Value(5) {
		if got := n.Look(cells{value}, nil); got != answers[value] {
			t.Errorf("of value %d, the answer is %v, want %v", value, got, answers[value])
		}
	}
}

// initial projects contents to their first letters.
type initial struct{}

func (initial) Identity() string                   { return "initial" }
func (initial) Project(o core.Object) core.Content { return textOf(o.Content.Canonical()[:1]) }

// TestMost counts the changes of the run that makes most: of a node with answers in different states, of concurrent
// calls in both orders, and of what is drawn, also where nobody watches them.
func TestMost(t *testing.T) {
	writes := func(kinds ...core.Kind) []Write {
		var all []Write
		for _, kind := range kinds {
			all = append(all, Write{Key: core.Key{Kind: kind}})
		}
		return all
	}
	leads := func(from *Node, name named, value state.Value, writes []Write) *Node {
		edge := from.Respond(name)
		if err := from.Remember([]Read{{Cell: 0, Value: value}}, &Answered{Edge: edge, Writes: writes}); err != nil {
			t.Fatal(err)
		}
		return edge.To
	}
	root := &Node{}
	root.Ask([]core.Call{named("a"), named("b")})
	second := leads(root.Turns[1], "ok", 1, writes("Pod"))
	leads(root.Turns[1], "ok", 2, writes("Pod", "Secret")) // in another state
	leads(second.Vary(3), "ok", 1, append(writes("Pod", "Secret"), Write{Key: core.Key{Kind: "Event"}, Unwatched: true}))
	leads(leads(root, "done", 1, nil), "ok", 1, writes("Node"))
	got := map[core.Kind]int{}
	root.Most(got)
	if want := map[core.Kind]int{"Pod": 2, "Secret": 2, "Node": 1, "Event": 1}; !maps.Equal(got, want) {
		t.Errorf("at most %v, want %v", got, want)
	}
}
