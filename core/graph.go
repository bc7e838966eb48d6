package core

import (
	"cmp"
	"context"
	"fmt"
)

// Graph is what a search has stored: the reachable states and the steps between
// them. Properties that are about runs judge it. It is not safe for concurrent
// use.
type Graph interface {
	// States returns the number of stored states; their ids are below it.
	States() int

	// Initial returns the initial states.
	Initial() []StateID

	// State returns a state.
	State(StateID) State

	// Edges returns the steps from a state in their fixed order. The slice is
	// valid until the next call. A state where nothing can happen has none; it
	// repeats for ever.
	Edges(StateID) []Edge

	// List shows the first n states in the order of their numbers, with their steps, which is faster than to ask for
	// one after the other. It stops with the error of show, or with that of the context when it ends.
	List(ctx context.Context, n int, show func(*Listed) error) error

	// Cut tells that the state was stored but that not all of its steps were
	// taken: a bound was hit, or a call was not supported.
	Cut(StateID) bool

	// Quiescent returns the states in which no work is left that can be done, in the order of
	// their numbers: at most timers are set. Cut states are not among them.
	Quiescent() []StateID

	// Acyclic returns true if the graph certainly has no cycle. False promises
	// nothing.
	Acyclic() bool

	// Shortest returns a run from an initial state to a state that the predicate accepts, and false if there is
	// none: of those with the fewest faults, and of these with the fewest steps on stale views, a shortest.
	Shortest(func(StateID) bool) (Run, bool)

	// Items returns every item that was in a work queue of some state, in order,
	// without standing ones and messages.
	Items() []Item

	// Relisted returns the items that a start of every controller would enqueue in
	// the state: what a resync or a restart would run again.
	Relisted(StateID) []Item

	// Try runs the item in the state, whether or not it is in a work queue there,
	// and returns what that would do: one effect for each order of its concurrent calls that
	// matters and in which it is not blocked there.
	Try(StateID, Item) []Effect

	// Effect reports what a step of the graph changes.
	Effect(Edge) Effect

	// Fair tells that weak fairness is assumed of the step: if it stays
	// enabled, it is eventually taken.
	Fair(Step) bool

	// Surrounds tells that a strategy stands in for what is around the controllers that are checked: what it does is not
	// theirs to mend.
	Surrounds(strategy string) bool

	// Promised returns the promise of a user to take the step sooner or later if it stays possible, nil if there is
	// none. Fair does not count on promises.
	Promised(Step) *Promise

	// History tells which actions of the scenario were taken on the way to a state, and in which
	// order. Only ends with the same history can be expected to be the same.
	History(StateID) []Request

	// Awaited returns the items whose timers are set in a quiescent state for a time that no run comes to: the last of
	// the long times has passed there, and their controller would do something else later. In other states, these are
	// those that would be run, and that would do something else later. So it is with the item for which time passes in
	// the background of a process ([Background]). What the state comes to in the end is not known.
	Awaited(StateID) []Item

	// Outcome returns what matters of the objects of a state, by key.
	Outcome(StateID) map[Key]any

	// CanonicalOutcome returns an outcome of a state, or what is left of it if somebody leaves out fields, in the form
	// in which outcomes are compared (see [Store]).
	CanonicalOutcome(StateID, map[Key]any) map[Key]any

	// Incidents returns what went wrong while controller code was run, each thing once, in
	// the order of discovery.
	Incidents() []Incident
}

// IncidentKind is a way in which running controller code goes wrong.
type IncidentKind string

// The kinds of incidents.
const (
	// Panicked code was treated as if it had returned an error.
	Panicked IncidentKind = "panic"
	// Stuck code never came back: it deadlocked, ended its goroutine or the process, took longer than the deadline, or
	// left goroutines behind that are blocked for ever. The search does not go on behind it.
	Stuck IncidentKind = "stuck"
	// Runaway code made more calls than the limit. The search does not go on behind it.
	Runaway IncidentKind = "runaway"
	// Nondeterministic code did something else when it was run again with the same responses.
	Nondeterministic IncidentKind = "nondeterministic"
	// Mutated a cache: code changed an object that a cache had handed out, and that everybody reads there.
	Mutated IncidentKind = "cache mutation"
	// Unmodelled code made a call that the world does not model. The search does not go on behind it.
	Unmodelled IncidentKind = "unsupported"
)

// Incident is something that went wrong while controller code was run.
type Incident struct {
	Kind IncidentKind
	// Strategy is the controller whose code it was, and Handling the object whose event
	// it was handling, nil if it was reconciling.
	Strategy string
	Handling *Key
	// Request is what it was reconciling, empty if that is what the step is for.
	Request Request
	// State and Step are where it happened. AtStart tells that it happened outside of any step, when
	// the objects of the state were listed: before the first step, or to see what a restart would run.
	State   StateID
	Step    Step
	AtStart bool
	// Message says what happened, Details are further lines.
	Message string
	Details []string
	// Cause is what nondeterministic code looks at besides the responses that it gets, empty for other incidents.
	Cause Cause
	// Slept tells that nondeterministic code had let time pass before it went another way.
	Slept bool
	// Reordered tells that nondeterministic code did the same in another order.
	Reordered bool
}

// Doing says what the code was doing.
func (i Incident) Doing() string {
	if i.Handling != nil {
		return fmt.Sprintf("handling an event of %s", i.Handling)
	}
	return fmt.Sprintf("reconciling %s", cmp.Or(i.Request, i.Step.Item.Request))
}

// Cause is what code looks at that is not a function of the responses that it gets.
type Cause string

// The causes for which code is not deterministic.
const (
	// Chance is random numbers, the order of a map, a select, or what the whole process shares.
	Chance Cause = "chance"
	// Memory is what an instance remembers of earlier runs.
	Memory Cause = "memory"
	// Clock is the time.
	Clock Cause = "clock"
)

// Effect is what running one item would change.
type Effect struct {
	// Order says in which order concurrent calls would be answered, see [Step.Order].
	Order string
	// Changes are the objects it would change, as they are before and after.
	Changes []Change
	// Wrote tells that it would commit a write, even if a later one undid it.
	Wrote bool
	// Alike tells that each object counts in outcomes as it did before: nothing else would change than times and the
	// like.
	Alike bool
	// Dated tells that it would change objects, and nothing in them but times. It is known of the effects of steps, see
	// [Graph.Effect].
	Dated bool
	// Failed is the error it would return, empty if none.
	Failed string
}

// Change is the difference that a step makes to one object. Before is nil for a
// created object, After for a deleted one.
type Change struct {
	Key    Key
	Before Content
	After  Content
}
