package core

import "slices"

// State is one state of a system, as properties see it. It is valid only during
// the call it was handed to.
type State interface {
	Snapshot

	// Work returns the items in work queues, in order; standing requests, which
	// are always there, are left out.
	Work() []Item

	// InFlight returns the items that are being reconciled, in order. There are some only where each
	// call is a step of its own.
	InFlight() []Item

	// Timers returns the items that asked to be run again later, in order.
	Timers() []Item
}

// StateID numbers the states of a graph from 0, in the order of their discovery.
type StateID uint32

// Edge is a step taken from one state to another, or to the same one.
type Edge struct {
	From, To StateID
	Step     Step
	// Wrote tells that the step committed at least one write, even if later
	// writes of the same step undid it.
	Wrote bool
	// Failed is the error that the reconcile returned, empty if it returned none.
	Failed string
	// Requeued tells that the reconcile asked to be run again at once.
	Requeued bool
	// Late tells that the step was taken on a stale view: changes that its controller had not received yet were waiting
	// for it.
	Late bool
}

// Disturbed reports whether the step would not have happened in a world without faults and delays.
func (e Edge) Disturbed() bool {
	return e.Late || e.Step.Faulty()
}

// Run is a run of a system: steps that follow each other from an initial state.
type Run []Edge

// End returns the last state of the run, or start for an empty one.
func (r Run) End(start StateID) StateID {
	if len(r) == 0 {
		return start
	}
	return r[len(r)-1].To
}

// EndIn returns where a run to an accepted state leads that [Graph.Shortest] returned: its last state, or, if it is
// empty, the first initial state that is accepted.
func (r Run) EndIn(g Graph, accept func(StateID) bool) StateID {
	i := slices.IndexFunc(g.Initial(), accept)
	return r.End(g.Initial()[max(0, i)])
}
