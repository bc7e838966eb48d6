package properties

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/scc"
)

// byItself reports whether a step is one that controllers take by themselves, now or when a timer fires: neither a
// fault nor an action of a user.
func byItself(e core.Edge) bool { return e.Step.Due() || e.Step.Kind.Timed() }

// Ends returns the states in which a run may end, in order: the quiescent ones whose objects may stay as they are for
// ever. Where no timer is set, each is one. Where timers are set, work remains to be done: it is one only if some fair
// run goes on from there by what the controllers and their timers do, and never writes, but for the times of a
// heartbeat. Users and faults may change things again. It stops early with the error of the context when that ends.
func Ends(ctx context.Context, g core.Graph) ([]core.StateID, error) {
	quiescent := g.Quiescent()
	waiting := slices.DeleteFunc(slices.Clone(quiescent), func(id core.StateID) bool { return !waits(g, id) })
	if len(waiting) == 0 {
		return quiescent, nil
	}
	beats, err := heartbeats(ctx, g, waiting)
	if err != nil {
		return nil, err
	}
	// lasting are the states from which a fair run goes on without a write.
	lasting := map[core.StateID]bool{}
	r := region{graph: g, roots: waiting, accepts: func(e core.Edge) bool { return byItself(e) && (!wrote(g, e) || beats(e)) }}
	err = r.lasting(ctx, lasting)
	return slices.DeleteFunc(quiescent, func(id core.StateID) bool {
		_, timed := slices.BinarySearch(waiting, id)
		return timed && !lasting[id]
	}), err
}

// heartbeats tells steps that write nothing but times from others, where that goes on for ever and waits for timers: so
// far as controllers and their timers go from some states.
func heartbeats(ctx context.Context, g core.Graph, from []core.StateID) (beats func(core.Edge) bool, err error) {
	within := map[core.StateID]int{}
	beats = func(e core.Edge) bool { return within[e.From] > 0 && within[e.From] == within[e.To] }
	if g.Acyclic() {
		return beats, nil
	}
	n, r := 0, region{graph: g, roots: from, accepts: byItself}
	err = r.components(ctx, func(states scc.Component[core.StateID]) bool {
		if states.Cyclic && newComponent(g, states.Nodes, byItself).beats(ctx) {
			n++
			for _, id := range states.Nodes {
				within[id] = n
			}
		}
		return true
	})
	return beats, err
}

// waits reports whether controllers still do something by themselves in a quiescent state.
func waits(g core.Graph, id core.StateID) bool { return slices.ContainsFunc(g.Edges(id), byItself) }

// lasting finds the states of a region from which a fair run goes on within it.
func (r *region) lasting(ctx context.Context, lasting map[core.StateID]bool) error {
	// Components are shown after those that they lead to.
	return r.components(ctx, func(c scc.Component[core.StateID]) bool {
		lasts := len(r.fairParts(c, true)) > 0 || slices.ContainsFunc(c.Nodes, func(id core.StateID) bool {
			return slices.ContainsFunc(r.targets(id), func(to core.StateID) bool { return lasting[to] })
		})
		if lasts {
			for _, id := range c.Nodes {
				lasting[id] = true
			}
		}
		return true
	})
}

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
	beats, err := heartbeats(ctx, g, g.Quiescent())
	if err != nil {
		return nil, err
	}
	quiescent, r := g.Quiescent(), newRest(g)
	unreal := func(id core.StateID) bool {
		_, quiet := slices.BinarySearch(quiescent, id)
		return quiet && !r.settled(id)
	}
	goesOn := func(id core.StateID) bool {
		return slices.ContainsFunc(slices.Clone(g.Edges(id)), func(e core.Edge) bool {
			return byItself(e) && (wrote(g, e) && !beats(e) || restless[e.To])
		})
	}
	whole := region{graph: g, roots: every(g, func(core.StateID) bool { return true })}
	// Components are shown after those that they lead to.
	err = whole.components(ctx, func(c scc.Component[core.StateID]) bool {
		states := c.Nodes
		stirs := slices.ContainsFunc(whole.fairParts(c, false), func(part *component) bool { return !part.rests() })
		if stirs || slices.ContainsFunc(states, goesOn) || slices.ContainsFunc(states, unreal) {
			for _, id := range states {
				restless[id] = true
			}
		}
		return true
	})
	return func(id core.StateID) bool { return !restless[id] }, err
}
