package explore

import (
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// chooses is the part of an explorer that leaves agents out.
type chooses struct {
	chooser Chooser
	enabled []Enabled
	// users tells that only users can take a step.
	users  bool
	only   []bool
	marked []int
	// wakes is what the step at hand puts into queues, nil if nothing is to be left out.
	wakes *waking
}

// reduce returns which agents have to be followed in the state of the walker, nil for all of them. The slice is valid until the
// next call.
func (w *explorer) reduce() ([]bool, error) {
	c := &w.chooses
	for _, agent := range c.marked {
		c.only[agent] = false
	}
	c.marked = c.marked[:0]
	if c.chooser == nil || w.Faulty() {
		return nil, nil
	}
	if err := w.findEnabled(); err != nil {
		return nil, err
	}
	if len(c.enabled) < 2 {
		return nil, nil
	}
	choice := c.chooser.Choose(c.enabled)
	if err := w.putOff(choice.PutOff); err != nil {
		return nil, err
	}
	chosen := choice.Follow
	if chosen == nil {
		return nil, nil
	}
	for len(c.only) < len(w.footprints.agents) {
		c.only = append(c.only, false)
	}
	for _, agent := range chosen {
		c.only[agent] = true
	}
	c.marked = append(c.marked, chosen...)
	return c.only, nil
}

// putOff takes note of agents that are put off.
func (w *explorer) putOff(agents []int) error {
	f := w.footprints
	for _, agent := range agents {
		switch {
		case f.agents[agent].putOff:
		case w.Learn != nil:
			f.agents[agent].putOff = true
			w.disturbs = true
		case w.Ahead:
			return transition.ErrUnknown
		}
	}
	return nil
}

// findEnabled finds the agents that can take a step in the state of the walker.
func (w *explorer) findEnabled() error {
	c := &w.chooses
	c.enabled, c.users = c.enabled[:0], true
	for _, a := range w.Machine.Actors {
		for i, v := range a.Views {
			if v.Waiting(w.Value(v.Cell())) > 0 {
				c.enabled, c.users = append(c.enabled, Enabled{Agent: a.Deliveries[i], Due: !a.Unfair}), false
			}
		}
	}
	for _, it := range w.Machine.Items {
		e := Enabled{Agent: it.Agent, Due: !it.Actor.Unfair}
		switch {
		case it.Actor.User:
			if !w.Pending(it) {
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

// unblocked reports whether a pending item can be run. Only those of which a run was blocked when the search began, and those that are
// meant to be, are tried: that one of the others is blocked is learned when it is run.
func (w *explorer) unblocked(it *transition.Item) (bool, error) {
	if !it.Actor.Atomic && !w.footprints.blocks(it.Agent) {
		return true, nil
	}
	return w.Possible(it)
}

// next returns what the next step of an item touches whose calls are steps of their own, nil for all that the item may touch, and
// false if it cannot take any.
func (w *explorer) next(it *transition.Item) (*Footprint, bool, error) {
	exported := w.footprints.exported
	if p := w.Flight(it); p != nil && !p.Blocked {
		return exported[transition.Stage{Node: p.Node}], true, nil
	}
	enabled, err := w.MayBegin(it)
	return exported[transition.Stage{Begun: it}], enabled, err
}

// observer is a state that takes note of what a predicate looks at.
type observer struct {
	state.Look
	vocabulary *state.Vocabulary
	footprints *footprints
}

var _ core.State = (*observer)(nil)

func (o *observer) see(name placeName) {
	f := o.footprints
	grow(f, f.visible.reads, f.place(name))
}

// Get implements [core.State].
func (o *observer) Get(key core.Key) core.Content {
	if c, known := o.vocabulary.Lookup(key); known {
		o.see(placeName{cell: c})
	} else {
		o.see(placeName{listed: true, kind: key.Kind})
	}
	return o.Look.Get(key)
}

// List implements [core.State].
func (o *observer) List(kind core.Kind, namespace string) []core.Object {
	o.see(placeName{listed: true, kind: kind, namespace: namespace})
	return o.Look.List(kind, namespace)
}

// Objects returns all objects. It is not in [core.State], but a predicate may find it there.
func (o *observer) Objects() []core.Object {
	o.footprints.seeAll()
	return o.Look.Objects()
}

// Work implements [core.State].
func (o *observer) Work() []core.Item {
	o.footprints.seeAll()
	return o.Look.Work()
}

// InFlight implements [core.State].
func (o *observer) InFlight() []core.Item {
	o.footprints.seeAll()
	return o.Look.InFlight()
}

// Timers implements [core.State].
func (o *observer) Timers() []core.Item {
	o.footprints.seeAll()
	return o.Look.Timers()
}

// export returns a footprint for a reducer, without the places that do not matter.
func (f *footprints) export(from *footprint, without map[Place]bool) Footprint {
	reads := maps.Clone(from.reads)
	for kind := range from.kinds {
		if h := f.handlers[kind]; h != nil {
			maps.Copy(reads, h.reads)
		}
	}
	gates := maps.Clone(from.gates)
	if from.blocks {
		maps.Copy(gates, reads)
	}
	idle := func(place Place) bool { return without[place] }
	return Footprint{
		Known:  from.known,
		Takes:  from.takes,
		Reads:  slices.DeleteFunc(sorted(reads), idle),
		Writes: sorted(from.writes),
		Alters: slices.DeleteFunc(sorted(from.alters), idle),
		Wakes:  sorted(from.wakes),
		Gates:  sorted(gates),
	}
}

func sorted[K int | Place](members map[K]bool) []K {
	list := make([]K, 0, len(members))
	for member := range members {
		list = append(list, member)
	}
	slices.Sort(list)
	return list
}

// all returns the footprints of all agents, by number, and keeps those of the stages.
func (f *footprints) all() []Footprint {
	without := f.unchanging()
	agents := make([]Footprint, len(f.agents))
	f.blocked = make([]bool, len(f.agents))
	for i, known := range f.agents {
		agents[i] = f.export(known, without)
		f.blocked[i] = known.blocks
	}
	f.exported = make(map[transition.Stage]*Footprint, len(f.stages))
	for stage, known := range f.stages {
		exported := f.export(known, without)
		if it := stage.Begun; it != nil && f.blocked[it.Agent] {
			// Whether a run that was blocked can begin anew depends on all that it reads.
			exported.Reads = agents[it.Agent].Reads
		}
		f.exported[stage] = &exported
	}
	return agents
}
