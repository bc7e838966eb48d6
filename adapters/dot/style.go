package dot

import (
	"maps"
	"strconv"
)

const (
	font  = "Helvetica,Arial,sans-serif"
	paper = "white"
	ink   = "#1e293b"
)

// look is the role that a node or an edge has in a drawing.
type look int

const (
	plain  look = iota // nothing special
	start              // where everything begins
	bad                // where it goes wrong
	good               // where it may end
	again              // what repeats for ever
	first              // the first of two runs
	second             // the second of two runs
	vague              // what is left out, or was not searched
)

// style is how a look is drawn: the colour of lines, the colour inside of nodes,
// the width of lines in points, and how hard edges are pulled straight.
type style struct {
	line, fill string
	width      int
	weight     int
}

func (l look) style() style {
	switch l {
	case start:
		return style{line: "#475569", fill: "#e2e8f0", width: 2, weight: 4}
	case bad:
		return style{line: "#b91c1c", fill: "#fee2e2", width: 2, weight: 4}
	case good:
		return style{line: "#15803d", fill: "#dcfce7", width: 2, weight: 4}
	case again:
		return style{line: "#c2410c", fill: "#ffedd5", width: 2, weight: 4}
	case first:
		return style{line: "#1d4ed8", fill: "#dbeafe", width: 2, weight: 4}
	case second:
		return style{line: "#7e22ce", fill: "#f3e8ff", width: 2, weight: 4}
	}
	return style{line: "#475569", fill: "#f8fafc", width: 1, weight: 4}
}

// node returns the attributes of a node that looks like this.
func (l look) node() map[string]string {
	return l.with(map[string]string{
		"shape":     "box",
		"style":     l.stroke("rounded,filled"),
		"fillcolor": l.style().fill,
		"fontsize":  "11",
		"margin":    "0.16,0.1",
		"fontcolor": ink,
	})
}

// edge returns the attributes of an edge that looks like this.
func (l look) edge() map[string]string {
	return l.with(map[string]string{
		"style":     l.stroke("solid"),
		"fontsize":  "10",
		"arrowsize": "0.8",
		"fontcolor": l.style().line,
	})
}

func (l look) with(attributes map[string]string) map[string]string {
	maps.Copy(attributes, map[string]string{
		"color":    l.style().line,
		"fontname": font,
		"penwidth": strconv.Itoa(l.style().width),
	})
	return attributes
}

func (l look) stroke(normal string) string {
	if l == vague {
		return normal + ",dashed"
	}
	return normal
}
