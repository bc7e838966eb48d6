package core

// Snapshot is a read-only look at objects. What a store reads through it while
// it answers a call is recorded, and is all that the answer may depend on.
type Snapshot interface {
	// Get returns the content of the object, nil if there is no such object.
	Get(Key) Content

	// List returns the objects of a kind in the order of their keys. An empty
	// namespace means all namespaces.
	List(kind Kind, namespace string) []Object
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

	// Settle returns the canonical form of a content that was written, once the
	// step that wrote it is over: values that only count up (a generation, a
	// marker of the writes within one run) are brought to the smallest ones that
	// keep their order. Settle is idempotent.
	Settle(Key, Content) Content

	// Outcome returns the fields of an object that matter when two ends of a
	// run are compared: without versions, times, generated names. It returns nil
	// for an object that does not matter at all.
	Outcome(Key, Content) any
}
