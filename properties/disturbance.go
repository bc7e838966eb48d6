package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// disturbance is what goes wrong in a run, and which caches are stale.
type disturbance struct {
	// faults are the faults, each in a few words, in their order.
	faults  []string
	crashes int
	// late counts the steps that controllers take on stale caches, and reconciles says of which controllers all of
	// these are reconciles.
	late       map[string]int
	reconciles map[string]bool
	// controllers are those concerned, in the order of their first.
	controllers []string
}

func disturbanceOf(run core.Run) disturbance {
	d := disturbance{late: map[string]int{}, reconciles: map[string]bool{}}
	for _, e := range run {
		if !e.Disturbed() {
			continue
		}
		who := e.Step.Item.Strategy
		if !slices.Contains(d.controllers, who) {
			d.controllers = append(d.controllers, who)
		}
		if e.Late {
			d.reconciles[who] = (d.late[who] == 0 || d.reconciles[who]) && e.Step.Kind == core.Reconcile
			d.late[who]++
		}
		if e.Step.Kind == core.Restart || strings.Contains(e.Step.Detail, "crashes") {
			d.crashes++
		}
		if e.Step.Faulty() {
			d.faults = append(d.faults, e.Step.String())
		}
	}
	return d
}

// without says what the world is like without the disturbance.
func (d disturbance) without() string {
	switch failures := len(d.faults) - d.crashes; {
	case len(d.faults) == 0:
		return "with fresh caches"
	case len(d.late) > 0:
		return "without faults and with fresh caches"
	case failures == 0:
		return "without crashes"
	case d.crashes == 0:
		return "without failed calls"
	}
	return "without faults"
}

// brief says the disturbance in a few words: "one crash", "2 reconciles of web on a stale cache".
func (d disturbance) brief() string {
	var parts []string
	if d.crashes > 0 {
		parts = append(parts, counted(d.crashes, "crash", "crashes"))
	}
	if failures := len(d.faults) - d.crashes; failures > 0 {
		parts = append(parts, counted(failures, "failed call", "failed calls"))
	}
	for _, who := range d.controllers {
		one, many := "step", "steps"
		if d.reconciles[who] {
			one, many = "reconcile", "reconciles"
		}
		if n := d.late[who]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s on a stale cache", counted(n, one, many), who))
		}
	}
	return enumerate(parts)
}

// Disturbance says which faults and stale caches a run requires, empty if none.
func Disturbance(run core.Run) string {
	d := disturbanceOf(run)
	if len(d.controllers) == 0 {
		return ""
	}
	text := "Requires at least " + d.brief()
	if len(d.faults) > 0 {
		text += ": " + strings.Join(d.faults, "; ")
	}
	return text + "."
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// calm are the states that can be reached without faults and without steps on stale views.
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

// reaches reports whether a run without disturbances has the outcome.
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
