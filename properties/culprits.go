package properties

import (
	"context"
	"math/bits"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/effort"
)

// maxCulprits is how many controllers are told apart, one bit for each. What more of them do is told by the run that takes the least.
const maxCulprits = 64

// culprits says of each state which controllers are enough: with what goes wrong or is late for one of these alone, a run reaches the state, and
// takes no more than any other.
type culprits struct {
	controllers []string
	alone       []uint64
}

// culpritsOf finds the controllers, given what it takes to come to each state. A run that takes the least is made of runs that take the least, so it
// is enough to follow the steps of these.
func culpritsOf(ctx context.Context, g core.Graph, all *effort.Reach) (culprits, error) {
	c := culprits{alone: make([]uint64, g.States())}
	var queue []core.StateID
	for _, id := range g.Initial() {
		c.alone[id] = ^uint64(0)
		queue = append(queue, id)
	}
	for visited := 0; len(queue) > 0; visited++ {
		if visited%1024 == 0 && ctx.Err() != nil {
			return c, ctx.Err()
		}
		id := queue[0]
		queue = queue[1:]
		for _, e := range g.Edges(id) {
			if all.Least(id).With(e).CompareDisturbance(all.Least(e.To)) != 0 {
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
