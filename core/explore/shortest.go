package explore

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/effort"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// Shortest implements [core.Graph].
func (s *Space) Shortest(accept func(core.StateID) bool) (core.Run, bool) {
	if s.Minimal() {
		for id := range core.StateID(s.States()) {
			if accept(id) {
				return s.ancestry(id), true
			}
		}
		return nil, false
	}
	if s.order.Walks() && s.States() > manyStates {
		return s.nearby(accept)
	}
	return s.nearest(accept)
}

// manyStates is how many states are searched for a shortest run at most, where walks would do that for no other reason.
const manyStates = 20_000

// nearby returns a short run: walks remember the shortest way on which they came to each state.
func (s *Space) nearby(accept func(core.StateID) bool) (core.Run, bool) {
	best := store.NoParent
	for id := range core.StateID(s.States()) {
		if (best == store.NoParent || s.depths.of.At(int(id)) < s.depths.of.At(int(best))) && accept(id) {
			best = id
		}
	}
	if best == store.NoParent {
		return nil, false
	}
	return s.ancestry(best), true
}

// ancestry returns the run by which a state was first reached.
func (s *Space) ancestry(id core.StateID) core.Run {
	var run core.Run
	for {
		parent := s.store.Parent(s.store.At(id))
		if parent == store.NoParent {
			slices.Reverse(run)
			return run
		}
		// Before a search is over, it may still learn what can be left out.
		edges := s.list(parent, true)
		at := slices.IndexFunc(edges, func(e core.Edge) bool { return e.To == id })
		if at < 0 {
			panic("explore: a stored state has no step to it from its parent")
		}
		run = append(run, edges[at])
		id = parent
	}
}

// disturbs tells whether anything may go wrong or be late in the machine.
func (m *machine) disturbs() bool {
	return m.lags || m.conditions.Crashes > 0 || m.conditions.Failures > 0
}

// nearest searches what is stored for the run that takes the least effort.
func (s *Space) nearest(accept func(core.StateID) bool) (core.Run, bool) {
	reach, found := effort.Search(context.Background(), s, nil, accept)
	if len(found) == 0 {
		return nil, false
	}
	return reach.Run(found[0]), true
}
