package properties

import (
	"context"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Predicate says something of a single state. It must be a function of what it
// sees, and is called often.
type Predicate func(core.State) bool

// Always holds if the predicate is true in every state that can be reached (G p).
func Always(name string, p Predicate) core.Property {
	return core.Property{
		Name: name,
		Doc:  "Always true.",
		Invariant: func(s core.State) error {
			if !p(s) {
				return fmt.Errorf("%q is not true", name)
			}
			return nil
		},
	}
}

// Eventually holds if on every fair run from the start the predicate becomes true at
// some point (F p).
func Eventually(name string, p Predicate) core.Property {
	return core.Property{
		Name: name,
		Doc:  "Becomes true on every fair run.",
		Sees: sees(p),
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			outside := func(id core.StateID) bool { return !p(g.State(id)) }
			return endless(ctx, g, g.Initial(), outside, fmt.Sprintf("a run never reaches a state in which %q is true", name))
		},
	}
}

// InfinitelyOften holds if on every fair run the predicate becomes true again and
// again (G F p).
func InfinitelyOften(name string, p Predicate) core.Property {
	return core.Property{
		Name: name,
		Doc:  "Becomes true again and again on every fair run.",
		Sees: sees(p),
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			outside := func(id core.StateID) bool { return !p(g.State(id)) }
			return endless(ctx, g, every(g, outside), outside, fmt.Sprintf("from some point on, %q is never true again", name))
		},
	}
}

// LeadsTo holds if on every fair run, whenever the first predicate is true, the
// second is true then or becomes true later (G(p → F q)).
func LeadsTo(name string, p, q Predicate) core.Property {
	return core.Property{
		Name: name,
		Doc:  "Whenever the one is true, the other becomes true later, on every fair run.",
		Sees: sees(p, q),
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			waiting := func(id core.StateID) bool { return !q(g.State(id)) }
			sources := every(g, func(id core.StateID) bool { return p(g.State(id)) && waiting(id) })
			return endless(ctx, g, sources, waiting, fmt.Sprintf("%q: what should follow never does", name))
		},
	}
}

// EventuallyAlways holds if on every fair run the predicate is true from some point
// on (F G p).
func EventuallyAlways(name string, p Predicate) core.Property {
	return core.Property{
		Name: name,
		Doc:  "True for ever from some point on, on every fair run.",
		Sees: sees(p),
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			lapse := func(id core.StateID) bool { return !p(g.State(id)) }
			// Not only from the start: what lies behind a cut state counts, too.
			sources := every(g, func(core.StateID) bool { return true })
			r := region{graph: g, roots: sources}
			summary := fmt.Sprintf("%q never becomes true for good", name)
			return r.lassos(ctx, sources, summary, &duty{state: lapse})
		},
	}
}

// sees looks at all that the predicates look at in a state.
func sees(predicates ...Predicate) func(core.State) {
	return func(s core.State) {
		for _, p := range predicates {
			p(s)
		}
	}
}

// every returns the states that the predicate accepts.
func every(g core.Graph, accept func(core.StateID) bool) []core.StateID {
	var states []core.StateID
	for id := range core.StateID(g.States()) {
		if accept(id) {
			states = append(states, id)
		}
	}
	return states
}

// endless finds a fair run that reaches one of the sources and then never leaves the states that
// inside accepts.
func endless(ctx context.Context, g core.Graph, sources []core.StateID, inside func(core.StateID) bool, summary string) ([]core.Violation, error) {
	r := region{graph: g, roots: sources, inside: inside}
	return r.lassos(ctx, sources, summary, nil)
}

// lassos returns the violation that is reached soonest, if there is any: a run to
// one of the sources, from there within the region to a component in which a fair run can
// stay, and a cycle that is fair and does the duty, if one is given.
func (r *region) lassos(ctx context.Context, sources []core.StateID, summary string, must *duty) ([]core.Violation, error) {
	var found []*component
	err := r.components(ctx, func(states []core.StateID) bool {
		if must != nil && !slices.ContainsFunc(states, must.state) {
			return true
		}
		c := r.component(states)
		if c.moves() || c.stays() {
			for _, part := range c.fairParts() {
				if must == nil || slices.ContainsFunc(part.states, must.state) {
					found = append(found, part)
				}
			}
		}
		return true
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	owner := map[core.StateID]*component{}
	for _, c := range found {
		for _, id := range c.states {
			owner[id] = c
		}
	}
	stem, at := r.stem(sources, func(id core.StateID) bool { return owner[id] != nil })
	c := owner[at]
	v := core.Violation{Summary: summary, Stem: stem, State: at}
	if c.moves() {
		duties := c.duties(at)
		if must != nil {
			duties = append(duties, *must)
		}
		v.Cycle = c.cycle(at, duties)
	} else {
		v.Details = []string{"Nothing more has to happen there: that state repeats for ever."}
	}
	v.Controllers = controllersOf(slices.Concat(stem, v.Cycle), func(core.Edge) bool { return true })
	return []core.Violation{v}, nil
}

// moves tells whether there is a step inside the component.
func (c *component) moves() bool { return c.any(func(core.Edge) bool { return true }) }

// stays tells whether a run may stop in a state of the component: no fair step is
// enabled there. Only single states without steps to themselves are asked.
func (c *component) stays() bool { return !c.moves() && len(c.enabled[c.states[0]]) == 0 }

// stem returns a shortest run to a source and from there within the region to a goal.
func (r *region) stem(sources []core.StateID, goal func(core.StateID) bool) (core.Run, core.StateID) {
	type place struct {
		id     core.StateID
		inside bool
	}
	isSource := make(map[core.StateID]bool, len(sources))
	for _, id := range sources {
		isSource[id] = true
	}
	type arrival struct {
		before place
		edge   core.Edge
		step   bool // or else only the change to inside
	}
	into := map[place]arrival{}
	var queue []place
	reach := func(p place, a arrival) {
		if _, seen := into[p]; !seen {
			into[p] = a
			queue = append(queue, p)
		}
	}
	for _, id := range r.graph.Initial() {
		reach(place{id: id}, arrival{before: place{id: id}})
	}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		if p.inside && goal(p.id) {
			var run core.Run
			for at := p; ; {
				a := into[at]
				if a.step {
					run = append(run, a.edge)
				}
				if a.before == at {
					slices.Reverse(run)
					return run, p.id
				}
				at = a.before
			}
		}
		if !p.inside && isSource[p.id] && r.has(p.id) {
			// No step is taken: go on inside at once, before what was reached by more steps.
			in := place{id: p.id, inside: true}
			if _, seen := into[in]; !seen {
				into[in] = arrival{before: p}
				queue = append([]place{in}, queue...)
			}
		}
		for _, e := range slices.Clone(r.graph.Edges(p.id)) {
			if !p.inside || r.has(e.To) {
				reach(place{id: e.To, inside: p.inside}, arrival{before: p, edge: e, step: true})
			}
		}
	}
	return nil, 0
}
