package core

import "errors"

// Scenario is what users and the rest of the world may do to a system while its
// controllers work. Each action may be taken once, at any moment unless it says otherwise, or never.
type Scenario struct {
	Actions []Action
	// InOrder lets an action be taken only after those before it.
	InOrder bool
	// Alternatives lets one of the actions be taken at most. All of them have to be Settled.
	Alternatives bool
}

// Action is something that a user does, as one step.
type Action struct {
	// Name says it in the user's words, and tells it apart from the others: "delete Widget default/a".
	Name string
	// Do does it. The rules of [Instance] hold: it is a function of the responses it gets. An error means
	// that the user was refused, and gave up, unless it is [ErrNotEnabled].
	Do func(EffectRecorder) error
	// Promise, if it is not nil, says that the user takes the action sooner or later, as long as it stays possible.
	Promise *Promise
	// Settled lets it be taken only where controllers do nothing but wait for timers: the system has settled, until
	// then.
	Settled bool
}

// Promise is what controllers may count on: somebody who has deleted what others refer to, to create it again.
type Promise struct {
	// Excepts reports whether an item may not count on it: to fail until it is kept is an error of its controller's,
	// such as to look for the very object that was deleted. Nil excepts nobody.
	Excepts func(Item) bool
}

// ErrNotEnabled is the error of an action that cannot be taken in this state, such as the failure of what is not there.
// Then there is no step: effects of the action are dropped, and it may be taken later.
var ErrNotEnabled = errors.New("the action is not enabled in this state")

// User is the name under which the actions of a scenario are told. No controller may
// have it.
const User = "user"
