package properties

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// NoDeadlock holds if something can always happen. It is for models that are meant
// to run for ever; a system of controllers is meant to come to rest.
func NoDeadlock() core.Property {
	return core.Property{
		Name:   "no deadlock",
		Doc:    "In every state that can be reached, something can happen.",
		Ends:   true,
		Merges: core.InEnds,
		Judge: func(_ context.Context, g core.Graph) ([]core.Violation, error) {
			alive := func(e core.Edge) bool { return e.Step.Due() || e.Step.Kind == core.Fire }
			dead := func(id core.StateID) bool { return !g.Cut(id) && !slices.ContainsFunc(g.Edges(id), alive) }
			for _, id := range g.Quiescent() {
				if !dead(id) {
					continue
				}
				stem, _ := g.Shortest(dead)
				return []core.Violation{{
					Summary: "a state can be reached in which nothing can happen any more",
					Stem:    stem,
					State:   stem.End(id),
				}}, nil
			}
			return nil, nil
		},
	}
}
