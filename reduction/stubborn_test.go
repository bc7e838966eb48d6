package reduction

import (
	"math/rand/v2"
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
				// Whoever may touch the same is followed together, so that both are, and their next steps are all that
				// the two differ in.
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

// TestPutOff has those be put off who are enabled in the group that is followed, or in one before it, and are not
// followed; those of later groups never were.
func TestPutOff(t *testing.T) {
	// The first and the third are of one group, as both change the same; but the next step of the first does not.
	now := writes(7)
	footprints := []explore.Footprint{writes(1), writes(2), writes(1, 3), writes(4)}
	for _, test := range []struct {
		name           string
		enabled        []explore.Enabled
		follow, putOff []int
	}{
		{"nobody", []explore.Enabled{{Agent: 1, Due: true}, {Agent: 3, Due: true}}, []int{1}, nil},
		{"one of the same group", []explore.Enabled{{Agent: 0, Due: true, Now: &now}, {Agent: 2, Due: true}, {Agent: 3, Due: true}}, []int{0}, []int{2}},
		{"one of an earlier group, whom nobody forces", []explore.Enabled{{Agent: 0}, {Agent: 1, Due: true}, {Agent: 3, Due: true}}, []int{1}, []int{0}},
	} {
		choice := Stubborn{}.Learn(footprints, nil)().Choose(test.enabled)
		if !slices.Equal(choice.Follow, test.follow) || !slices.Equal(choice.PutOff, test.putOff) {
			t.Errorf("%s: %v are followed and %v put off", test.name, choice.Follow, choice.PutOff)
		}
	}
}

// TestMixedGroupsDoNotCommute has no steps be swapped where agents of several groups are followed: behind one of them
// the others are not.
func TestMixedGroupsDoNotCommute(t *testing.T) {
	footprints := []explore.Footprint{writes(1), writes(2), reads(1)}
	for _, test := range []struct {
		name    string
		enabled []explore.Enabled
		want    bool
	}{
		{"one is chosen", []explore.Enabled{{Agent: 0, Due: true}, {Agent: 1, Due: true}}, true},
		{"nobody is forced", []explore.Enabled{{Agent: 0}, {Agent: 1}}, false},
		{"one is new", []explore.Enabled{{Agent: 0, Due: true}, {Agent: 7, Due: true}}, false},
	} {
		chooser := Stubborn{}.Learn(footprints, nil)()
		chooser.Choose(test.enabled)
		if got := chooser.Commute(0, 1); got != test.want {
			t.Errorf("%s: they commute: %t", test.name, got)
		}
	}
	// Those of one group do, where nobody is forced either.
	looks := []explore.Footprint{reads(1), reads(1), writes(1)}
	chooser := Stubborn{}.Learn(looks, nil)()
	if chooser.Choose([]explore.Enabled{{Agent: 0}, {Agent: 1}}); !chooser.Commute(0, 1) {
		t.Error("two that only look do not commute")
	}
}

// TestCommuteIsMutual has two agents commute exactly if no step of the one may depend on one of the other, whichever is
// asked about first.
func TestCommuteIsMutual(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() []explore.Place {
		var places []explore.Place
		for place := range explore.Place(4) {
			if r.IntN(5) == 0 {
				places = append(places, place)
			}
		}
		return places
	}
	yes, no := 0, 0
	for range 300 {
		// They are followed together, as the third one depends on both.
		footprints := []explore.Footprint{{}, {}, {Known: true, Everything: true}}
		for i := range 2 {
			footprints[i] = explore.Footprint{Known: r.IntN(20) > 0, Takes: r.IntN(2) == 0, Reads: some(), Writes: some(), Alters: some()}
			if r.IntN(3) == 0 {
				footprints[i].Wakes = []int{1 - i}
			}
		}
		chooser := Stubborn{}.Learn(footprints, nil)()
		chooser.Choose([]explore.Enabled{{Agent: 0, Due: true}, {Agent: 1, Due: true}, {Agent: 2, Due: true}})
		got := chooser.Commute(0, 1)
		if back := chooser.Commute(1, 0); got != back {
			t.Errorf("%+v and %+v commute: %t, and the other way round: %t", footprints[0], footprints[1], got, back)
		}
		one, other := footprints[0], footprints[1]
		inTheWay := func(f, of explore.Footprint) bool {
			touches := func(places, others []explore.Place) bool {
				return slices.ContainsFunc(places, func(p explore.Place) bool { return slices.Contains(others, p) })
			}
			return !f.Known || touches(f.Writes, of.Reads) || touches(f.Writes, of.Writes) || touches(f.Alters, of.Reads) || len(f.Wakes) > 0
		}
		if want := !inTheWay(one, other) && !inTheWay(other, one); got != want {
			t.Errorf("%+v and %+v commute: %t", one, other, got)
		}
		if got {
			yes++
		} else {
			no++
		}
	}
	if yes == 0 || no == 0 {
		t.Errorf("%d pairs commute, and %d do not", yes, no)
	}
}
