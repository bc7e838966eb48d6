package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// waking takes note of the work that a step puts into queues, also where it is there already: with another order of
// steps it may not be. It implements [listener].
type waking struct {
	walker *walker
	// messages tells that calls may put something into a queue.
	messages bool
	woken    []state.Cell
}

var _ listener = (*waking)(nil)

// listen has a walker take note of what it wakes.
func listen(w *walker) {
	messages := slices.ContainsFunc(w.machine.actors, func(a *actor) bool { return a.Messages && !a.user })
	w.wakes = &waking{walker: w, messages: messages}
	w.listener = w.wakes
}

// began implements [listener].
func (k *waking) began() { k.woken = k.woken[:0] }

// called implements [listener]: messages are there at once.
func (k *waking) called(_ *actor, _ behavior.Activation, call told) {
	w := k.walker
	if !k.messages || call.node.Call.Source() != core.Live {
		return
	}
	if answered := call.node.Look(w.live, w.buffer); answered != nil {
		k.woken = append(k.woken, answered.Enqueue...)
	}
}

// ended implements [listener]: what event handlers ask for is put into the queue.
func (k *waking) ended(_ *actor, activation behavior.Activation, _ behavior.Path, leaf *behavior.Leaf) {
	if activation.Event != nil {
		k.woken = append(k.woken, leaf.Cells...)
	}
}

// committed implements [listener].
func (k *waking) committed(*view.View) {}

// refreshed implements [listener].
func (k *waking) refreshed(*view.View) {}

// agents calls a function with the agents that the walker's step wakes, other than the one that takes it.
func (k *waking) agents(s *taken, call func(agent int)) {
	for _, c := range k.woken {
		if it := k.walker.machine.itemAt[c]; it != s.item {
			call(it.agent)
		}
	}
}
