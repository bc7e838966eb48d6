package dot

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dominikbraun/graph"
	"github.com/dominikbraun/graph/draw"
)

// canvas is a drawing in the making. Nodes are named by numbers, in the order in
// which they are added; edges between the same two nodes become one.
type canvas struct {
	title []string
	nodes []node
	edges []edge
	known map[[2]int]int
}

type node struct {
	lines []string
	look  look
	// group is what nodes of one column have in common, empty for none.
	group string
}

type edge struct {
	from, to int
	lines    []string
	look     look
}

func newCanvas(title []string) *canvas {
	return &canvas{title: title, known: map[[2]int]int{}}
}

// node adds a node and returns its number.
func (c *canvas) node(look look, lines ...string) int {
	c.nodes = append(c.nodes, node{lines: lines, look: look})
	return len(c.nodes) - 1
}

// edge adds an edge, or the lines to the edge that is there already.
func (c *canvas) edge(from, to int, look look, lines ...string) {
	ends := [2]int{from, to}
	if i, known := c.known[ends]; known {
		c.edges[i].lines = append(c.edges[i].lines, lines...)
		return
	}
	c.known[ends] = len(c.edges)
	c.edges = append(c.edges, edge{from: from, to: to, lines: lines, look: look})
}

// write writes the drawing as DOT.
func (c *canvas) write(w io.Writer) error {
	g := graph.New(graph.StringHash, graph.Directed())
	for i, n := range c.nodes {
		attributes := n.look.node()
		attributes["label"] = label(n.lines)
		if n.group != "" {
			attributes["group"] = n.group
		}
		if err := g.AddVertex(name(i), graph.VertexAttributes(attributes)); err != nil {
			return fmt.Errorf("dot: %w", err)
		}
	}
	for _, e := range c.edges {
		attributes := e.look.edge()
		attributes["label"] = label(indented(e.lines))
		err := g.AddEdge(name(e.from), name(e.to), graph.EdgeAttributes(attributes), graph.EdgeWeight(e.look.style().weight))
		if err != nil {
			return fmt.Errorf("dot: %w", err)
		}
	}
	var out bytes.Buffer
	err := draw.DOT(g, &out,
		draw.GraphAttribute("label", label(append(c.title, ""))),
		draw.GraphAttribute("labelloc", "t"),
		draw.GraphAttribute("labeljust", "l"),
		draw.GraphAttribute("fontname", font),
		draw.GraphAttribute("fontsize", "15"),
		draw.GraphAttribute("fontcolor", ink),
		draw.GraphAttribute("bgcolor", paper),
		draw.GraphAttribute("nodesep", "0.5"),
		draw.GraphAttribute("ranksep", "0.45"),
		draw.GraphAttribute("pad", "0.3"),
	)
	if err != nil {
		return fmt.Errorf("dot: %w", err)
	}
	_, err = io.WriteString(w, ordered(out.String()))
	return err
}

// indented moves lines away from the edge that they are written at.
func indented(lines []string) []string {
	moved := make([]string, len(lines))
	for i, line := range lines {
		moved[i] = "  " + line
	}
	return moved
}

// name returns the name of a node. Names sort like their numbers.
func name(node int) string { return fmt.Sprintf("n%06d", node) }

// ordered brings the statements of a DOT text into a fixed order, nodes before
// edges: the library writes them in the order of a Go map, and Graphviz lays a
// graph out in the order of its statements.
func ordered(text string) string {
	var head, nodes, edges []string
	for line := range strings.Lines(strings.TrimSuffix(strings.TrimSpace(text), "}")) {
		switch {
		case strings.TrimSpace(line) == "":
		case !strings.HasPrefix(line, "\t\"n"):
			head = append(head, line)
		case strings.HasPrefix(line[len("\t\"n000000\""):], " ->"):
			edges = append(edges, line)
		default:
			nodes = append(nodes, line)
		}
	}
	slices.Sort(nodes)
	slices.Sort(edges)
	return strings.Join(slices.Concat(head, nodes, edges), "") + "}\n"
}
