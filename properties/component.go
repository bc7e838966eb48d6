package properties

import (
	"context"
	"iter"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/scc"
	"github.com/orrery-dev/orrery/properties/internal/fair"
)

// region is the part of a graph that a search for cycles is restricted to: what can
// be reached from the roots by steps that are accepted without leaving the states that inside accepts. Cut
// states are never part of it, as not all of their steps are known.
type region struct {
	graph  core.Graph
	roots  []core.StateID
	inside func(core.StateID) bool
	// accepts tells which steps are taken; nil if all are.
	accepts func(core.Edge) bool
}

func (r *region) has(id core.StateID) bool {
	return !r.graph.Cut(id) && (r.inside == nil || r.inside(id))
}

// targets returns where steps within the region lead from a state.
func (r *region) targets(id core.StateID) []core.StateID {
	var targets []core.StateID
	edges := r.graph.Edges(id)
	if r.accepts != nil {
		edges = slices.Clone(edges) // to see what a step writes may take others
	}
	for _, e := range edges {
		if r.accepts == nil || r.accepts(e) {
			targets = append(targets, e.To)
		}
	}
	return slices.DeleteFunc(targets, func(to core.StateID) bool { return !r.has(to) })
}

// components calls yield with each strongly connected component of the region, until
// it returns false: each after those that it leads to. The component is valid only during the call.
func (r *region) components(ctx context.Context, yield func(scc.Component[core.StateID]) bool) error {
	return scc.Search(ctx, &regionSearch{region: r, roots: r.roots}, yield)
}

// regionSearch is a region that is searched. It implements [scc.Graph].
type regionSearch struct {
	*region
	roots []core.StateID
}

func (r *regionSearch) Root() (core.StateID, bool) {
	for len(r.roots) > 0 {
		root := r.roots[0]
		if r.roots = r.roots[1:]; r.has(root) {
			return root, true
		}
	}
	return 0, false
}

func (r *regionSearch) Next(id core.StateID, at *scc.Targets[core.StateID]) (core.StateID, bool) {
	return at.Next(func() []core.StateID { return r.targets(id) })
}

// fairParts returns the largest parts of a component of the region in which a fair run can stay, be it, if stops, by
// stopping in a state.
func (r *region) fairParts(states scc.Component[core.StateID], stops bool) []*component {
	if !states.Cyclic && !stops {
		return nil
	}
	whole := newComponent(r.graph, states.Nodes, r.accepts)
	var parts []*component
	search := fair.Search{Space: whole, Stops: stops}
	places := scc.Component[uint32]{Cyclic: states.Cyclic, Has: func(place uint32) bool { return whole.has(core.StateID(place)) }}
	for _, id := range whole.states {
		places.Nodes = append(places.Nodes, uint32(id))
	}
	search.Parts(places, func(part []uint32) {
		if len(part) == len(whole.states) {
			parts = append(parts, whole)
			return
		}
		ids := make([]core.StateID, len(part))
		for i, place := range part {
			ids[i] = core.StateID(place)
		}
		parts = append(parts, newComponent(r.graph, ids, r.accepts))
	})
	return parts
}

// component is a strongly connected part of a graph with the steps inside of it. It implements [fair.Space]: its places
// are its states.
type component struct {
	graph  core.Graph
	states []core.StateID
	// inner are the steps that stay inside, by the state they start in.
	inner map[core.StateID][]core.Edge
	// enabled are the steps that fairness is assumed of and that count as possible in each state, whether or not they
	// stay inside.
	enabled map[core.StateID][]int
	// steps have the numbers in their order.
	steps   []fair.Step
	numbers map[fair.Step]int
}

// newComponent returns the part of a graph that some states are with the steps between them, those that are accepted if
// not all are.
func newComponent(g core.Graph, states []core.StateID, accepts func(core.Edge) bool) *component {
	c := &component{
		graph:   g,
		states:  slices.Sorted(slices.Values(states)),
		inner:   map[core.StateID][]core.Edge{},
		enabled: map[core.StateID][]int{},
		numbers: map[fair.Step]int{},
	}
	inParts := false
	for _, id := range c.states {
		for _, e := range countedEdges(g, id) {
			if g.Fair(e.Step) {
				c.enable(id, e.Step)
			}
			inParts = inParts || fair.Parts(e.Step)
			if c.has(e.To) && (accepts == nil || accepts(e)) {
				c.inner[id] = append(c.inner[id], e)
			}
		}
	}
	for _, id := range c.states {
		for _, step := range fair.Waiting(g, id, inParts, g.Fair) {
			c.enable(id, step)
		}
	}
	return c
}

func (c *component) has(id core.StateID) bool {
	_, found := slices.BinarySearch(c.states, id)
	return found
}

// enable notes that a step is possible in a state.
func (c *component) enable(id core.StateID, step core.Step) {
	if n := c.number(id, step); !slices.Contains(c.enabled[id], n) {
		c.enabled[id] = append(c.enabled[id], n)
	}
}

// number returns the number of a step as it is possible in a state.
func (c *component) number(id core.StateID, possible core.Step) int {
	step := fair.In(id, possible)
	n, known := c.numbers[step]
	if !known {
		n = len(c.steps)
		c.numbers[step] = n
		c.steps = append(c.steps, step)
	}
	return n
}

// Arcs implements [fair.Space]. The label of an arc is its place among the steps from a state that stay inside.
func (c *component) Arcs(place uint32) iter.Seq[fair.Arc] {
	return func(yield func(fair.Arc) bool) {
		for i, e := range c.inner[core.StateID(place)] {
			if !yield(fair.Arc{To: uint32(e.To), Step: c.number(e.From, e.Step), Label: uint32(i)}) {
				return
			}
		}
	}
}

// Enabled implements [fair.Space].
func (c *component) Enabled(place uint32) iter.Seq[int] {
	return slices.Values(c.enabled[core.StateID(place)])
}

// Recurs implements [fair.Space].
func (c *component) Recurs(step int) bool { return fair.Recurs(c.steps[step]) }

// Recurring implements [fair.Space].
func (c *component) Recurring() bool { return slices.ContainsFunc(c.steps, fair.Recurs) }

// any reports whether some step inside the component is accepted.
func (c *component) any(accept func(core.Edge) bool) bool {
	return slices.ContainsFunc(c.states, func(id core.StateID) bool { return slices.ContainsFunc(c.inner[id], accept) })
}

// moves reports whether there is a step inside the component.
func (c *component) moves() bool { return len(c.inner) > 0 }

// telling is a component whose arcs are marked that show something.
type telling struct {
	*component
	shows func(core.Edge) bool
}

// Arcs implements [fair.Space].
func (t telling) Arcs(place uint32) iter.Seq[fair.Arc] {
	return func(yield func(fair.Arc) bool) {
		for arc := range t.component.Arcs(place) {
			if t.shows(t.inner[core.StateID(place)][arc.Label]) {
				arc.Marks = 1
			}
			if !yield(arc) {
				return
			}
		}
	}
}

// cycle returns a fair run inside the component from a state back to it that takes a step that shows something, and
// lets all timers fire that may: a shortest one unless the component is very large.
func (c *component) cycle(at core.StateID, shows func(core.Edge) bool) core.Run {
	var timers []int
	for n, step := range c.steps {
		enabled := func(id core.StateID) bool { return slices.Contains(c.enabled[id], n) }
		if fair.Recurs(step) && slices.ContainsFunc(c.states, enabled) {
			timers = append(timers, n)
		}
	}
	places := make([]uint32, len(c.states))
	for i, id := range c.states {
		places[i] = uint32(id)
	}
	var run core.Run
	for _, arc := range fair.Cycle(telling{c, shows}, places, uint32(at), 1, timers...) {
		run = append(run, c.inner[run.End(at)][arc.Label])
	}
	return run
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
