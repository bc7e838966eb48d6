package graph

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/scc"
	"github.com/orrery-dev/orrery/record"
)

// None stands for no state.
const None = ^core.StateID(0)

// Graph is the graph of the states of a record, as far as they are recorded. Any number of goroutines may ask.
type Graph struct {
	record  *record.Record
	initial []core.StateID
	// before are the states from which a step leads to a state, those of each state after the other. A state's begin at
	// its place in begins.
	before []core.StateID
	begins []uint32
	// parents are the states before, on a shortest run from an initial state; the state itself if it is initial, and
	// None if no recorded run leads to it. Depths are the lengths of these runs.
	parents []core.StateID
	depths  []uint32
	// cycles are how many states each state shares a cycle with, itself among them, and 0 for a state that is on none.
	cycles []uint32
	// classOf are the classes of states.
	classOf []uint32
	classes []Class
}

// New reads the graph of a record, which must not change any more. The error is that of the context, when it ends
// before.
func New(ctx context.Context, r *record.Record) (*Graph, error) {
	g := &Graph{record: r}
	for _, step := range []func(context.Context) error{g.readSteps, g.walk, g.findCycles, g.classify} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Len returns how many states there are.
func (g *Graph) Len() int { return g.record.States.Len() }

// Initial returns the initial states that are recorded, in order.
func (g *Graph) Initial() []core.StateID { return g.initial }

// States returns the states themselves.
func (g *Graph) States() *record.States { return &g.record.States }

// each calls visit with each state in numbers, which are valid during the call.
func (g *Graph) each(ctx context.Context, visit func(core.StateID, *record.Numbers)) error {
	var numbers record.Numbers
	for id := range core.StateID(g.Len()) {
		if id%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		g.record.States.Unpack(id, &numbers)
		visit(id, &numbers)
	}
	return nil
}

// readSteps turns the steps round.
func (g *Graph) readSteps(ctx context.Context) error {
	counts := make([]uint32, g.Len()+1)
	err := g.each(ctx, func(_ core.StateID, numbers *record.Numbers) {
		for _, step := range numbers.Steps {
			if int(step.To) < g.Len() {
				counts[step.To+1]++
			}
		}
	})
	if err != nil {
		return err
	}
	for i := range g.Len() {
		counts[i+1] += counts[i]
	}
	g.begins = slices.Clone(counts)
	g.before = make([]core.StateID, counts[g.Len()])
	return g.each(ctx, func(from core.StateID, numbers *record.Numbers) {
		for _, step := range numbers.Steps {
			if int(step.To) < g.Len() {
				g.before[counts[step.To]] = from
				counts[step.To]++
			}
		}
	})
}

// Before returns the states from which a step leads to a state, one for each step, in the order of their numbers.
func (g *Graph) Before(id core.StateID) []core.StateID { return g.before[g.begins[id]:g.begins[id+1]] }

// walk finds the shortest runs, in breadth.
func (g *Graph) walk(ctx context.Context) error {
	g.parents, g.depths = slices.Repeat([]core.StateID{None}, g.Len()), make([]uint32, g.Len())
	err := g.each(ctx, func(id core.StateID, numbers *record.Numbers) {
		if numbers.Initial {
			g.parents[id] = id
			g.initial = append(g.initial, id)
		}
	})
	if err != nil {
		return err
	}
	var numbers record.Numbers
	queue := slices.Clone(g.initial)
	for i := 0; i < len(queue); i++ {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		id := queue[i]
		g.record.States.Unpack(id, &numbers)
		for _, step := range numbers.Steps {
			if int(step.To) < g.Len() && g.parents[step.To] == None {
				g.parents[step.To], g.depths[step.To] = id, g.depths[id]+1
				queue = append(queue, step.To)
			}
		}
	}
	return nil
}

// Run returns the states of a shortest run from an initial state to a state, both among them. It is empty if no
// recorded run leads there.
func (g *Graph) Run(id core.StateID) []core.StateID {
	if g.parents[id] == None {
		return nil
	}
	run := []core.StateID{id}
	for g.parents[id] != id {
		id = g.parents[id]
		run = append(run, id)
	}
	slices.Reverse(run)
	return run
}

// Cycle returns how many states a state shares a cycle with, itself among them: 0 if no run leads from it back to it.
func (g *Graph) Cycle(id core.StateID) int { return int(g.cycles[id]) }

// findCycles finds the components of the graph.
func (g *Graph) findCycles(ctx context.Context) error {
	g.cycles = make([]uint32, g.Len())
	return scc.Search(ctx, &components{graph: g}, func(c scc.Component[core.StateID]) bool {
		if c.Cyclic {
			for _, id := range c.Nodes {
				g.cycles[id] = uint32(len(c.Nodes))
			}
		}
		return true
	})
}

// components walks the graph against its steps, of which the components are the same.
type components struct {
	graph *Graph
	next  core.StateID
}

// Root implements [scc.Graph].
func (c *components) Root() (core.StateID, bool) {
	c.next++
	return c.next - 1, int(c.next) <= c.graph.Len()
}

// Next implements [scc.Graph].
func (c *components) Next(id core.StateID, at *int) (core.StateID, bool) {
	before := c.graph.Before(id)
	if *at >= len(before) {
		return 0, false
	}
	*at++
	return before[*at-1], true
}
