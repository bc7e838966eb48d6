package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// merged searches with all states merged that differ only in which of interchangeable names is which. It says
// why that does not do, empty if it does: names that are not treated alike, something that was found and is to be told in full, or
// runs that can go on for ever, of which merged states do not show whether they are fair.
func merged(ctx context.Context, system *core.System, options Options, began time.Time, found *sightings) (space *Space, why string, err error) {
	l, err := newLearner(ctx, system, options)
	if err != nil {
		return nil, "", err
	}
	if why := l.machine.unmergeable(options); why != "" {
		return nil, why, nil
	}
	if !l.machine.interchange() {
		return nil, "the store of the system cannot rename objects (it does not implement core.Renamer)", nil
	}
	options.Reducer = nil
	space, err = explore(ctx, l.machine, l, options, began, 0)
	found.collect(l, space)
	var not apart
	if errors.As(err, &not) {
		return nil, string(not), nil
	}
	if err != nil {
		return nil, "", err
	}
	if why := space.telling(); why != "" {
		return nil, why, nil
	}
	return space, "", nil
}

// unmergeable says why the conditions do not allow to merge states, empty if they do.
func (m *machine) unmergeable(options Options) string {
	c := m.conditions
	switch {
	case options.Order.Walks():
		return "walks visit states as they come"
	case m.holds:
		return "views lag behind, or calls are steps of their own"
	case c.Crashes+c.Failures+len(c.Doubles) > 0:
		return "there are faults or second instances"
	case len(m.system.Scenario.Actions) > 0:
		return "users take actions"
	}
	for _, p := range m.system.Properties {
		if p.Invariant == nil && p.Merges == core.Apart {
			return fmt.Sprintf("%q looks at states or steps on the way", p.Name)
		}
	}
	return ""
}

// telling says why a search with merged states is not enough to tell what there is, empty if it is.
func (s *Space) telling() string {
	for _, inv := range s.invariants {
		if inv.broken {
			return fmt.Sprintf("%q does not hold, and is to be told in full", inv.property.Name)
		}
	}
	for _, p := range s.machine.system.Properties {
		if p.Merges == core.WithoutLoops && len(s.reasons) == 0 && !s.acyclic && s.cyclic() {
			return fmt.Sprintf("there are runs that go on for ever, and %q looks at them", p.Name)
		}
	}
	if !s.rests() {
		return "there are ends in which some request would still change something"
	}
	if len(s.learner.incidents) > 0 {
		return "something went wrong in the code of a controller, and is to be told in full"
	}
	return ""
}

// rests tells whether no request would change anything in any end. Of one that would it matters whether it was in a work queue before,
// which merged states do not show.
func (s *Space) rests() bool {
	for _, id := range s.Quiescent() {
		for _, item := range s.Items() {
			if slices.ContainsFunc(s.Try(id, item), func(e core.Effect) bool { return e.Wrote }) {
				return false
			}
		}
	}
	return true
}

// cyclic tells whether there is a cycle.
func (s *Space) cyclic() bool {
	l := newLoops(s)
	for id := range core.StateID(s.States()) {
		if l.order[id] == 0 && len(l.from(id)) > 0 {
			return true
		}
	}
	s.acyclic = true
	return false
}
