package dot

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// outcomeLimit is the number of outcomes that are told apart in a drawing. All
// further ones are drawn as one.
const outcomeLimit = 9

// Outcomes draws in how many ways a system can end, and which steps decide it.
// States from which the same outcomes can still be reached are one node, so that
// every edge is a parting of the ways: a step after which fewer outcomes are left.
func Outcomes(w io.Writer, space Space) error {
	d := newDelta(space)
	c := newCanvas(wrapped(d.title(), 90))
	begin := c.node(start, "Initial state")
	for _, class := range d.classes {
		class.node = c.node(class.look(), d.describe(class)...)
	}
	for id, state := range space.States {
		if class := d.classOf[id]; state.Initial && !class.entered {
			class.entered = true
			c.edge(begin, class.node, start)
		}
	}
	for _, class := range d.classes {
		for _, next := range d.classes {
			if steps := class.exits[next]; len(steps) > 0 {
				slices.Sort(steps)
				c.edge(class.node, next.node, plain, few(steps, 6, "steps")...)
			}
		}
	}
	return c.write(w)
}

// delta is a graph of states condensed by where its states can lead, as a river
// is that parts before it meets the sea.
type delta struct {
	space   Space
	classes []*class
	classOf []*class
	// facts are the lines that tell the outcomes apart.
	facts [][]string
}

// class is the set of all states from which the same outcomes can be reached.
type class struct {
	states int
	// outcomes are the numbers of the outcomes, from 0.
	outcomes []int
	// open tells that states can be reached that were not searched any further,
	// and trapped that states can be from which no end can.
	open, trapped bool
	// exits are the steps that lead to other classes, each once.
	exits map[*class][]string
	// node is the number of the class in the drawing.
	node    int
	entered bool
}

func newDelta(space Space) *delta {
	d := &delta{space: space, classOf: make([]*class, len(space.States))}
	reach, open, trapped := reachable(space)
	known := map[string]*class{}
	for id := range space.States {
		name := fmt.Sprint(reach[id], open[id], trapped[id])
		if known[name] == nil {
			known[name] = &class{outcomes: reach[id], open: open[id], trapped: trapped[id], exits: map[*class][]string{}}
			d.classes = append(d.classes, known[name])
		}
		known[name].states++
		d.classOf[id] = known[name]
	}
	for id, state := range space.States {
		for _, edge := range state.Edges {
			if int(edge.To) < len(space.States) {
				d.classOf[id].exit(d.classOf[edge.To], stepName(edge.Step))
			}
		}
	}
	var sets []map[leaf]any
	for _, outcome := range space.Outcomes {
		sets = append(sets, leavesOf(outcome.Objects))
	}
	parts := sets
	if len(sets) > 1 {
		parts = differing(sets)
	}
	for _, part := range parts {
		d.facts = append(d.facts, few(facts(part), lineLimit, "lines"))
	}
	if len(d.facts) > outcomeLimit { // the last one shown stands for several
		d.facts[outcomeLimit-1] = []string{"not distinguished here"}
	}
	return d
}

func (c *class) exit(to *class, step string) {
	if c != to && !slices.Contains(c.exits[to], step) {
		c.exits[to] = append(c.exits[to], step)
	}
}

// reachable returns, for every state, which outcomes can be reached from it, in
// order, whether a state can be that was not searched any further, and whether
// one can be from which none of both can.
func reachable(space Space) (outcomes [][]int, open, trapped []bool) {
	from := space.predecessors()
	endings := space.endings()
	outcomes = make([][]int, len(space.States))
	for outcome := range min(len(space.Outcomes), outcomeLimit) {
		mark(from, func(id int) bool { return shownOutcome(endings[id]) == outcome }, func(id int) {
			outcomes[id] = append(outcomes[id], outcome)
		})
	}
	open = make([]bool, len(space.States))
	mark(from, func(id int) bool {
		state := space.States[id]
		return state.Cut || slices.ContainsFunc(state.Edges, func(e core.Edge) bool { return int(e.To) >= len(space.States) })
	}, func(id int) { open[id] = true })
	trapped = make([]bool, len(space.States))
	mark(from, func(id int) bool { return len(outcomes[id]) == 0 && !open[id] }, func(id int) { trapped[id] = true })
	return outcomes, open, trapped
}

// shownOutcome returns the number under which an outcome is drawn.
func shownOutcome(outcome int) int { return min(outcome, outcomeLimit-1) }

// mark calls visit once for every state from which a state can be reached that
// is a goal.
func mark(from [][]int, goal func(int) bool, visit func(int)) {
	seen := make([]bool, len(from))
	var queue []int
	push := func(id int) {
		if !seen[id] {
			seen[id] = true
			queue = append(queue, id)
			visit(id)
		}
	}
	for id := range from {
		if goal(id) {
			push(id)
		}
	}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, before := range from[id] {
			push(before)
		}
	}
}

func (d *delta) title() string {
	var title string
	switch n := len(d.space.Outcomes); n {
	case 0:
		title = fmt.Sprintf("%s: no outcome was found", d.space.System)
	case 1:
		title = fmt.Sprintf("%s: one outcome", d.space.System)
	default:
		title = fmt.Sprintf("%s: %d outcomes, and the steps that decide between them", d.space.System, n)
	}
	if len(d.space.States) < d.space.Total {
		title += fmt.Sprintf(" (drawn from the first %d of %d states)", len(d.space.States), d.space.Total)
	}
	return title
}

// look returns how a class looks.
func (c *class) look() look {
	switch {
	case c.open:
		return vague
	case len(c.outcomes) == 0:
		return bad
	case len(c.outcomes) == 1 && !c.trapped:
		return good
	}
	return plain
}

// describe says what a class is.
func (d *delta) describe(c *class) []string {
	states := fmt.Sprintf("%d states", c.states)
	if c.states == 1 {
		states = "1 state"
	}
	switch {
	case len(c.outcomes) == 0 && c.open:
		return []string{"Not fully searched", states}
	case len(c.outcomes) == 0:
		return []string{"Never settles", states + ", cannot reach an outcome"}
	case len(c.outcomes) == 1 && !c.open && !c.trapped:
		return append([]string{d.outcomeName(c.outcomes[0]), states + " can only end here", ""}, d.facts[c.outcomes[0]]...)
	}
	lines := []string{"Undecided", states + " can still end in"}
	var names []string
	for _, outcome := range c.outcomes {
		names = append(names, strings.ToLower(d.outcomeName(outcome)))
	}
	lines = append(lines, wrapped(strings.Join(names, ", "), lineWidth)...)
	if c.trapped {
		lines = append(lines, "or never settle")
	}
	if c.open {
		lines = append(lines, "or reach states that were not searched")
	}
	return lines
}

// outcomeName returns what an outcome is called.
func (d *delta) outcomeName(outcome int) string {
	if rest := len(d.space.Outcomes) - outcomeLimit; rest > 0 && outcome == outcomeLimit-1 {
		return fmt.Sprintf("One of %d more outcomes", rest+1)
	}
	return fmt.Sprintf("Outcome %d", outcome+1)
}
