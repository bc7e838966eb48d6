// Package transition is a system as a transition relation: which steps it can take from a state, and where each one
// leads.
//
// # States
//
// A [Machine] is a system with conditions. Its state is a vector over the cells of a vocabulary (package core/state):
// one for each object, one for each work item with the flags queued and timed or the point at which its run is parked,
// one for the backlog of each view that may be stale, and counters of faults. The machine grows while it is explored,
// as objects, requests and contents come up that were never seen.
//
// # Steps
//
// A [Walker] is in one state. Steps enumerates what can happen there, in a fixed order, and shows each step to a
// [Visitor]: it applies the step to its vector, calls the visitor, and undoes it by the list of cells that it touched.
// The steps are deliveries to views, reconciles (or, where each call is a step of its own, their begins, calls and
// returns), timers, crashes and the actions of users. A reconcile with faults or with its concurrent calls in another
// order is another step of the same item.
//
//	steps.go      enumerates, tries and undoes steps
//	running.go    runs an item through its behaviour tree and applies the effects of its calls
//	faults.go     every way in which the calls of a run can fail, and where it can crash; starts of the system and of a controller
//	races.go      every order of concurrent calls that matters, and both orders of what caches list
//	flight.go     runs whose calls are steps of their own
//	process.go    what strategies share that run as one program: views, memory, crashes
//	memory.go     what code keeps in memory from one run to the next, as a cell of the state
//	waits.go      who waits for a time, which is found out by clocks that are moved, and how that is told
//	clock.go      the moments that there may be, and the steps that let a long time pass
//	drift.go      what is left in memory at another time, and what is done in between two times
//	draws.go      what runs draw at random, from seeds that are numbered in the state
//	chance.go     what code does by chance: the ways that it may go, and audits of code that does
//	versions.go   which versions of objects clients show and hold, and their canonical forms at the end of a step
//	compared.go   who compares versions by their names, or times in objects, and times that are a second apart
//	stepcache.go  remembers the effects of steps by the cells that they depend on
//
// # Learning
//
// What a controller does is taken from its behaviour tree (package core/behavior). Where the tree ends, a walker with a
// [Learner] runs the real code, audits what it learned on fresh and used instances, and adds it to the tree; a walker
// without one stops with [ErrUnknown]. A [memo.Memo] has what was audited, for other searches of the same system. In a
// trial, nothing is learned (see [Learner.Try]). So many walkers can take steps at once while nobody learns.
//
// A [Monitor] looks at every step before and after it is taken; a recorder is told what runs read. Reductions and
// symmetry use them. This package knows neither, and no search.
package transition

import (
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/view"
)

// Listener follows what happens within a step.
type Listener interface {
	Began()
	Called(a *Actor, activation behavior.Activation, call CallEvent)
	Ended(a *Actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf)
	// Committed is called when a change comes to wait for a view, and refreshed when a view gets changes that
	// waited for it; without any if it starts again.
	Committed(*view.View)
	Refreshed(v *view.View, changes []view.Change)
}

// Monitor looks at steps as they are taken. An error ends the step.
type Monitor interface {
	Before(*Taken) error
	// After is called where the step leads. One that is blocked leads nowhere else, which depends on what it looked at.
	After(*Taken) error
}

// Inattentive is a [Listener] to which none of it matters but what whoever embeds it listens to.
type Inattentive struct{}

// Began implements [Listener].
func (Inattentive) Began() {}

// Called implements [Listener].
func (Inattentive) Called(*Actor, behavior.Activation, CallEvent) {}

// Ended implements [Listener].
func (Inattentive) Ended(*Actor, behavior.Activation, behavior.Path, *behavior.Leaf) {}

// Committed implements [Listener].
func (Inattentive) Committed(*view.View) {}

// Refreshed implements [Listener].
func (Inattentive) Refreshed(*view.View, []view.Change) {}
