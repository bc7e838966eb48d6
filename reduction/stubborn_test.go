package reduction

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core/explore"
)

// known returns a footprint of an agent that has taken a step.
func known(f explore.Footprint) explore.Footprint {
	f.Known, f.Takes = true, true
	return f
}

func reads(places ...explore.Place) explore.Footprint {
	return known(explore.Footprint{Reads: places})
}

func writes(places ...explore.Place) explore.Footprint {
	return known(explore.Footprint{Reads: places, Writes: places})
}

func TestChoose(t *testing.T) {
	const list = explore.Place(9)
	alters := func(place explore.Place) explore.Footprint {
		return known(explore.Footprint{Writes: []explore.Place{place}, Alters: []explore.Place{list}})
	}
	wakes := func(place explore.Place, agents ...int) explore.Footprint {
		return known(explore.Footprint{Writes: []explore.Place{place}, Wakes: agents})
	}
	gated := known(explore.Footprint{Reads: []explore.Place{1, 2}, Writes: []explore.Place{2}, Gates: []explore.Place{1}})
	stage, elsewhere := writes(1), reads(3)
	due := func(agents ...int) []explore.Enabled {
		var enabled []explore.Enabled
		for _, agent := range agents {
			enabled = append(enabled, explore.Enabled{Agent: agent, Due: true})
		}
		return enabled
	}
	unforced := func(enabled []explore.Enabled, i int) []explore.Enabled {
		enabled[i].Due = false
		return enabled
	}
	for _, test := range []struct {
		name       string
		footprints []explore.Footprint
		visible    []explore.Place
		enabled    []explore.Enabled
		want       []int // nil for all
	}{
		{"nothing in common", []explore.Footprint{writes(1), writes(2)}, nil, due(0, 1), []int{0}},
		{"both look", []explore.Footprint{reads(1), reads(1)}, nil, due(0, 1), []int{0}},
		{"one looks at what the other changes", []explore.Footprint{reads(1), writes(1)}, nil, due(0, 1), nil},
		{"both change", []explore.Footprint{writes(1), writes(1)}, nil, due(0, 1), nil},
		{"the smaller group", []explore.Footprint{writes(1), writes(1), writes(2)}, nil, due(0, 1, 2), []int{0, 1}},
		{"the group that goes on", []explore.Footprint{writes(1), writes(2), writes(1)}, nil, due(1, 2), []int{2}},
		{"both alter a list", []explore.Footprint{alters(1), alters(2)}, nil, due(0, 1), []int{0}},
		{"one looks at the list", []explore.Footprint{alters(1), reads(list)}, nil, due(0, 1), nil},
		{"one puts work into the queue of the other", []explore.Footprint{wakes(1, 1), writes(2)}, nil, due(0, 1), nil},
		{"both put work into a third queue", []explore.Footprint{wakes(1, 2), wakes(2, 2), writes(3)}, nil, due(0, 1), nil},
		{"one that is not enabled", []explore.Footprint{writes(1), writes(1), writes(2)}, nil, due(0, 2), []int{0}},
		{"one that somebody may wake", []explore.Footprint{writes(1), writes(1), wakes(2, 1)}, nil, unforced(due(0, 2), 1), nil},
		{"one that somebody may let go on", []explore.Footprint{writes(2), gated, writes(1)}, nil, unforced(due(0, 2), 1), nil},
		{"one of whom nothing is known", []explore.Footprint{writes(1), {}}, nil, due(0, 1), nil},
		{"one that may do anything", []explore.Footprint{writes(1), {Known: true, Everything: true}}, nil, due(0, 1), nil},
		{"one that is new", []explore.Footprint{writes(1)}, nil, due(0, 1), nil},
		{"what is looked at", []explore.Footprint{writes(1), writes(2), writes(3)}, []explore.Place{1, 2}, due(0, 1), nil},
		{"what is not looked at", []explore.Footprint{writes(1), writes(2), writes(3)}, []explore.Place{2, 3}, due(0, 1, 2), []int{0}},
		{
			"nobody is forced",
			[]explore.Footprint{writes(1), writes(2)}, nil,
			unforced(unforced(due(0, 1), 0), 1), nil,
		},
		{
			"one is forced",
			[]explore.Footprint{writes(1), writes(2)}, nil,
			unforced(due(0, 1), 0), []int{1},
		},
		{
			"a step does less than all that follows",
			[]explore.Footprint{writes(1, 2), writes(2)}, nil,
			[]explore.Enabled{{Agent: 0, Due: true, Now: &stage}, {Agent: 1, Due: true}}, []int{0},
		},
		{
			"a smaller set that is found later in the same group",
			[]explore.Footprint{writes(1), writes(1, 2), writes(2)}, nil,
			[]explore.Enabled{{Agent: 0, Due: true}, {Agent: 1, Due: true, Now: &stage}, {Agent: 2, Due: true, Now: &elsewhere}}, []int{2},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			chooser := Stubborn{}.Learn(test.footprints, test.visible)()
			for range 2 { // what is remembered must not change anything
				got := chooser.Choose(test.enabled).Follow
				all := test.want == nil && len(got) == len(test.enabled)
				if !all && !slices.Equal(got, test.want) {
					t.Errorf("followed are %v, want %v", got, test.want)
				}
			}
		})
	}
}

// TestCommute asks about two agents after a choice in which both may be followed.
func TestCommute(t *testing.T) {
	const list = explore.Place(9)
	alters := known(explore.Footprint{Alters: []explore.Place{list}})
	wakes := known(explore.Footprint{Wakes: []int{0, 1}})
	gives := wakes
	gives.Takes = false
	everything := known(explore.Footprint{Everything: true})
	for _, test := range []struct {
		name       string
		one, other explore.Footprint
		want       bool
	}{
		{"nothing in common", writes(1), writes(2), true},
		{"both look", reads(1), reads(1), true},
		{"one changes what the other looks at", reads(1), known(explore.Footprint{Writes: []explore.Place{1}}), false},
		{"both change", known(explore.Footprint{Writes: []explore.Place{1}}), known(explore.Footprint{Writes: []explore.Place{1}}), false},
		{"one alters a list that the other looks at", alters, reads(list), false},
		{"both alter a list", alters, alters, true},
		{"one wakes the other", wakes, reads(1), false},
		{"one wakes the other, which takes nothing out of its queue", wakes, explore.Footprint{Known: true}, true},
		{"neither takes anything out of its queue", gives, gives, true},
		{"one may do anything", everything, reads(1), false},
		{"nothing is known of one", explore.Footprint{}, reads(1), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, pair := range [][]explore.Footprint{{test.one, test.other}, {test.other, test.one}} {
				// Whoever may touch the same is followed together, so that both are, and their next steps are all that the two differ in.
				chooser := Stubborn{}.Learn([]explore.Footprint{writes(1), writes(1)}, nil)()
				chooser.Choose([]explore.Enabled{{Agent: 0, Due: true, Now: &pair[0]}, {Agent: 1, Due: true, Now: &pair[1]}})
				for range 2 { // what is remembered must not change anything
					if got := chooser.Commute(0, 1); got != test.want {
						t.Errorf("%t, want %t", got, test.want)
					}
				}
			}
		})
	}
}
