package properties

import (
	"cmp"
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// component is a strongly connected part of a graph with the steps inside of it.
type component struct {
	graph  core.Graph
	states []core.StateID
	// accepts tells which steps belong to the component; nil if all do.
	accepts func(core.Edge) bool
	// inner are the steps that stay inside, by the state they start in.
	inner map[core.StateID][]core.Edge
	// enabled are the fair steps that can be taken in each state, whether or not they
	// stay inside.
	enabled map[core.StateID]map[core.Step]bool
}

// newComponent returns the part of a graph that some states are with the steps between them, those that are accepted if not
// all are.
func newComponent(g core.Graph, states []core.StateID, accepts func(core.Edge) bool) *component {
	c := &component{
		graph:   g,
		accepts: accepts,
		states:  slices.Sorted(slices.Values(states)),
		inner:   map[core.StateID][]core.Edge{},
		enabled: map[core.StateID]map[core.Step]bool{},
	}
	for _, id := range c.states {
		c.enabled[id] = map[core.Step]bool{}
	}
	parts := false
	for _, id := range c.states {
		for _, e := range countedEdges(g, id) {
			if g.Fair(e.Step) {
				c.enabled[id][e.Step] = true
			}
			parts = parts || e.Step.Kind == core.Begin || e.Step.Kind == core.Ask || e.Step.Kind == core.Return
			if _, inside := c.enabled[e.To]; inside && (accepts == nil || accepts(e)) {
				c.inner[id] = append(c.inner[id], e)
			}
		}
	}
	for _, id := range c.states {
		if parts {
			c.queue(id)
		} else {
			c.recall(id)
		}
	}
	return c
}

// recall counts what waits in a queue as enabled, too, where it can be run and that is left out.
func (c *component) recall(id core.StateID) {
	for _, item := range slices.Clone(c.graph.State(id).Work()) {
		step := core.Step{Kind: core.Reconcile, Item: item}
		if c.enabled[id][step] || !c.graph.Fair(step) {
			continue
		}
		if len(c.graph.Try(id, item)) > 0 {
			c.enabled[id][step] = true
		}
	}
}

// queue counts what waits in a queue as enabled where each call is a step of its own, while the workers are busy: queues are
// first in, first out, so that nobody waits for ever while others are served. What never is in flight itself waits for
// no worker, and what is in flight waits for its own run.
func (c *component) queue(id core.StateID) {
	state := c.graph.State(id)
	busy := state.InFlight()
	for _, item := range state.Work() {
		same := func(other core.Item) bool { return other.Strategy == item.Strategy }
		if slices.Contains(busy, item) {
			continue
		}
		if step := (core.Step{Kind: core.Begin, Item: item}); c.graph.Fair(step) && slices.ContainsFunc(busy, same) {
			c.enabled[id][step] = true
		}
	}
}

// neglected returns the timers that may fire in the component and never do inside, and whether some other fair step can be
// taken everywhere and never is.
func (c *component) neglected() (timers map[core.Step]bool, others bool) {
	taken := map[core.Step]bool{}
	for _, edges := range c.inner {
		for _, e := range edges {
			taken[e.Step] = true
		}
	}
	for _, id := range c.states {
		for step := range c.enabled[id] {
			switch {
			case taken[step]:
			case step.Kind == core.Fire:
				if timers == nil {
					timers = map[core.Step]bool{}
				}
				timers[step] = true
			case id == c.states[0] && c.alwaysEnabled(step):
				others = true
			}
		}
	}
	return timers, others
}

// moves tells whether there is a step inside the component.
func (c *component) moves() bool { return c.any(func(core.Edge) bool { return true }) }

// stays tells whether a run may stop in a state of the component: no fair step is
// enabled there. Only single states without steps to themselves are asked.
func (c *component) stays() bool { return !c.moves() && len(c.enabled[c.states[0]]) == 0 }

// fairParts returns the largest parts of the component in which a fair run can stay, be it by stopping in a state. As fairness is weak for all but
// timers, a part of what is not fair because of another step is not fair either. A timer that never fires inside must
// never be able to, so the states in which it is are left out, and what remains is searched (Emerson and Lei, Modalities for
// model checking, 1987).
func (c *component) fairParts() []*component {
	timers, others := c.neglected()
	switch {
	case others:
		return nil
	case len(timers) == 0:
		return []*component{c}
	}
	rest := slices.DeleteFunc(slices.Clone(c.states), func(id core.StateID) bool {
		for step := range c.enabled[id] {
			if timers[step] {
				return true
			}
		}
		return false
	})
	var parts []*component
	r := region{graph: c.graph, roots: rest, accepts: c.accepts, states: rest}
	// It is a part of what was searched already, so nothing ends this early.
	_ = r.components(context.Background(), func(states []core.StateID) bool {
		if part := r.component(states); part.moves() || part.stays() {
			parts = append(parts, part.fairParts()...)
		}
		return true
	})
	return parts
}

func (c *component) alwaysEnabled(step core.Step) bool {
	for _, id := range c.states {
		if !c.enabled[id][step] {
			return false
		}
	}
	return true
}

// any tells whether some step inside the component is accepted.
func (c *component) any(accept func(core.Edge) bool) bool {
	for _, edges := range c.inner {
		if slices.ContainsFunc(edges, accept) {
			return true
		}
	}
	return false
}

// duty is something that a cycle has to do to be fair, or to show what is wrong with it.
// It is done by taking a step or by passing through a state.
type duty struct {
	step  func(core.Edge) bool
	state func(core.StateID) bool
}

// duties returns what a cycle through a state has to do to be fair: for every step that
// is enabled there, take it, or pass through a state where it is not enabled; and for every timer that may fire
// somewhere, let it.
func (c *component) duties(at core.StateID) []duty {
	var steps []core.Step
	for step := range c.enabled[at] {
		if step.Kind != core.Fire {
			steps = append(steps, step)
		}
	}
	for _, id := range c.states {
		for step := range c.enabled[id] {
			if step.Kind == core.Fire && !slices.Contains(steps, step) {
				steps = append(steps, step)
			}
		}
	}
	slices.SortFunc(steps, func(a, b core.Step) int {
		return cmp.Or(a.Item.Compare(b.Item), cmp.Compare(a.Kind, b.Kind))
	})
	duties := make([]duty, len(steps))
	for i, step := range steps {
		duties[i] = duty{step: func(e core.Edge) bool { return e.Step == step }}
		if step.Kind != core.Fire {
			duties[i].state = func(id core.StateID) bool { return !c.enabled[id][step] }
		}
	}
	return duties
}

// maxProduct bounds the search for a shortest cycle; beyond it a short one has to do.
const maxProduct = 1 << 20

// cycle returns a run inside the component from a state back to it that does all duties:
// a shortest one unless the component is very large. It is empty if the state has to
// repeat without a step.
func (c *component) cycle(at core.StateID, duties []duty) core.Run {
	if len(c.inner[at]) == 0 {
		return nil
	}
	if len(duties) < 16 && len(c.states)<<len(duties) <= maxProduct {
		return c.walk(at, at, duties, true)
	}
	// One duty after the other, each by the shortest way.
	var run core.Run
	here := at
	for i := range duties {
		if done(duties[i], run, at) {
			continue
		}
		part := c.walk(here, here, duties[i:i+1], false)
		run = append(run, part...)
		here = run.End(here)
	}
	if back := c.walk(here, at, nil, len(run) == 0); len(back) > 0 {
		run = append(run, back...)
	}
	return run
}

func done(d duty, run core.Run, at core.StateID) bool {
	if d.state != nil && d.state(at) {
		return true
	}
	return slices.ContainsFunc(run, func(e core.Edge) bool {
		return d.step != nil && d.step(e) || d.state != nil && d.state(e.To)
	})
}

// progress is a state together with the duties that were done on the way to it.
type progress struct {
	id   core.StateID
	done uint32
}

// walk returns a shortest run inside the component that does all duties; it ends in
// the state to if it must come back, and anywhere otherwise. A run that must come back has
// at least one step.
func (c *component) walk(from, to core.StateID, duties []duty, back bool) core.Run {
	type arrival struct {
		before progress
		edge   core.Edge
	}
	all := uint32(1)<<len(duties) - 1
	mark := func(p progress) progress {
		for i, d := range duties {
			if d.state != nil && d.state(p.id) {
				p.done |= 1 << i
			}
		}
		return p
	}
	start := mark(progress{id: from})
	if len(duties) == 0 && from == to && !back {
		return nil
	}
	into := map[progress]arrival{}
	queue := []progress{start}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		for _, e := range c.inner[p.id] {
			next := progress{id: e.To, done: p.done}
			for i, d := range duties {
				if d.step != nil && d.step(e) {
					next.done |= 1 << i
				}
			}
			next = mark(next)
			if _, seen := into[next]; seen {
				continue
			}
			into[next] = arrival{before: p, edge: e}
			if next.done == all && (next.id == to || !back && len(duties) > 0) {
				run := core.Run{e}
				for p != start {
					a := into[p]
					run = append(run, a.edge)
					p = a.before
				}
				slices.Reverse(run)
				return run
			}
			queue = append(queue, next)
		}
	}
	return nil
}
