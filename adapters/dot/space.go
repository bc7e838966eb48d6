package dot

import "github.com/orrery-dev/orrery/core"

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
