package dot

import (
	"fmt"
	"io"

	"github.com/orrery-dev/orrery/core"
)

// StateLimit is the number of states up to which [States] draws a graph: a
// larger picture shows nothing.
const StateLimit = 200

// TooLargeError says that a graph has more states than can be drawn one by one.
type TooLargeError struct {
	// States is how many states there are.
	States int
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the state graph has %d states, too many to draw (the limit is %d): draw the outcomes or a finding instead, or check a smaller system", e.States, StateLimit)
}

// States draws every state of a small graph, with those fields that are not the
// same in all states, and every step. The error is a [*TooLargeError] if there are
// more states than [StateLimit].
func States(w io.Writer, space Space) error {
	if space.Total > StateLimit {
		return &TooLargeError{States: space.Total}
	}
	c := newCanvas(wrapped(fmt.Sprintf("%s: all %d states, with the fields in which they differ", space.System, space.Total), 90))
	sets := make([]map[leaf]any, len(space.States))
	for id, state := range space.States {
		sets[id] = leavesOf(state.Objects)
	}
	parts := differing(sets)
	endings := space.endings()
	for id, state := range space.States {
		heading, role := fmt.Sprintf("State %d", id), plain
		switch {
		case state.Cut:
			heading, role = heading+", not fully searched", vague
		case endings[id] >= 0:
			heading, role = fmt.Sprintf("%s, outcome %d", heading, endings[id]+1), good
		case len(state.Edges) == 0:
			heading, role = heading+", terminal", bad
		case state.Initial:
			heading, role = heading+", initial", start
		}
		c.node(role, append([]string{heading, ""}, few(facts(parts[id]), lineLimit, "lines")...)...)
	}
	for id, state := range space.States {
		for _, edge := range state.Edges {
			if int(edge.To) < len(space.States) {
				c.edge(id, int(edge.To), plain, stepName(edge.Step))
			}
		}
	}
	return c.write(w)
}

// stepName says a step in a few words.
func stepName(step core.Step) string { return cut(step.String(), lineWidth) }
