// Package foreign makes recordings of package record/live of what others have recorded: audit logs of API servers
// ([Audit], [Receiver]) and traces of SimKube ([SimKube]).
//
// What the others did not record is not made up. Each recording says in an entry of its own what it cannot know: from
// an audit log nobody learns what a cache answered, why a request was in a queue, or which reconcile made a call; from
// a trace of SimKube, nobody learns who wrote something. Where versions have no number that orders them, they are
// counted, and the recording says so, too.
//
// Nothing that is read is run or believed. Lines that are no events are counted and left out; sizes are bounded; values
// of Secrets and tokens are replaced by digests, as in recordings of one's own.
package foreign
