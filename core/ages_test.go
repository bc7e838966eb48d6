package core_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// born is an object that was created at a second, or shows none.
type born int

func (b born) Canonical() string { return fmt.Sprint(int(b)) }

func (b born) Fields() any { return int(b) }

func (b born) Created() string {
	if b == 0 {
		return ""
	}
	return fmt.Sprintf("second %d", int(b))
}

func (b born) Earlier(by map[string]int) core.Content { return b - born(by[core.Creation]) }

func (b born) Written() map[string]string { return nil }

// calendar is a store that knows whose ages are compared.
type calendar struct {
	core.Store
	groups [][]core.Kind
}

func (c calendar) Aged(groups [][]core.Kind) core.Store {
	c.groups = groups
	return c
}

func (c calendar) Ages() [][]core.Kind { return c.groups }

// TestAgedSystem gives the objects at the start ages, where their kinds are compared and they show any, in caches that
// are behind, too.
func TestAgedSystem(t *testing.T) {
	const noon = 1_000
	object := func(kind core.Kind, name string, at born) core.Object {
		return core.Object{Key: core.Key{Kind: kind, Name: name}, Content: at}
	}
	gone := core.Key{Kind: "Leaf", Name: "gone"}
	initial := core.Initial{
		Objects:  []core.Object{object("Leaf", "b", noon), object("Leaf", "a", noon), object("Tree", "a", noon), object("Stone", "a", noon), object("Leaf", "undated", 0)},
		Underway: &core.Underway{Processes: []core.AtWork{{Behind: []core.Missing{{Key: gone, From: born(noon)}, {Key: core.Key{Kind: "Leaf", Name: "a"}, To: born(noon)}}}}},
	}
	system := &core.System{Store: calendar{}, Initial: []core.Initial{initial}}
	groups := [][]core.Kind{{"Leaf", "Tree"}, {"Stone"}}
	for turned, want := range map[bool][]int{false: {3, 2, 1, 0, -1, 0, 2}, true: {0, 1, 2, 0, -1, 3, 1}} {
		aged := system.Aged(groups, turned)
		if got := aged.Store.(core.Aging).Ages(); !slices.EqualFunc(got, groups, slices.Equal) {
			t.Errorf("the store has ages of %v", got)
		}
		var ages []int
		note := func(content core.Content) {
			age := -1
			if b := content.(born); b != 0 {
				age = noon - core.Youth - int(b)
			}
			ages = append(ages, age)
		}
		for _, o := range aged.Initial[0].Objects {
			note(o.Content)
		}
		behind := aged.Initial[0].Underway.Processes[0].Behind
		note(behind[0].From)
		note(behind[1].To)
		if !slices.Equal(ages, want) {
			t.Errorf("turned=%t: they are %v seconds older than the youngest, want %v", turned, ages, want)
		}
	}
	if initial.Objects[0].Content != born(noon) || initial.Underway.Processes[0].Behind[0].From != born(noon) {
		t.Error("the system itself was changed")
	}
	if system.Aged(nil, false) != system || (&core.System{}).Aged(groups, false).Store != nil {
		t.Error("without ages, or a store that shows them, it is another system")
	}
	if !system.Turns(groups) || system.Turns(groups[1:]) {
		t.Error("one object may be turned, or several may not")
	}
}

func TestJoinedAges(t *testing.T) {
	for _, test := range []struct {
		groups [][]core.Kind
		group  []core.Kind
		want   [][]core.Kind
	}{
		{nil, []core.Kind{"B", "A"}, [][]core.Kind{{"A", "B"}}},
		{[][]core.Kind{{"B"}}, []core.Kind{"A"}, [][]core.Kind{{"A"}, {"B"}}},
		{[][]core.Kind{{"A"}, {"B", "C"}, {"D"}}, []core.Kind{"C", "A"}, [][]core.Kind{{"A", "B", "C"}, {"D"}}},
		{[][]core.Kind{{"A", "B"}}, []core.Kind{"B"}, [][]core.Kind{{"A", "B"}}},
	} {
		if got := core.JoinAges(test.groups, test.group); !slices.EqualFunc(got, test.want, slices.Equal) {
			t.Errorf("%v with %v is %v, want %v", test.groups, test.group, got, test.want)
		}
	}
}
