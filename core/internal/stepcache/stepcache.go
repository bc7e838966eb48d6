// Package stepcache keeps what steps do by what they depend on.
package stepcache

import "github.com/orrery-dev/orrery/core/state"

// Cache leads from what a run depends on straight to what it does, past its calls and the event handlers that they set
// off. What a run does follows from the values of the cells that it looks at. Each walker that only reads has its own:
// it saves time, and changes nothing. An effect is what a step does to the state.
type Cache[E any] struct {
	// roots are where the cached steps of items begin, by agent.
	roots []*decision[E]
	// Room is how many more decisions there may be.
	Room int

	// Tracing tells that a run is followed to make a cached step of it, and trace what it depends on so far: cells, in
	// the order in which it came to look at them, with their values before the step.
	Tracing bool
	Trace   []state.Touch
}

// MostDecisions bounds the memory that cached steps take: some megabytes for a walker.
const MostDecisions = 1 << 16

// decision is where a cached step goes on by the value of a cell, or ends with an effect.
type decision[E any] struct {
	cell   state.Cell
	ways   state.Fan[*decision[E]]
	effect *E
}

// Find returns what the step of an agent does in a state, nil if there is no cached step.
func (c *Cache[E]) Find(agent int, vector state.Vector) *E {
	if agent >= len(c.roots) {
		return nil
	}
	at := c.roots[agent]
	for at != nil && at.effect == nil {
		at = at.ways.Get(vector[at.cell])
	}
	if at == nil {
		return nil
	}
	return at.effect
}

// Depend notes that the run which is traced depends on what a cell held before the step.
func (c *Cache[E]) Depend(cell state.Cell, value state.Value) {
	if !state.Touches(c.Trace, cell) {
		c.Trace = append(c.Trace, state.Touch{Cell: cell, Was: value})
	}
}

// Add makes a cached step of what was traced.
func (c *Cache[E]) Add(agent int, effect *E) {
	for agent >= len(c.roots) {
		c.roots = append(c.roots, nil)
	}
	at := c.roots[agent]
	if at == nil {
		at = c.decide(0, effect)
		c.roots[agent] = at
	}
	for i, t := range c.Trace {
		if at.cell != t.Cell {
			panic("stepcache: what a run looks at next does not follow from what it saw")
		}
		next := at.ways.Get(t.Was)
		if next == nil {
			next = c.decide(i+1, effect)
			at.ways.Put(t.Was, next)
		}
		at = next
	}
}

// Remember makes a cached step without an effect, for a vector of which nothing is known yet. What is looked at may
// come in any order, as for predicates that go through maps: first comes what was looked at before, even if it was not
// this time. That takes more cached steps, and is right.
func (c *Cache[E]) Remember(agent int, vector state.Vector, trace []state.Touch) {
	c.Trace = nil
	if agent < len(c.roots) {
		for at := c.roots[agent]; at != nil && at.effect == nil; {
			value := vector.Value(at.cell)
			c.Trace = append(c.Trace, state.Touch{Cell: at.cell, Was: value})
			at = at.ways.Get(value)
		}
	}
	for _, t := range trace {
		c.Depend(t.Cell, t.Was)
	}
	c.Add(agent, new(E))
}

// decide returns a decision for the cell at a place in the trace, or the end of the cached step behind the last.
func (c *Cache[E]) decide(at int, effect *E) *decision[E] {
	c.Room--
	if at == len(c.Trace) {
		return &decision[E]{effect: effect}
	}
	return &decision[E]{cell: c.Trace[at].Cell}
}

// Forget drops all cached steps: a list depends on all cells of a kind, and there are new ones.
func (c *Cache[E]) Forget() { clear(c.roots); c.Room = MostDecisions }
