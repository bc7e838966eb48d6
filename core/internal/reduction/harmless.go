package reduction

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// index notes the items of a machine.
func (f *footprints) index(m *transition.Machine) {
	f.items = make(map[int]*transition.Item, len(m.Items))
	for _, it := range m.Items {
		f.items[it.Agent] = it
	}
}

// endsOnChanges reports whether the run of an agent ends at once, with nothing done, whatever it may see in place of a value by changes that do not wake it.
func (f *footprints) endsOnChanges(agent int, at sight, value state.Value) bool {
	reached := map[state.Value]bool{}
	for open := f.become(at, value); len(open) > 0; {
		from := open[len(open)-1]
		open = open[:len(open)-1]
		for _, known := range f.woken[at][from] {
			if known.woken.Has(agent) {
				continue
			}
			for _, to := range f.become(at, known.to) {
				switch {
				case reached[to]:
				case !f.endsOn(agent, at, to):
					return false
				default:
					reached[to] = true
					open = append(open, to)
				}
			}
		}
	}
	return true
}

// endsOn reports whether the run of an agent that sees a value looks at nothing else, does nothing, and is not waiting to do it.
func (f *footprints) endsOn(agent int, at sight, value state.Value) bool {
	it := f.items[agent]
	if it == nil {
		return false
	}
	root := it.Root()
	if root == nil || root.Call == nil {
		return false
	}
	client := transition.ClientView{Actor: it.Actor}
	if root.Call.Source() == core.Live {
		client.Actor = nil
	}
	key, _ := f.vocabulary.Key(at.cell)
	seen := seenBy(&client, key.Kind, at.cell)
	seen.projection = at.projection
	if seen != at {
		return false
	}
	leaf := root.EndsOn(behavior.Read{Cell: at.cell, Projection: at.projection, Value: value})
	return leaf != nil && leaf.Failure == behavior.None && leaf.Late == nil && !leaf.Result.Blocked && !leaf.Retried() && !leaf.Later()
}
