package properties

import (
	"cmp"
	"container/heap"
	"context"
	"math/bits"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// effort is what a run takes: of two runs, the one with fewer faults takes less, then the one with fewer steps on stale
// caches, then the shorter one.
type effort struct{ faults, late, steps uint32 }

func (e effort) with(edge core.Edge) effort {
	e.steps++
	if edge.Late {
		e.late++
	}
	if edge.Step.Kind == core.Restart || edge.Step.Detail != "" {
		e.faults++
	}
	return e
}

func (e effort) compare(other effort) int {
	return cmp.Or(e.compareDisturbance(other), cmp.Compare(e.steps, other.steps))
}

// compareDisturbance compares what goes wrong or is late, and not how long the runs are.
func (e effort) compareDisturbance(other effort) int {
	return cmp.Or(cmp.Compare(e.faults, other.faults), cmp.Compare(e.late, other.late))
}

// efforts are the states of a graph that are reached by steps that are allowed, with what that takes at least.
type efforts struct {
	graph   core.Graph
	least   []effort
	reached []bool
	// parent is the state before each on a run that takes the least. It is the state itself at the start.
	parent []core.StateID
	allow  func(core.Edge) bool
}

// leastEfforts searches a graph by Dijkstra's algorithm, and returns the states that are accepted and take the least: it goes no further than these.
// If accept is nil, it reaches all states.
func leastEfforts(ctx context.Context, g core.Graph, allow func(core.Edge) bool, accept func(core.StateID) bool) (*efforts, []core.StateID) {
	n := g.States()
	s := &efforts{graph: g, least: make([]effort, n), reached: make([]bool, n), parent: make([]core.StateID, n), allow: allow}
	queue := &frontier{}
	var found []core.StateID
	for _, id := range g.Initial() {
		s.reached[id], s.parent[id] = true, id
		heap.Push(queue, waiting{id: id})
	}
	for visited := 0; queue.Len() > 0; visited++ {
		if visited%1024 == 0 && ctx.Err() != nil {
			return s, found
		}
		at := heap.Pop(queue).(waiting)
		if len(found) > 0 && at.compare(s.least[found[0]]) > 0 {
			break
		}
		if at.effort != s.least[at.id] {
			continue
		}
		if accept != nil && accept(at.id) && !slices.Contains(found, at.id) {
			found = append(found, at.id)
		}
		for _, e := range g.Edges(at.id) {
			if !allow(e) {
				continue
			}
			takes := at.with(e)
			if !s.reached[e.To] || takes.compare(s.least[e.To]) < 0 {
				s.reached[e.To], s.least[e.To], s.parent[e.To] = true, takes, at.id
				heap.Push(queue, waiting{effort: takes, id: e.To})
			}
		}
	}
	return s, found
}

// run returns the run to a state that takes the least.
func (s *efforts) run(to core.StateID) core.Run {
	var run core.Run
	for s.parent[to] != to {
		from := s.parent[to]
		edges := s.graph.Edges(from)
		at := slices.IndexFunc(edges, func(e core.Edge) bool {
			return e.To == to && s.allow(e) && s.least[from].with(e) == s.least[to]
		})
		run = append(run, edges[at])
		to = from
	}
	slices.Reverse(run)
	return run
}

// maxCulprits is how many controllers are told apart, one bit for each. What more of them do is told by the run that takes the least.
const maxCulprits = 64

// culprits says of each state which controllers are enough: with what goes wrong or is late for one of these alone, a run reaches the state, and
// takes no more than any other.
type culprits struct {
	controllers []string
	alone       []uint64
}

// culprits finds the controllers. A run that takes the least is made of runs that take the least, so it is enough to follow the steps of these.
func (s *efforts) culprits(ctx context.Context) (culprits, error) {
	c := culprits{alone: make([]uint64, len(s.reached))}
	var queue []core.StateID
	for _, id := range s.graph.Initial() {
		c.alone[id] = ^uint64(0)
		queue = append(queue, id)
	}
	for visited := 0; len(queue) > 0; visited++ {
		if visited%1024 == 0 && ctx.Err() != nil {
			return c, ctx.Err()
		}
		id := queue[0]
		queue = queue[1:]
		for _, e := range s.graph.Edges(id) {
			if s.least[id].with(e).compareDisturbance(s.least[e.To]) != 0 {
				continue
			}
			all := c.alone[e.To] | c.alone[id]&c.bits(e)
			if all != c.alone[e.To] {
				c.alone[e.To] = all
				queue = append(queue, e.To)
			}
		}
	}
	return c, nil
}

// bits returns the controllers that are enough for a step: all if nothing goes wrong in it.
func (c *culprits) bits(e core.Edge) uint64 {
	if !e.Disturbed() {
		return ^uint64(0)
	}
	name := controllerOf(e)
	i := slices.Index(c.controllers, name)
	if i < 0 && len(c.controllers) < maxCulprits {
		i = len(c.controllers)
		c.controllers = append(c.controllers, name)
	}
	if i < 0 {
		return 0
	}
	return 1 << i
}

// controllerOf returns whose code takes a step: two instances of a controller are one.
func controllerOf(e core.Edge) string {
	return strings.TrimSuffix(e.Step.Item.Strategy, core.SecondInstance(""))
}

// controllersIn returns whose code takes the steps of a run in which something goes wrong or a cache is stale, in order.
func controllersIn(run core.Run) []string {
	var all []string
	for _, e := range run {
		if e.Disturbed() {
			all = append(all, controllerOf(e))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// names returns the controllers of a set.
func (c *culprits) names(set uint64) []string {
	var names []string
	for ; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); i < len(c.controllers) {
			names = append(names, c.controllers[i])
		}
	}
	return names
}

// waiting is a state in the frontier of a search, with what the run to it takes.
type waiting struct {
	effort
	id core.StateID
}

// frontier are states to visit, the one that takes the least first. It implements [heap.Interface].
type frontier []waiting

func (f frontier) Len() int { return len(f) }

func (f frontier) Less(i, j int) bool {
	return cmp.Or(f[i].compare(f[j].effort), cmp.Compare(f[i].id, f[j].id)) < 0
}

func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }

// Push implements [heap.Interface].
func (f *frontier) Push(next any) { *f = append(*f, next.(waiting)) }

// Pop implements [heap.Interface].
func (f *frontier) Pop() any {
	last := len(*f) - 1
	next := (*f)[last]
	*f = (*f)[:last]
	return next
}
