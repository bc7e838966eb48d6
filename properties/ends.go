package properties

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// byItself tells whether a step is one that controllers take by themselves, now or when a timer fires: neither a fault nor an action of
// a user.
func byItself(e core.Edge) bool { return e.Step.Due() || e.Step.Kind == core.Fire }

// Ends returns the states in which a run may end, in order: the quiescent ones whose objects may stay as they are for ever. Where no
// timer is set, each is one. Where timers are set, work remains to be done: it is one only if some fair run goes on from
// there by what the controllers and their timers do, and never writes. Users and faults may change things again. It
// stops early with the error of the context when that ends.
func Ends(ctx context.Context, g core.Graph) ([]core.StateID, error) {
	quiescent := g.Quiescent()
	waiting := slices.DeleteFunc(slices.Clone(quiescent), func(id core.StateID) bool { return !waits(g, id) })
	if len(waiting) == 0 {
		return quiescent, nil
	}
	// lasting are the states from which a fair run goes on without a write.
	lasting := map[core.StateID]bool{}
	r := region{graph: g, roots: waiting, accepts: func(e core.Edge) bool { return byItself(e) && !wrote(g, e) }}
	err := r.lasting(ctx, lasting)
	return slices.DeleteFunc(quiescent, func(id core.StateID) bool {
		_, timed := slices.BinarySearch(waiting, id)
		return timed && !lasting[id]
	}), err
}

// waits tells whether controllers still do something by themselves in a quiescent state.
func waits(g core.Graph, id core.StateID) bool { return slices.ContainsFunc(g.Edges(id), byItself) }

// lasting finds the states of a region from which a fair run goes on within it.
func (r *region) lasting(ctx context.Context, lasting map[core.StateID]bool) error {
	// Components are shown after those that they lead to.
	return r.components(ctx, func(states []core.StateID) bool {
		c := r.component(states)
		lasts := (c.stays() || c.moves()) && len(c.fairParts()) > 0 || slices.ContainsFunc(states, func(id core.StateID) bool {
			return slices.ContainsFunc(r.targets(id), func(to core.StateID) bool { return lasting[to] })
		})
		if lasts {
			for _, id := range states {
				lasting[id] = true
			}
		}
		return true
	})
}
