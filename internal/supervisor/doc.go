// Package supervisor runs a command in a process of its own and outlives it.
//
// Controllers may end the process that they run in: with os.Exit, with a panic in a goroutine of their own, with what
// the Go runtime recovers nobody from. The command that checks them then starts again, and knows better: [Run] starts
// it, a [Child] in it notes where code stands before it runs on, and says so to [core.Guard]s. So the end of a process
// is a finding about a run, as a panic is, and the search goes on beside it.
//
// A test binary is its own supervisor if its user asks for that ([RunTests]). If not, a witness waits for its end, and
// says who was at work ([Witness]).
//
// What a child notes is in memory that both share, which the end of a process leaves as it is: to note it takes less
// than a microsecond.
package supervisor
