package reduction

import "github.com/orrery-dev/orrery/core/explore"

// Stubborn reduces by stubborn sets (Valmari, "Stubborn sets for reduced state space generation", 1991) over what is
// known of all agents.
type Stubborn struct{}

var _ explore.Reducer = Stubborn{}

// Learn implements [explore.Reducer].
func (Stubborn) Learn(footprints []explore.Footprint, visible []explore.Place) func() explore.Chooser {
	d, l := newIndependence(footprints, visible), newLevel(footprints)
	return func() explore.Chooser {
		return &chooser{
			independence: d,
			level:        l,
			now:          make([]*explore.Footprint, d.agents),
			stages:       map[*explore.Footprint]agents{},
			sleeping:     sleeping{pairs: map[pair]bool{}},
		}
	}
}

// chooser looks for small stubborn sets.
type chooser struct {
	*independence
	level
	enabled agents
	// members is the set under construction, and open those of its members that may pull in others.
	members agents
	open    []int
	// now are the footprints of the steps of enabled agents, nil for all that they may touch, and stages remembers what
	// depends on such a step.
	now    []*explore.Footprint
	stages map[*explore.Footprint]agents
	best   []int
	sleeping
}

// Choose implements [explore.Chooser]. Of the sets that grow from one agent each, it takes one of the
// first component with work, so that what has nothing to do with each other is done one after the other; of
// these the smallest, and of these the first.
func (c *chooser) Choose(enabled []explore.Enabled) explore.Choice {
	c.enabled.Clear()
	c.mixed = true
	for _, e := range enabled {
		if e.Agent >= c.agents {
			return explore.Choice{} // it is too new to be known
		}
		c.enabled.Add(e.Agent)
		c.now[e.Agent] = e.Now
	}
	found, component := false, 0
	for _, e := range enabled {
		if !e.Due || found && c.component[e.Agent] > component {
			continue
		}
		better := !found || c.component[e.Agent] < component
		limit := len(enabled)
		if !better {
			limit = len(c.best)
		}
		if c.grow(e.Agent, limit) {
			found, component = true, c.component[e.Agent]
			c.take()
		}
	}
	if !found {
		c.mixed = c.mixes(enabled)
		return explore.Choice{}
	}
	c.mixed = false
	return explore.Choice{Follow: c.best, PutOff: c.putOff(enabled, component)}
}

// Group implements [explore.Chooser].
func (c *chooser) Group(agent int) int {
	if agent >= c.agents {
		return -1
	}
	return c.group[agent]
}

// take keeps the enabled members of the set.
func (c *chooser) take() {
	c.best = c.best[:0]
	for i := range c.members.All() {
		if c.enabled.Has(i) {
			c.best = append(c.best, i)
		}
	}
}

// grow builds the smallest stubborn set with an agent in it. It gives up and returns false if the set has as many
// enabled members as the limit.
func (c *chooser) grow(agent, limit int) bool {
	c.members.Clear()
	c.members.Add(agent)
	c.open = append(c.open[:0], agent)
	count, visible := 0, false
	for len(c.open) > 0 {
		i := c.open[len(c.open)-1]
		c.open = c.open[:len(c.open)-1]
		if !c.enabled.Has(i) {
			c.pull(c.enablers[i])
			continue
		}
		if count++; count >= limit {
			return false
		}
		c.pullDependents(i, &visible)
	}
	return true
}

// pullDependents pulls in what may be in the way of an enabled agent: all there are if that may touch everything.
func (c *chooser) pullDependents(i int, visible *bool) {
	f, dependents := &c.footprints[i], c.dependents[i]
	if now := c.now[i]; now != nil {
		f, dependents = now, c.dependsOnStage(i, now)
	}
	if !*visible && c.sees(f) {
		// What is looked at changes either in all ways that are possible here or in none.
		*visible = true
		c.pull(c.watched)
	}
	c.pull(dependents)
}

// dependsOnStage returns what depends on a single step of an agent.
func (c *chooser) dependsOnStage(i int, now *explore.Footprint) agents {
	dependents, known := c.stages[now]
	if !known {
		dependents = c.dependsOn(i, now)
		c.stages[now] = dependents
	}
	return dependents
}

// pull adds agents to the set.
func (c *chooser) pull(more agents) {
	for i := range more.All() {
		if c.members.Add(i) {
			c.open = append(c.open, i)
		}
	}
}
