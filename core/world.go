package core

import "context"

// World is a real world, outside of the search, in which recorded calls can be carried out, such as a real API server.
type World interface {
	// Do carries out a call in the way that it was recorded: a read from a stale cache is answered as that
	// cache would, and what the world chooses by chance, it chooses as recorded. The error is for calls
	// that could not be carried out at all, or a [DeviationError]; what the world refuses is a response.
	Do(context.Context, Call, RecordedCall) (Response, error)

	// Event returns what the event handlers of a controller get, with the versions of the object that the world had
	// then. The error is for versions that cannot be read, or a [DeviationError].
	Event(context.Context, TraceEvent) (Event, error)

	// Shows tells how the world differs from what a recorded change says is there
	// after it, empty if it does not.
	Shows(context.Context, TraceChange) (string, error)
}

// RecordedCall is a call of a trace, for a [World] to carry out once more.
type RecordedCall struct {
	TraceCall
	// Changes are what the step of the call changed, all calls together.
	Changes []TraceChange
}

// Deviation is where a run goes another way than its trace.
type Deviation struct {
	// Step is the number of the step, from 1; 0 is the start.
	Step int
	// Reason says what is different.
	Reason string
}

// DeviationError is the error of a [World] that says what is different about a run: it ends the run, and has not
// failed.
type DeviationError string

// Error implements error.
func (d DeviationError) Error() string { return string(d) }
