// Package replay runs recorded reconciles again, with the code of today.
//
// Each reconcile of a recording ([live]) is run in a session of package behavior: real code, in a bubble of virtual
// time in which it begins when it began. Each of its calls is held against the recorded one, and answered with the
// recorded answer. It is the same if it makes the same calls and ends in the same way; else it parts, and the first
// call that differs is told with the fields that do ([Parting]).
//
// The reconciles of a process run on one instance, in the order in which they began, and the events that were recorded
// are delivered to its event handlers in between: what controllers keep in memory is then what it was. What parts is
// run again on fresh instances, to see whether memory or chance makes the difference.
//
// What cannot be told is not told: a reconcile that parts where something is missing (entries that were dropped, values
// that are redacted, memory from before the recording, calls that failed without an answer) is counted among those that
// were not replayed, with the reason ([Report.Missed]). One that is the same in spite of that is the same.
//
// The package knows no Kubernetes: the store of a system reads the calls ([Interpreter]).
package replay
