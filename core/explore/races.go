package explore

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// races finds out whether it matters in which order the calls were answered that the run made at the same time. They are answered in
// the order of their identities only: if another order could come to something else, the search is not complete.
func (w *walker) races(a *actor, activation behavior.Activation) error {
	made := w.made
	w.made = nil
	if a.raced || len(made) < 2 {
		return nil
	}
	first, second, found := behavior.Race(made)
	if !found {
		return nil
	}
	return w.raced(a, activation, first, second)
}

// raced takes note that an actor makes two calls at the same time of which it matters which is answered first.
func (w *walker) raced(a *actor, activation behavior.Activation, first, second core.Call) error {
	switch {
	case w.learn != nil:
		a.raced = true
		w.machine.doubt("%s makes calls at the same time whose order matters, %s: %q and %q were answered in this order only. Make one after the other, or let neither depend on what the other writes", a.Name, activation, first, second)
	case w.ahead:
		return errUnknown // the searching goroutine has to take note of it
	}
	return nil
}

// racesInFlight does the same for a call that is a step of its own: what others do in between may depend on any of its writes.
func (w *walker) racesInFlight(it *item, p *point, wrote bool) error {
	if !wrote || it.actor.raced {
		return nil
	}
	var before *behavior.Node
	var other core.Call
	for _, node := range append(p.path.Nodes(), p.node) {
		if node.Alone(before) {
			other = nil
		} else if len(node.Parked) > 0 {
			other = node.Parked[0]
			if node != p.node {
				other = node.Call
			}
		}
		before = node
	}
	if other == nil {
		return nil
	}
	return w.raced(it.actor, behavior.Activation{Request: it.Request}, p.node.Call, other)
}
