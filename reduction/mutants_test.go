package reduction_test

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/reduction"
)

// mutant is a reducer that overlooks something.
type mutant struct {
	// forget changes what is known of an agent or of a single step.
	forget func(*explore.Footprint)
	// blind mutants do not know what is looked at by what is checked, eager ones take everybody to be due, and set in
	// their ways are those that keep to the footprints they were told of at the given time.
	blind, eager bool
	// mistake changes how a step goes, before it is asked whether its agent may be followed alone.
	mistake func(*explore.Way)
	setAt   int
	told    *int
	known   *[]explore.Footprint
}

// Learn implements [explore.Reducer].
func (m mutant) Learn(footprints []explore.Footprint, visible []explore.Place) func() explore.Chooser {
	var changed []explore.Footprint
	for _, f := range footprints {
		m.change(&f)
		changed = append(changed, f)
	}
	if m.blind {
		visible = nil
	}
	if m.setAt > 0 {
		if *m.told++; *m.told == m.setAt {
			*m.known = changed
		} else if *m.told > m.setAt {
			copy(changed, *m.known)
		}
	}
	choosers := reduction.Stubborn{}.Learn(changed, visible)
	return func() explore.Chooser {
		return mutantChooser{m, choosers(), map[*explore.Footprint]*explore.Footprint{}}
	}
}

func (m mutant) change(f *explore.Footprint) {
	if m.forget != nil {
		m.forget(f)
	}
}

type mutantChooser struct {
	mutant
	explore.Chooser
	changed map[*explore.Footprint]*explore.Footprint
}

// Choose implements [explore.Chooser].
func (c mutantChooser) Choose(enabled []explore.Enabled) explore.Choice {
	var changed []explore.Enabled
	for _, e := range enabled {
		e.Due = e.Due || c.eager
		if now := e.Now; now != nil {
			if c.changed[now] == nil {
				less := *now
				c.change(&less)
				c.changed[now] = &less
			}
			e.Now = c.changed[now]
		}
		changed = append(changed, e)
	}
	return c.Chooser.Choose(changed)
}

// Alone implements [explore.Chooser].
func (c mutantChooser) Alone(way *explore.Way) bool {
	mistaken := *way
	if c.mistake != nil {
		c.mistake(&mistaken)
	}
	return c.Chooser.Alone(&mistaken)
}

// TestMutantsAreCaught checks that what is compared shows whether anything is overlooked.
func TestMutantsAreCaught(t *testing.T) {
	full := wholes{}
	for _, test := range []struct {
		name string
		mutant
		// trapped mutants are for the traps: random systems rarely show them.
		trapped bool
	}{
		{name: "reads", mutant: mutant{forget: func(f *explore.Footprint) { f.Reads = nil }}},
		{name: "writes", mutant: mutant{forget: func(f *explore.Footprint) { f.Writes = nil }}},
		{name: "lists", mutant: mutant{forget: func(f *explore.Footprint) { f.Alters = nil }}},
		{name: "wakes", mutant: mutant{forget: func(f *explore.Footprint) { f.Wakes = nil }}},
		{name: "gates", mutant: mutant{forget: func(f *explore.Footprint) { f.Gates = nil }}},
		{name: "takes", mutant: mutant{forget: func(f *explore.Footprint) { f.Takes = false }}, trapped: true},
		{name: "visibility", mutant: mutant{blind: true}, trapped: true},
		{name: "fairness", mutant: mutant{eager: true}},
		{name: "what changes without waking", mutant: mutant{forget: func(f *explore.Footprint) { f.Missed, f.MissedInViews = nil, nil }}},
		{name: "what views hold back", mutant: mutant{forget: func(f *explore.Footprint) { f.MissedInViews = nil }}, trapped: true},
		{name: "what harm is done", mutant: mutant{mistake: func(way *explore.Way) { way.Lasting = true }}},
		{name: "timers that are set", mutant: mutant{mistake: func(way *explore.Way) { way.Timed = false }}, trapped: true},
		{name: "changes", mutant: mutant{mistake: func(way *explore.Way) { way.Changes = false }}},
		{name: "work for others", mutant: mutant{mistake: func(way *explore.Way) { way.Wakes = false }}, trapped: true},
		{name: "growth", mutant: mutant{setAt: 2, told: new(int), known: new([]explore.Footprint)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.trapped {
				if !slices.ContainsFunc(traps(), func(p trap) bool { return p.caught(t, test.mutant) != "" }) {
					t.Errorf("a reducer that overlooks %s falls into no trap", test.name)
				}
				return
			}
			caught(t, test.name, func(seed uint64) (string, bool) {
				if test.told != nil {
					*test.told = 0
				}
				c, ok := full.compared(t, seed, test.mutant)
				return c.difference, ok
			})
		})
	}
}

// caught checks that some random system shows that something is overlooked. The comparison returns false for systems
// that do not count.
func caught(t *testing.T, overlooked string, compare func(seed uint64) (difference string, ok bool)) {
	t.Helper()
	n := max(*systems, 500) // the first that shows it ends the search
	for seed := *firstSeed; n > 0; seed++ {
		difference, ok := compare(seed)
		if !ok {
			continue
		}
		n--
		if difference != "" {
			t.Logf("seed %d: %s", seed, difference)
			return
		}
	}
	t.Errorf("a reducer that overlooks %s is not caught by %d systems", overlooked, max(*systems, 500))
}
