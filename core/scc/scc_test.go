package scc

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// listed is a graph given by the targets of each node.
type listed struct {
	targets [][]uint32
	begun   uint32
}

func (g *listed) Root() (uint32, bool) {
	g.begun++
	return g.begun - 1, int(g.begun) <= len(g.targets)
}

func (g *listed) Next(node uint32, at *Targets[uint32]) (uint32, bool) {
	return at.Next(func() []uint32 { return g.targets[node] })
}

// reaches tells by repeated squaring of a relation which node can be reached from which by at least one edge.
func (g *listed) reaches() [][]bool {
	n := len(g.targets)
	reach := make([][]bool, n)
	for i := range reach {
		reach[i] = make([]bool, n)
		for _, to := range g.targets[i] {
			reach[i][to] = true
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	return reach
}

// TestSearch compares components with the definition: nodes that reach each other.
func TestSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "nodes")
		node := rapid.Uint32Range(0, uint32(n-1))
		g := &listed{targets: rapid.SliceOfN(rapid.SliceOfN(node, 0, 3), n, n).Draw(t, "targets")}
		reach := g.reaches()
		shown := map[uint32]bool{}
		err := Search(context.Background(), g, func(c Component[uint32]) bool {
			first := c.Nodes[0]
			for other := range uint32(n) {
				same := other == first || reach[first][other] && reach[other][first]
				if same != slices.Contains(c.Nodes, other) || same != c.Has(other) {
					t.Fatalf("%d: same %t, component %v, has %t", other, same, c.Nodes, c.Has(other))
				}
				if !same && reach[first][other] && !shown[other] {
					t.Fatalf("%v comes before %d, which it leads to", c.Nodes, other)
				}
			}
			if c.Cyclic != reach[first][first] {
				t.Fatalf("%v is cyclic: %t", c.Nodes, c.Cyclic)
			}
			for _, member := range c.Nodes {
				if shown[member] {
					t.Fatalf("%d is shown twice", member)
				}
				shown[member] = true
			}
			return true
		})
		if err != nil || len(shown) != n {
			t.Fatalf("%v: %d of %d nodes are shown", err, len(shown), n)
		}
	})
}

// TestComponents has components that close only several nodes after an edge leads back, one within reach of the other.
func TestComponents(t *testing.T) {
	for _, test := range []struct {
		name    string
		targets [][]uint32
		want    [][]uint32
		cyclic  []bool
	}{
		{"a ring", [][]uint32{{1}, {2}, {3}, {0}}, [][]uint32{{0, 1, 2, 3}}, []bool{true}},
		{"two rings that share a node", [][]uint32{{1}, {2, 3}, {0}, {1}}, [][]uint32{{0, 1, 2, 3}}, []bool{true}},
		{"a ring that leads to another one", [][]uint32{{1}, {2}, {3, 0}, {4}, {3}}, [][]uint32{{3, 4}, {0, 1, 2}}, []bool{true, true}},
		{"an edge to a closed component, and one back", [][]uint32{{1, 2}, {1}, {1, 3}, {0}}, [][]uint32{{1}, {0, 2, 3}}, []bool{true, true}},
		{"a path", [][]uint32{{1}, {2}, {}}, [][]uint32{{2}, {1}, {0}}, []bool{false, false, false}},
	} {
		var got [][]uint32
		var cyclic []bool
		err := Search(context.Background(), &listed{targets: test.targets}, func(c Component[uint32]) bool {
			got, cyclic = append(got, slices.Clone(c.Nodes)), append(cyclic, c.Cyclic)
			return true
		})
		if err != nil || !slices.EqualFunc(got, test.want, slices.Equal) || !slices.Equal(cyclic, test.cyclic) {
			t.Errorf("%s: %v, %v, %v, want %v, %v", test.name, got, cyclic, err, test.want, test.cyclic)
		}
	}
}

func TestSearchStops(t *testing.T) {
	g := &listed{targets: [][]uint32{{1}, {}, {}}}
	calls := 0
	if err := Search(context.Background(), g, func(Component[uint32]) bool { calls++; return false }); err != nil || calls != 1 {
		t.Errorf("%d calls after the first said no, %v", calls, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Search(ctx, &listed{targets: [][]uint32{{}}}, func(Component[uint32]) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("the context has ended, and the error is %v", err)
	}
}

// TestSearchStopsWithinLargeComponents has a search end soon after its context, wherever it is in a long way.
func TestSearchStopsWithinLargeComponents(t *testing.T) {
	const long = 5000
	ctx, cancel := context.WithCancel(context.Background())
	targets := make([][]uint32, long)
	for i := range targets {
		targets[i] = []uint32{uint32(i+1) % long}
	}
	seen := 0
	g := &counted{listed: &listed{targets: targets}, next: func(node uint32) {
		if seen++; node == 1500 {
			cancel()
		}
	}}
	if err := Search(ctx, g, func(Component[uint32]) bool { return true }); !errors.Is(err, context.Canceled) || seen > 1500+1024+1 {
		t.Errorf("after %d steps, the error is %v", seen, err)
	}
}

// counted is a graph that tells of which nodes it is asked what comes next.
type counted struct {
	*listed
	next func(uint32)
}

func (c *counted) Next(node uint32, at *Targets[uint32]) (uint32, bool) {
	c.next(node)
	return c.listed.Next(node, at)
}
