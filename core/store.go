package core

import "time"

// Snapshot is a read-only look at objects. What a store reads through it while
// it answers a call is recorded, and is all that the answer may depend on.
type Snapshot interface {
	// Get returns the content of the object, nil if there is no such object.
	Get(Key) Content

	// List returns the objects of a kind in the order of their keys. An empty
	// namespace means all namespaces.
	List(kind Kind, namespace string) []Object

	// Held returns the versions of an object that somebody may still refer to, besides the one that is there: those
	// that a view shows or has yet to receive, and those that a run under way was shown (see [Versioned]). A store that
	// names versions gives a new one a name that none of them has. They come in a fixed order, each once.
	Held(Key) []Content
}

// Caching is a [Snapshot] that notes the caches which the store reads for itself, such as that of an admission webhook:
// they are not modelled, and show the store as it is. Where caches may be stale, that is a reason against a verdict.
type Caching interface {
	Snapshot

	// ReadsCache says who reads which kind from a cache of its own, in words that fit before "reads".
	ReadsCache(who string, kind Kind)
}

// Store is the port to the simulated world. A store is pure: it keeps no state
// of its own between calls, and equal calls that read equal contents get equal
// answers. Implementations must be safe for use by one goroutine at a time.
type Store interface {
	// Answer answers one call. The snapshot shows the store itself for live
	// calls and the caller's view for cached ones; writes always go to the store.
	// An error means that the world does not model the call (see [Unsupported]);
	// what the real world would refuse is a response, not an error.
	Answer(Snapshot, Call) (Answer, error)

	// Normalize returns the canonical forms of all versions of one object that can still be seen, once a step is over:
	// values that only count up (a generation, a number that tells equal versions apart) are brought to the smallest
	// ones that keep their order, across the versions, and keep different versions different. The versions are in the
	// order of their age as far as it is known, and so are the results. Those which somebody remembers by their names
	// are pinned: they stay as they are, and the others are brought to the smallest values between theirs. Nil pins
	// none. Normalize is idempotent.
	Normalize(key Key, versions []Content, pinned []bool) []Content

	// Outcome returns the fields of an object that matter when two ends of a
	// run are compared: without versions and times. It returns nil
	// for an object that does not matter at all.
	Outcome(Key, Content) any

	// CanonicalOutcome returns an outcome in a form that does not depend on what the store chose by itself, such as
	// generated names: the same for outcomes that are equal up to an exchange of what was chosen, wherever it stands,
	// and different for all others. The objects are all those of the state. The outcome has the fields of some of them,
	// by key, as [Store.Outcome] returns them or with fewer fields; it is not changed. If the store chooses nothing, it
	// is the result.
	CanonicalOutcome(objects []Object, outcome map[Key]any) map[Key]any

	// Faults returns the ways in which a call may fail without a reason in the state, because of the network, of the
	// server, or of somebody the model does not know; none if it cannot. It must be a function of the call.
	Faults(Call) []Fault
}

// Dated is a store that names times in what it answers and writes, such as when an object was created.
type Dated interface {
	Store
	// After returns the store as it is when its clock is so far ahead of where it stood at the start.
	After(time.Duration) Store
}

// Ordering is a store that names versions of objects so that nobody can tell from the names which of two is newer, and
// that can let them tell. The first takes fewer names and so has fewer states. A search begins with that, and turns to
// the other when it finds out that a controller compares names.
type Ordering interface {
	Store
	// Ordered returns the store with names that are in the order of numbers, those of the same length in that of texts:
	// a new version has a name behind those of all versions of the object that somebody may still refer to.
	Ordered() Store
}

// Adopting is a store, or a strategy, to which kinds come to matter: those that somebody has to look after of which
// nobody knew before the search came to them. A search has the store, and all strategies that are adopting, adopt them.
type Adopting interface {
	// Adopted returns the store, or the strategy, that it is with some kinds more. It is a [Store] of the one, and a
	// [Strategy] of the other.
	Adopted(kinds []Kind) any
}

// Knowing is a store that knows which kinds of objects there may be.
type Knowing interface {
	Store
	// Knows reports whether there may be objects of a kind.
	Knows(Kind) bool
}

// Noting is a store that says whether one of its objects names another one: by a uid, for example, which the store that
// has chosen it must not give away again as long as that is so.
type Noting interface {
	Store
	// Notes reports whether a name that a store has chosen stands in one of the objects.
	Notes(state Snapshot, name string) bool
}

// Surrounded is a [Snapshot] of one of several stores.
type Surrounded interface {
	Snapshot
	// NotedBeside reports whether a name that the store has chosen stands in an object of another store.
	NotedBeside(name string) bool
}

// Presuming is a store that takes objects to be there which nobody has to give it, such as the namespaces of others,
// and says so in its answers. It must not if somebody makes them: when a search finds out that one that was presumed is
// made, it begins again with a store that knows.
type Presuming interface {
	Store
	// Making returns the store with some objects that somebody makes: none of them is there before that.
	Making(keys []Key) Store
}

// Counting is a store that counts what happens to each object, such as how often what is wanted of it has changed (its
// generation), and shows the number. That it grows without end would make a new state of each round that leads back to
// where it began, so [Store.Normalize] brings such numbers to the smallest ones that keep their order, wherever it
// knows that they stand. Code that keeps one elsewhere, such as in its memory or in the name of another object, would
// take a new number for the one that it knows: a search finds out by itself of which kinds that makes a difference, and
// those stay as they were counted.
type Counting interface {
	Store

	// Counted returns the store in which those of the objects of some kinds stay as they were counted.
	Counted(kinds []Kind) Store

	// Further returns how objects would be shown if so much more had been counted for each of them: for one, more than
	// [MostCounted] more than for the one before.
	Further(by map[Key]int) Further
}

// Further is how objects would be shown if more had been counted for some of them.
type Further interface {
	// Content returns a content of an object as it would be shown, itself if it shows no number.
	Content(Key, Content) Content

	// Response returns a response as it would be, itself if it shows no number.
	Response(Response) Response

	// Call returns a call that writes such numbers as it would be if no more had been counted: with smaller ones in the
	// places where [Store.Normalize] looks for them. It writes what it says in one form, so that two calls that differ
	// in nothing else are equal. Calls that write nothing are returned as they are.
	Call(Call) Call
}

// FurtherEach is several of them, one after the other, such as those of several stores.
type FurtherEach []Further

// Content implements [Further].
func (f FurtherEach) Content(key Key, content Content) Content {
	for _, one := range f {
		content = one.Content(key, content)
	}
	return content
}

// Response implements [Further].
func (f FurtherEach) Response(response Response) Response {
	for _, one := range f {
		response = one.Response(response)
	}
	return response
}

// Call implements [Further].
func (f FurtherEach) Call(call Call) Call {
	for _, one := range f {
		call = one.Call(call)
	}
	return call
}

// MostCounted is how far anything is counted, so that larger numbers tell of which objects they are.
const MostCounted = 1_000_000

// Assuming is a store that takes something for granted, as has turned out while it was asked.
type Assuming interface {
	Store
	// Assumptions are sentences for the report, in a fixed order.
	Assumptions() []string
}

// Fault is a way in which a call fails.
type Fault struct {
	// Name says it in a word or two, for example "timeout" or "committed, but the answer is lost".
	Name string
	// Response is what the caller gets.
	Response Response
	// Commits tells that the writes of the call take place all the same.
	Commits bool
	// Overtaken are objects that somebody else has written before, which is why the call fails. What he has written
	// makes no difference to the objects, but who watches them is told.
	Overtaken []Key
}
