package properties

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// calm are the states that can be reached without faults and without steps on old views.
type calm struct {
	graph   core.Graph
	reached []bool
}

// undisturbed returns the states that runs reach in which nothing goes wrong and every controller
// is told of all changes before it acts.
func undisturbed(g core.Graph) calm {
	c := calm{graph: g, reached: make([]bool, g.States())}
	var open []core.StateID
	reach := func(id core.StateID) {
		if !c.reached[id] {
			c.reached[id] = true
			open = append(open, id)
		}
	}
	for _, id := range g.Initial() {
		reach(id)
	}
	for len(open) > 0 {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		for _, e := range g.Edges(id) {
			if !e.Disturbed() {
				reach(e.To)
			}
		}
	}
	return c
}

// reaches tells whether a run without disturbances has the outcome.
func (c calm) reaches(o Outcome) bool {
	return slices.ContainsFunc(o.States, func(id core.StateID) bool { return c.reached[id] })
}

// toward returns a shortest run without disturbances from a state to one of some, and false if there is
// none.
func (c calm) toward(from core.StateID, accept func(core.StateID) bool) (core.Run, bool) {
	into := map[core.StateID]core.Edge{}
	seen := map[core.StateID]bool{from: true}
	queue := []core.StateID{from}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if accept(id) {
			var run core.Run
			for id != from {
				run = append(run, into[id])
				id = into[id].From
			}
			slices.Reverse(run)
			return run, true
		}
		for _, e := range c.graph.Edges(id) {
			if !e.Disturbed() && !seen[e.To] {
				seen[e.To] = true
				into[e.To] = e
				queue = append(queue, e.To)
			}
		}
	}
	return nil, false
}

// quiet is a graph without the steps in which something goes wrong or is late.
type quiet struct{ core.Graph }

// Edges implements [core.Graph].
func (q quiet) Edges(id core.StateID) []core.Edge {
	edges := q.Graph.Edges(id)
	if !slices.ContainsFunc(edges, core.Edge.Disturbed) {
		return edges
	}
	return slices.DeleteFunc(slices.Clone(edges), core.Edge.Disturbed)
}
