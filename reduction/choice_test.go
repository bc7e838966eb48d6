package reduction

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core/explore"
)

// definition is what a choice is by its definition, without sets that are built up: a naive twin.
type definition struct {
	footprints []explore.Footprint
	visible    []explore.Place
}

func common(one, other []explore.Place) bool {
	return slices.ContainsFunc(one, func(p explore.Place) bool { return slices.Contains(other, p) })
}

func (d definition) wild(i int) bool { return !d.footprints[i].Known || d.footprints[i].Everything }

// depends reports whether a step of an agent that touches this may be in the way of one of another agent, now or later.
func (d definition) depends(i int, f *explore.Footprint, j int) bool {
	other := &d.footprints[j]
	return d.wild(j) || !f.Known || f.Everything || common(f.Writes, other.Reads) || common(f.Writes, other.Writes) || common(f.Alters, other.Reads) ||
		common(f.Reads, other.Writes) || common(f.Reads, other.Alters) || slices.Contains(f.Wakes, j) || f.Takes && slices.Contains(other.Wakes, i)
}

// enables reports whether a step of an agent may be needed before another one can take any.
func (d definition) enables(j, i int) bool {
	return d.wild(j) || slices.Contains(d.footprints[j].Wakes, i) || common(d.footprints[i].Gates, d.footprints[j].Writes) || common(d.footprints[i].Gates, d.footprints[j].Alters)
}

func (d definition) sees(f *explore.Footprint) bool {
	return common(d.visible, f.Writes) || common(d.visible, f.Alters)
}

func (d definition) watched(i int) bool { return d.wild(i) || d.sees(&d.footprints[i]) }

// components numbers the agents by the first of those from which they can be reached.
func (d definition) components() []int {
	component := make([]int, len(d.footprints))
	for i := range component {
		component[i] = -1
	}
	var reach func(i, first int)
	reach = func(i, first int) {
		if component[i] >= 0 {
			return
		}
		component[i] = first
		for j := range d.footprints {
			if d.depends(i, &d.footprints[i], j) || d.enables(j, i) {
				reach(j, first)
			}
		}
	}
	for i := range component {
		reach(i, i)
	}
	return component
}

// stubborn returns the enabled members of the smallest stubborn set with an agent in it.
func (d definition) stubborn(agent int, enabled map[int]*explore.Footprint) []int {
	set := map[int]bool{agent: true}
	for grown := true; grown; {
		grown = false
		for i := range d.footprints {
			if !set[i] {
				continue
			}
			now, can := enabled[i]
			for j := range d.footprints {
				pulled := !can && d.enables(j, i) || can && (d.depends(i, now, j) || d.sees(now) && d.watched(j))
				if pulled && !set[j] {
					set[j], grown = true, true
				}
			}
		}
	}
	var members []int
	for i := range d.footprints {
		if _, can := enabled[i]; can && set[i] {
			members = append(members, i)
		}
	}
	return members
}

// choose returns the choice in a state.
func (d definition) choose(list []explore.Enabled) explore.Choice {
	enabled := map[int]*explore.Footprint{}
	for _, e := range list {
		if enabled[e.Agent] = e.Now; e.Now == nil {
			enabled[e.Agent] = &d.footprints[e.Agent]
		}
	}
	component := d.components()
	type candidate struct{ component, size, place int }
	var best []int
	var least *candidate
	for place, e := range list {
		members := d.stubborn(e.Agent, enabled)
		if !e.Due || len(members) == len(list) {
			continue
		}
		c := candidate{component[e.Agent], len(members), place}
		if least == nil || cmp.Or(cmp.Compare(c.component, least.component), cmp.Compare(c.size, least.size)) < 0 {
			least, best = &c, members
		}
	}
	if least == nil {
		return explore.Choice{}
	}
	// What is looked at ties components to each other.
	first := len(component)
	tied := map[int]bool{}
	for i := range component {
		if d.watched(i) {
			first, tied[component[i]] = min(first, component[i]), true
		}
	}
	var late []int
	for _, e := range list {
		group := component[e.Agent]
		if tied[group] {
			group = first
		}
		if group <= least.component && !slices.Contains(best, e.Agent) {
			late = append(late, e.Agent)
		}
	}
	return explore.Choice{Follow: best, PutOff: late}
}

// TestChoiceIsAsDefined compares choices in random states with those by definition, several by each chooser: what it
// remembers must not change anything.
func TestChoiceIsAsDefined(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	some := func(odds int) []explore.Place {
		var places []explore.Place
		for place := range explore.Place(8) {
			if r.IntN(odds) == 0 {
				places = append(places, place)
			}
		}
		return places
	}
	reduced, all, late := 0, 0, 0
	for range 250 {
		n := 2 + r.IntN(6)
		d := definition{visible: some(8)}
		draw := func(odds int) explore.Footprint {
			f := explore.Footprint{Known: true, Takes: r.IntN(2) == 0, Reads: some(odds), Writes: some(odds), Alters: some(2 * odds), Gates: some(2 * odds)}
			if r.IntN(6) == 0 {
				f.Wakes = []int{r.IntN(n)}
			}
			return f
		}
		for range n {
			f := draw(10)
			f.Known, f.Everything = r.IntN(30) > 0, r.IntN(30) == 0
			d.footprints = append(d.footprints, f)
		}
		steps := make([][2]explore.Footprint, n) // a step is always of one agent
		for i := range steps {
			steps[i] = [2]explore.Footprint{draw(16), draw(16)}
		}
		chooser := Stubborn{}.Learn(d.footprints, d.visible)()
		for range 4 {
			var enabled []explore.Enabled
			for i := range n {
				e := explore.Enabled{Agent: i, Due: r.IntN(4) > 0}
				if r.IntN(3) == 0 {
					e.Now = &steps[i][r.IntN(2)]
				}
				if r.IntN(4) > 0 {
					enabled = append(enabled, e)
				}
			}
			got, want := chooser.Choose(enabled), d.choose(enabled)
			if !slices.Equal(got.Follow, want.Follow) || !slices.Equal(got.PutOff, want.PutOff) {
				t.Fatalf("of %+v, with %+v, visible %v: %+v, want %+v", enabled, d.footprints, d.visible, got, want)
			}
			if want.Follow != nil {
				reduced++
			} else {
				all++
			}
			late += len(want.PutOff)
		}
	}
	if reduced < 100 || all < 100 || late < 100 {
		t.Errorf("in %d states some are followed, in %d all, and %d are put off", reduced, all, late)
	}
}
