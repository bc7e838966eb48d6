package core

import "fmt"

// Source tells from where a call is answered.
type Source int

const (
	// Live calls read and write the store itself.
	Live Source = iota
	// Cached calls read the caller's own view, which may lag behind the store.
	// They must not write.
	Cached
)

// Call is one thing that a strategy asks of the world. Calls are immutable
// values.
type Call interface {
	// Identity tells the call apart: calls with equal identities are the same
	// call, and a store must answer them the same in the same state.
	Identity() string

	// String says the call in the user's words, on one line, for example
	// "update Widget default/a (status)".
	String() string

	// Source tells from where the call's reads are answered.
	Source() Source
}

// Aimed is a [Call] that says what it does apart from what it writes.
type Aimed interface {
	Call

	// Aim identifies what the call does and to what: calls with equal aims differ at most in the contents that they
	// write. The aim of a call that writes nothing is its identity.
	Aim() string

	// Contents returns what the call writes, as the text that it is written in, so that times can be found in it. It is
	// empty for a call that writes nothing.
	Contents() string
}

// Response is what the world answers to a call. Responses are immutable values.
type Response interface {
	// Identity tells the response apart: a strategy that gets responses with
	// equal identities to all its calls must not be able to tell the runs apart.
	Identity() string

	// String says the response in the user's words, on one line.
	String() string
}

// Versioned is a [Response] that shows versions of objects which the caller may refer to
// later on, such as in the condition of a write.
type Versioned interface {
	Response

	// Versions returns what the response shows. It must be a function of the identity of the response.
	Versions() []Object

	// Retagged returns the response as it would be if versions had other names (see [Tagged]).
	Retagged(names *Retagging) Response

	// Earlier returns the response as it would be if the times at some places of objects that it shows had been so many
	// seconds earlier (see [Aged]), itself if it shows none of them.
	Earlier(by map[Key]map[string]int) Response
}

// Beside is a [Call] that may be [Cached] by another cache than the one whose events its process gets, although both
// are of one kind: real clients keep a cache for each form in which objects are read, and nothing keeps the one in step
// with the other.
type Beside interface {
	Call

	// Beside reports whether it is.
	Beside() bool
}

// Listing is a [Response] that shows several objects. Where a cache shows them, their order says nothing: that of
// client-go goes through a map.
type Listing interface {
	Response

	// Backwards returns the response with its objects in the opposite order, nil if there are fewer than two.
	Backwards() Response
}

// Write is a committed change of one object. A nil Content deletes it.
type Write struct {
	Key     Key
	Content Content
}

// Answer is a response with the effects that the call had.
type Answer struct {
	Response Response
	// Writes are the changes that the call commits, in order. A call that
	// changes nothing has none: writing what is there already is not a write.
	Writes []Write
	// Enqueue are items that the call hands to work queues directly, such as
	// messages between actors. An item without a strategy is for the caller's own queue.
	Enqueue []Item
	// EnqueueAfter are items that the call hands to work queues later: a timer is set for each, as by
	// [Result.RequeueAfter]. A timer stays set, but for queues that merge (see [Description]), if the item is enqueued,
	// or worked on, before it fires.
	EnqueueAfter []Item
	// Presumed are objects that the store takes to be there although nobody has made them, see [Presuming].
	Presumed []Key
}

// Afresh is the error that a store returns besides its answer to a call after which some kinds are to be adopted, see
// [Adopting]: a search begins again with them.
type Afresh struct {
	Kinds []Kind
	// Reason says why.
	Reason string
}

// Error implements error.
func (a *Afresh) Error() string { return a.Reason }

// Unsupported is the error for a call that the simulated world does not model.
// A search that met one never ends in [Holds].
type Unsupported struct {
	// Call says what was asked.
	Call string
	// Reason says what is missing and what the user can do instead.
	Reason string
}

// Error implements error.
func (u *Unsupported) Error() string {
	return fmt.Sprintf("unsupported call: %s: %s", u.Call, u.Reason)
}
