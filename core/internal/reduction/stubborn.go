package reduction

import "github.com/orrery-dev/orrery/core/internal/transition"

// Extent is how many agents are followed in a state.
type Extent uint8

const (
	// Chosen are those that the chooser chooses.
	Chosen Extent = iota
	// Grouped are all of their group that are enabled.
	Grouped
	// Full are all that are enabled.
	Full
)

// selection is the part of an explorer that leaves agents out.
type selection struct {
	chooser Chooser
	enabled []Enabled
	// users tells that only users can take a step.
	users  bool
	only   []bool
	marked []int
	// wakes is what the step at hand puts into queues, nil if nothing is to be left out.
	wakes *enabling
}

// Reduce returns which agents are to be followed in the state of the walker, to some extent, nil for all of them. The
// slice is valid until the next call.
func (w *Explorer) Reduce(extent Extent) ([]bool, error) {
	c := &w.selection
	for _, agent := range c.marked {
		c.only[agent] = false
	}
	c.marked = c.marked[:0]
	if c.chooser == nil || extent == Full {
		return nil, nil
	}
	agent, found, err := w.alone()
	if err != nil {
		return nil, err
	}
	if w.Faulty() {
		if !found || extent == Grouped {
			return nil, nil
		}
		w.Level = true
		return w.follow(agent), nil
	}
	if err := w.findEnabled(); err != nil {
		return nil, err
	}
	if len(c.enabled) < 2 {
		return nil, nil
	}
	if found {
		if extent == Grouped {
			return w.together(agent), nil
		}
		w.Level = true
		return w.follow(agent), w.putOff(w.others(agent))
	}
	choice := c.chooser.Choose(c.enabled)
	if err := w.putOff(choice.PutOff); err != nil {
		return nil, err
	}
	switch chosen := choice.Follow; {
	case chosen == nil:
		return nil, nil
	case extent == Grouped:
		return w.together(chosen[0]), nil
	default:
		return w.follow(chosen...), nil
	}
}

// together notes that all enabled agents of the group of one are to be followed.
func (w *Explorer) together(agent int) []bool {
	group := w.chooser.Group(agent)
	var all []int
	for _, e := range w.enabled {
		if w.chooser.Group(e.Agent) == group {
			all = append(all, e.Agent)
		}
	}
	if group < 0 || len(all) == len(w.enabled) {
		return nil
	}
	return w.follow(all...)
}

// GroupOf returns the group of an agent, negative if too little is known of it.
func (w *Explorer) GroupOf(agent int) int { return w.chooser.Group(agent) }

// FollowedGroup returns the group of the agents that were chosen last, negative if too little is known of them, and
// whether all of it are followed that are enabled.
func (w *Explorer) FollowedGroup() (group int, whole bool) {
	c := &w.selection
	if w.Faulty() {
		return -1, false
	}
	group, whole = c.chooser.Group(c.marked[0]), true
	for _, e := range c.enabled {
		whole = whole && (c.only[e.Agent] || c.chooser.Group(e.Agent) != group)
	}
	return group, whole
}

// follow notes whom to follow.
func (w *Explorer) follow(agents ...int) []bool {
	c := &w.selection
	for len(c.only) < len(w.Footprints.agents) {
		c.only = append(c.only, false)
	}
	for _, agent := range agents {
		c.only[agent] = true
	}
	c.marked = append(c.marked, agents...)
	return c.only
}

// others returns the enabled agents but for one.
func (w *Explorer) others(agent int) []int {
	var others []int
	for _, e := range w.enabled {
		if e.Agent != agent {
			others = append(others, e.Agent)
		}
	}
	return others
}

// putOff notes agents that are put off.
func (w *Explorer) putOff(agents []int) error {
	f := w.Footprints
	for _, agent := range agents {
		switch {
		case f.agents[agent].putOff:
		case w.Learn != nil:
			f.agents[agent].putOff = true
			w.Disturbs = true
		case w.Ahead:
			return transition.ErrUnknown
		}
	}
	return nil
}

// findEnabled finds the agents that can take a step in the state of the walker.
func (w *Explorer) findEnabled() error {
	c := &w.selection
	c.enabled, c.users = c.enabled[:0], true
	for _, p := range w.Machine.Processes {
		for i, v := range p.Views {
			if v.Waiting(w.Value(v.Cell())) > 0 {
				c.enabled, c.users = append(c.enabled, Enabled{Agent: p.Deliveries[i], Due: !p.Unfair()}), false
			}
		}
	}
	for _, it := range w.Machine.Items {
		if it.Elapses() {
			continue // as a timer: once nothing else can be done
		}
		e := Enabled{Agent: it.Agent, Due: !it.Actor.Unfair}
		switch {
		case it.Actor.User:
			if !w.MayAct(it) {
				continue
			}
		case it.Actor.Atomic, w.Machine.Conditions.Granularity == transition.PerReconcile:
			if !w.Pending(it) {
				continue
			}
			if possible, err := w.unblocked(it); err != nil {
				return err
			} else if !possible {
				continue
			}
		default:
			now, enabled, err := w.next(it)
			if err != nil {
				return err
			}
			if !enabled {
				continue
			}
			e.Now = now
		}
		c.enabled, c.users = append(c.enabled, e), c.users && it.Actor.User
	}
	return nil
}

// unblocked reports whether a pending item can be run. Only those of which a run was blocked when the search began, and
// those that are meant to be, are tried: that one of the others is blocked is learned when it is run.
func (w *Explorer) unblocked(it *transition.Item) (bool, error) {
	if !it.Actor.Atomic && !w.Footprints.blocks(it.Agent) {
		return true, nil
	}
	return w.Possible(it)
}

// next returns what the next step of an item touches whose calls are steps of their own, nil for all that the item may
// touch, and false if it cannot take any.
func (w *Explorer) next(it *transition.Item) (*Footprint, bool, error) {
	stages := w.Footprints.settled.stages
	if p := w.Flight(it); p != nil && !p.Blocked {
		return stages[transition.Stage{Node: p.Node}], true, nil
	}
	enabled, err := w.MayBegin(it)
	return stages[transition.Stage{Begun: it}], enabled, err
}
