package naive

import (
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// drawing is what a run draws at random: nothing, or what follows from seeds.
type drawing struct {
	source core.Randomness
	seed   func(of core.Item, draw, answers int) uint64
	item   core.Item
	// number is that of the draw, answers is how many the run has got, and since is how many it had when it had drawn
	// for the last time.
	number, answers, since int
	// current is set while the code runs, drawn are those in which it has drawn something, and counted is set once
	// something was made of it.
	current core.Draw
	drawn   []core.Draw
	counted bool
}

// drawing returns what the run of an item draws that begins in a state, or goes on.
func (e *explorer) drawing(from State, item core.Item) drawing {
	if !slices.Contains(e.conditions.Drawing, item.Strategy) {
		return drawing{}
	}
	number := from.draws[item]
	f, flies := from.flights[item]
	if flies && !f.blocked && len(f.given) > 0 {
		number = f.draw
	}
	return drawing{source: e.system.Randomness, seed: e.conditions.Seed, item: item, number: number, counted: number < from.draws[item]}
}

// begins lets code go on, and ends stops it.
func (d *drawing) begins() {
	if d.source != nil {
		d.current = d.source.Set(d.seed(d.item, d.number, d.since), d.answers-d.since)
		d.answers++
	}
}

func (d *drawing) ends() {
	if d.current != nil {
		if d.current.End() {
			d.drawn, d.since = append(d.drawn, d.current), d.answers
		}
		d.current = nil
	}
}

// used notes that a call of the run has an effect. It uses up what was drawn if it names any of that.
func (d *drawing) used(s State, call core.Call) State {
	if d.counted || !slices.ContainsFunc(d.drawn, func(draw core.Draw) bool { return len(draw.Words([]string{call.Identity()})) > 0 }) {
		return s
	}
	d.counted = true
	s.draws = maps.Clone(s.draws)
	if s.draws == nil {
		s.draws = map[core.Item]int{}
	}
	s.draws[d.item]++
	return s
}
