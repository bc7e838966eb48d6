package behavior

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// says is a response that is a text.
type says string

func (s says) Identity() string { return string(s) }
func (s says) String() string   { return string(s) }

// racing returns the calls of a run in the order in which they were answered. Each is given with those that waited when
// it was answered, itself first.
func racing(waiting ...[]core.Call) []Made {
	var made []Made
	for i, calls := range waiting {
		pending := slices.Clone(calls)
		slices.SortFunc(pending, func(a, b core.Call) int { return cmp.Compare(a.Identity(), b.Identity()) })
		node := &Node{}
		node.Ask(pending)
		made = append(made, Made{Number: i, Node: node.turnOf(calls[0]), Response: says(calls[0].Identity()), Answers: []*Answered{{}}})
	}
	return made
}

// TestReversals has two calls of a run that wait at the same time be answered in the other order, too, unless that
// cannot matter. What follows a call alone comes after it, so that what is answered first in its stead is what it
// follows.
func TestReversals(t *testing.T) {
	a, b, c, d := put{"a", ""}, put{"b", ""}, put{"c", ""}, put{"d", ""}
	never := func(_, _ Made) bool { return false }
	for _, test := range []struct {
		name    string
		made    []Made
		leaf    Leaf
		commute func(a, b Made) bool
		want    []string
	}{
		{"nothing", nil, Leaf{}, never, nil},
		{"two at the same time", racing([]core.Call{a, b}, []core.Call{b}), Leaf{}, never, []string{"at 0 b, for a and b"}},
		{"two at the same time, the second first", racing([]core.Call{b, a}, []core.Call{a}), Leaf{}, never, []string{"at 0 a, for b and a"}},
		{"two that commute", racing([]core.Call{a, b}, []core.Call{b}), Leaf{}, func(_, _ Made) bool { return true }, nil},
		{"two that commute, whose order is heeded", racing([]core.Call{a, b}, []core.Call{b}), Leaf{Overtaking: map[int]Overtaking{0: {by: []int{1}, heeded: true}}}, func(_, _ Made) bool { return true }, []string{"at 0 b, for a and b"}},
		{"two that commute, one overtakes the other", racing([]core.Call{a, b}, []core.Call{b}), Leaf{Overtaking: map[int]Overtaking{0: {by: []int{1}}}}, func(_, _ Made) bool { return true }, nil},
		{"two that seem to wait at the same time, and one never overtakes the other", racing([]core.Call{a, b}, []core.Call{b}), Leaf{Overtaking: map[int]Overtaking{}}, never, nil},
		{"one after the other", racing([]core.Call{a}, []core.Call{b}), Leaf{}, never, nil},
		{"one that comes while another waits", racing([]core.Call{a, b}, []core.Call{b, c}, []core.Call{c}), Leaf{}, never, []string{"at 0 b, for a and b", "at 1 c, for b and c"}},
		{
			"one that follows another one", racing([]core.Call{a, b}, []core.Call{b}, []core.Call{c}), Leaf{}, never,
			[]string{"at 0 b, for a and b", "at 0 b, for a and c"},
		},
		{
			"one that follows one that follows another one", racing([]core.Call{a, b}, []core.Call{b}, []core.Call{c}, []core.Call{d}), Leaf{}, never,
			[]string{"at 0 b, for a and b", "at 0 b, for a and c", "at 0 b, for a and d"},
		},
		{
			"one that comes while another waits, and can overtake the one that it seems to follow", racing([]core.Call{a, b}, []core.Call{b, c}, []core.Call{c}),
			Leaf{Overtaking: map[int]Overtaking{0: {by: []int{1, 2}}, 1: {by: []int{2}}}}, never,
			[]string{"at 0 b, for a and b", "at 1 c, for b and c", "at 0 b, for a and c"},
		},
		{"three at the same time", racing([]core.Call{a, b, c}, []core.Call{b, c}, []core.Call{c}), Leaf{}, never, []string{"at 0 b, for a and b", "at 1 c, for b and c", "at 0 c, for a and c"}},
		{"two that are the same, with the same answer", racing([]core.Call{a, a}, []core.Call{a}), Leaf{}, never, nil},
		{"some of three", racing([]core.Call{a, b, c}, []core.Call{b, c}, []core.Call{c}), Leaf{}, func(x, y Made) bool { return x.Number+y.Number != 2 }, []string{"at 0 c, for a and c"}},
	} {
		var got []string
		for _, r := range Reversals(test.made, &test.leaf, test.commute) {
			text := fmt.Sprint("at ", r.Call, " nobody")
			if r.Turn != nil {
				text = fmt.Sprint("at ", r.Call, " ", r.Turn.Call.Identity()[:1])
			}
			got = append(got, fmt.Sprint(text, ", for ", r.First.Identity()[:1], " and ", r.Second.Identity()[:1]))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	// Of two that are the same and are answered otherwise, nobody knows who gets which.
	same := racing([]core.Call{a, a}, []core.Call{a})
	same[1].Response = says("other")
	if got := Reversals(same, &Leaf{}, never); len(got) != 1 || got[0].Turn != nil || got[0].Call != 0 {
		t.Errorf("two equal calls with different answers: %+v", got)
	}
}

// TestOther has another turn of a node be one besides the node, if there is one, and calls be the same only with the
// same answers.
func TestOther(t *testing.T) {
	one, two := &Node{Call: named("a")}, &Node{Call: named("b")}
	turns := []*Node{one, two}
	one.Turns, two.Turns = turns, turns
	alone := &Node{Call: named("c")}
	if one.other() != two || two.other() != one || alone.other() != alone {
		t.Error("another turn is not the other one")
	}
	for _, test := range []struct {
		node     *Node
		response named
		want     bool
	}{{one, "x", true}, {two, "x", false}, {one, "y", false}, {&Node{Call: named("a")}, "x", true}} {
		if got := (Made{Node: one, Response: named("x")}).same(Made{Node: test.node, Response: test.response}); got != test.want {
			t.Errorf("a answered by x, and %v by %s are the same: %t", test.node.Call, test.response, got)
		}
	}
}
