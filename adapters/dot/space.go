package dot

import (
	"context"

	"github.com/orrery-dev/orrery/core"
)

// Space is a graph of states, in the form that it is drawn from.
type Space struct {
	// System is what the title calls the system.
	System string
	// States are the states with the smallest numbers, each at the place of its number.
	States []State
	// Total is how many states there are in all; steps may lead to any of them.
	Total int
	// Outcomes are the different ends.
	Outcomes []core.OutcomeReport
}

// State is one state of a space.
type State struct {
	Initial bool
	// Cut tells that not all of the state's steps were taken.
	Cut bool
	// Quiescent tells that no work is left that can be done.
	Quiescent bool
	Objects   []core.TraceObject
	Edges     []core.Edge
}

// SpaceOf returns the graph of a check that has just ended, with so many states at most and as the title is to call the
// system. It is empty if the graph is nil. The error is that of the context.
func SpaceOf(ctx context.Context, system string, outcomes []core.OutcomeReport, graph core.Graph, limit int) (Space, error) {
	space := Space{System: system, Outcomes: outcomes}
	if graph == nil {
		return space, nil
	}
	space.Total = graph.States()
	var objects []core.TraceObject
	var steps []core.Edge
	err := graph.List(ctx, limit, func(listed *core.Listed) error {
		objects, steps = append(objects, listed.NewObjects...), append(steps, listed.NewSteps...)
		state := State{Initial: listed.Initial, Cut: listed.Cut, Quiescent: listed.Quiescent}
		for _, number := range listed.Objects {
			state.Objects = append(state.Objects, objects[number])
		}
		for _, step := range listed.Steps {
			edge := steps[step.Step]
			edge.From, edge.To = listed.ID, step.To
			state.Edges = append(state.Edges, edge)
		}
		space.States = append(space.States, state)
		return nil
	})
	return space, err
}

// endings returns, for every state, the number of the outcome that it is an end
// of, counted from 0, and -1 for all others.
func (s Space) endings() []int {
	names := map[string]int{}
	for i, outcome := range s.Outcomes {
		if int(outcome.State) < len(s.States) {
			names[s.contents(int(outcome.State))] = i
		}
	}
	endings := make([]int, len(s.States))
	for id, state := range s.States {
		endings[id] = -1
		if !state.Quiescent {
			continue
		}
		if i, known := names[s.contents(id)]; known {
			endings[id] = i
		}
	}
	return endings
}

// contents returns a text that two states share if their objects are equal.
func (s Space) contents(id int) string {
	text := ""
	for _, object := range s.States[id].Objects {
		text += object.Key().String() + "\n" + full(object.Fields) + "\n"
	}
	return text
}

// predecessors returns, for every state, the states from which a step leads to
// it.
func (s Space) predecessors() [][]int {
	from := make([][]int, len(s.States))
	for id, state := range s.States {
		for _, edge := range state.Edges {
			if int(edge.To) < len(from) {
				from[edge.To] = append(from[edge.To], id)
			}
		}
	}
	return from
}
