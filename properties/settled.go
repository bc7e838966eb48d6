package properties

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Settled returns the states of a graph from which nothing more changes: whatever controllers still do there by
// themselves, and whatever timers set off, nothing is written; they come to rest, as [StableConvergence] wants
// it; and rest is real, as [Fixpoint] wants it. Users and faults may change things again. It stops early with the
// error of the context when that ends.
//
// A state counts before its last reconciles are done, if these change nothing.
func Settled(ctx context.Context, g core.Graph) (func(core.StateID) bool, error) {
	restless := make([]bool, g.States())
	for id := range core.StateID(g.States()) {
		restless[id] = g.Cut(id) // what follows it is not known
	}
	quiescent, r := g.Quiescent(), newRest(g)
	unreal := func(id core.StateID) bool {
		_, quiet := slices.BinarySearch(quiescent, id)
		return quiet && !r.settled(id)
	}
	goesOn := func(id core.StateID) bool {
		return slices.ContainsFunc(slices.Clone(g.Edges(id)), func(e core.Edge) bool {
			return byItself(e) && (wrote(g, e) || restless[e.To])
		})
	}
	whole := region{graph: g, roots: every(g, func(core.StateID) bool { return true })}
	// Components are shown after those that they lead to.
	err := whole.components(ctx, func(states []core.StateID) bool {
		stirs := slices.ContainsFunc(fairPartsIfCyclic(g, states), func(c *component) bool { return !c.rests() })
		if stirs || slices.ContainsFunc(states, goesOn) || slices.ContainsFunc(states, unreal) {
			for _, id := range states {
				restless[id] = true
			}
		}
		return true
	})
	return func(id core.StateID) bool { return !restless[id] }, err
}
