package dot

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/orrery-dev/orrery/record/live/analysis"
)

// Causes draws why an object is as it is: causes above what they caused, down to the version that was asked for.
// Versions are boxes, and so are reconciles, each in the color of its controller and, as far as there is room, in one
// column with its others. What caused several things is drawn once. Reconciles that only asked to be run again are one.
func Causes(w io.Writer, answer analysis.Answer) error {
	c := &causes{canvas: newCanvas(wrapped("Why "+answer.Words(), 90)), reconciles: map[string]int{}, versions: map[string]int{}}
	c.legend()
	if answer.Last != nil {
		last := c.link(answer.Last)
		c.canvas.nodes[last].look = bad
	}
	return c.canvas.write(w)
}

// causes is a drawing of causes in the making.
type causes struct {
	canvas      *canvas
	controllers []string
	// reconciles and versions are nodes that are drawn already.
	reconciles, versions map[string]int
	key                  int
}

// legend adds the node that says what the others mean. What it says of controllers comes with them.
func (c *causes) legend() {
	c.key = c.canvas.node(vague, "A box is a version of an object, red the one asked for,", "or a reconcile or another writer, in a color for each:")
}

// lookOf returns how the reconciles of a controller look.
func (c *causes) lookOf(controller string) look {
	looks := []look{first, again, good, second}
	i := slices.Index(c.controllers, controller)
	if i < 0 {
		i = len(c.controllers)
		c.controllers = append(c.controllers, controller)
		colors := []string{"blue", "orange", "green", "violet"}
		key := &c.canvas.nodes[c.key]
		key.lines = append(key.lines, cut(fmt.Sprintf("  %s: %s", colors[i%len(colors)], controller), lineWidth))
	}
	return looks[i%len(looks)]
}

// link draws a version below what led to it, and returns its node.
func (c *causes) link(l *analysis.Link) int {
	name := l.Version.String() + " " + l.Version.UID
	if at, drawn := c.versions[name]; drawn {
		return at
	}
	lines := wrapped(l.Version.String(), lineWidth)
	if l.Writer == nil {
		lines = append(lines, wrapped(l.Origin(), lineWidth)...)
	}
	at := c.canvas.node(plain, lines...)
	c.versions[name] = at
	if l.Writer != nil {
		writer := c.writer(l.Writer)
		c.canvas.edge(writer, at, c.canvas.nodes[writer].look, l.Writer.Operation()+", at "+analysis.Moment(l.Writer.At))
	}
	return at
}

// writer draws a reconcile below its causes, and returns its node.
func (c *causes) writer(w *analysis.Writer) int {
	name := w.Process + " " + strconv.FormatUint(w.Reconcile, 10)
	if at, drawn := c.reconciles[name]; drawn && w.Reconcile != 0 {
		return at
	}
	who := w.Controller
	var lines []string
	switch {
	case who == "" && w.Client != "":
		who = w.Client
		lines = wrapped(who, lineWidth)
	case who == "":
		who = "code that is no reconcile"
		lines = []string{who}
	default:
		lines = wrapped(who+" "+w.Request, lineWidth)
	}
	if w.Process != "" {
		lines = append(lines, cut("in "+w.Process, lineWidth))
	}
	look := c.lookOf(who)
	at := c.canvas.node(look, lines...)
	c.canvas.nodes[at].group = strconv.Itoa(slices.Index(c.controllers, who))
	c.reconciles[name] = at
	for _, cause := range w.Causes {
		c.cause(at, cause)
	}
	if w.Cut {
		more := c.canvas.node(vague, "more, which is not shown")
		c.canvas.edge(more, at, vague)
	}
	return at
}

// cause draws one cause of a reconcile above it. A row of reconciles that asked to be run again is one node.
func (c *causes) cause(of int, cause analysis.Step) {
	because := analysis.Woken{By: cause.By}.String()
	switch {
	case cause.Link != nil:
		c.canvas.edge(c.link(cause.Link), of, plain, cause.Link.Event)
	case cause.Before != nil:
		folded := 0
		before := cause.Before
		for len(before.Causes) == 1 && before.Causes[0].Before != nil && !before.Told {
			folded, before = folded+1, before.Causes[0].Before
		}
		if folded > 1 {
			row := c.canvas.node(vague, fmt.Sprintf("%d reconciles of %s", folded, cut(cause.Before.Controller, valueWidth)), "that asked to be run again")
			c.canvas.nodes[row].group = c.canvas.nodes[of].group
			c.canvas.edge(row, of, plain, because)
			of, because = row, ""
		} else {
			before = cause.Before
		}
		c.canvas.edge(c.writer(before), of, plain, because)
	default:
		c.canvas.edge(c.canvas.node(vague, because), of, vague)
	}
}
