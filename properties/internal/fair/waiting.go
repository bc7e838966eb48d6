package fair

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Step is a step that fairness is assumed of: wherever it is possible, or in one state alone.
type Step struct {
	core.Step
	state core.StateID
}

// In returns a step as it is possible in a state. What chance does in one state is nothing that it does in another one.
func In(id core.StateID, step core.Step) Step {
	if step.Chance() {
		return Step{step, id}
	}
	return Step{Step: step}
}

// Recurs reports whether a step is taken again and again that is possible again and again, also with weak fairness. A
// timer that is set is always due later on, and only waits while controllers have something else to do. Who leaves
// something to chance in the same state again and again does all that he may.
func Recurs(step Step) bool { return step.Kind.Timed() || step.Chance() }

// Parts reports whether a step is a part of a reconcile: where there are any, each call is a step of its own.
func Parts(step core.Step) bool {
	return step.Kind == core.Begin || step.Kind == core.Ask || step.Kind == core.Return
}

// Waiting returns the steps that count as possible in a state besides those that the graph has there. All are steps
// that fairness is assumed of, as fair tells, and begin what waits in a queue.
//
// Where calls are steps of their own, as inParts tells, it is what cannot begin as the workers are busy: queues are
// first in, first out, so that nobody waits for ever while others are served. What never is in flight itself waits for
// no worker, and what is in flight waits for its own run. Elsewhere it is what could be run and is left out of the
// graph.
func Waiting(g core.Graph, id core.StateID, inParts bool, fair func(core.Step) bool) []core.Step {
	state := g.State(id)
	work := slices.Clone(state.Work())
	if len(work) == 0 {
		return nil
	}
	kind, busy := core.Reconcile, []core.Item(nil)
	if inParts {
		kind, busy = core.Begin, slices.Clone(state.InFlight())
	}
	var steps []core.Step
	for _, item := range work {
		step := core.Step{Kind: kind, Item: item}
		served := func(other core.Item) bool { return other.Strategy == item.Strategy }
		if fair(step) && (!inParts || slices.ContainsFunc(busy, served) && !slices.Contains(busy, item)) {
			steps = append(steps, step)
		}
	}
	if len(steps) > 0 {
		edges := g.Edges(id)
		steps = slices.DeleteFunc(steps, func(step core.Step) bool {
			return slices.ContainsFunc(edges, func(e core.Edge) bool {
				byChance := e.Step.Chance() && !e.Step.Faulty() && e.Step.Kind == step.Kind && e.Step.Item == step.Item // then each of its ways has a name of its own
				return byChance || e.Step == step
			})
		})
	}
	if inParts {
		return steps
	}
	return slices.DeleteFunc(steps, func(step core.Step) bool { return len(g.Try(id, step.Item)) == 0 })
}
