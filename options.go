package orrery

import "time"

// Search names an order of exploration.
type Search string

const (
	// BreadthFirst visits states in the order of their distance from the start.
	BreadthFirst Search = "bfs"
	// DepthFirst follows each run to its end before it turns to the next.
	DepthFirst Search = "dfs"
)

// Granularity names what is one step.
type Granularity string

const (
	// PerReconcile takes a reconcile from its begin to its end as one step: nothing that it reads changes while it runs.
	PerReconcile Granularity = "reconcile"
	// PerCall takes each call of a reconcile as a step of its own.
	PerCall Granularity = "call"
)

// Options bound and steer a check. The zero value searches everything,
// breadth-first, with one worker.
type Options struct {
	// Search is the order of exploration; empty means [BreadthFirst]. The verdict and the counts do not depend on it.
	Search Search
	// Workers is the number of goroutines that expand states; 0 means 1. Nothing in the
	// result depends on it but the time it takes.
	Workers int

	// MaxStates, MaxDepth, MaxTime and MaxMemory (bytes in use by the process) bound the search; 0 means no bound. A search that hits
	// a bound is at best inconclusive.
	MaxStates int
	MaxDepth  int
	MaxTime   time.Duration
	MaxMemory int64

	// StepDeadline bounds one run of controller code, in real time; 0 means ten seconds. A run that does not end in time
	// is given up, and reported.
	StepDeadline time.Duration
	// MaxCalls bounds the calls of one run of controller code; 0 means 10,000. A run that makes more is a runaway and reported.
	MaxCalls int

	// Granularity is what is one step; empty means [PerReconcile].
	Granularity Granularity
	// Stale says which views may lag behind the store, each as CONTROLLER/KIND=RULE or, for all of
	// them, all=RULE. Of several that concern a view the last counts. The rules are those of [view.Parse]: fresh, lag(N),
	// own-writes(N), restart(N) and relist.
	Stale []string
	// Crashes and Failures are how often, in one run, a controller may crash and start again, and a call may fail.
	Crashes  int
	Failures int
	// Doubles names controllers of which two instances are active at once, as after a lost lease.
	Doubles []string

	// Params are the parameters that the system was built with; they are recorded with the result.
	Params map[string]string

	// Seed is recorded with the result, for searches that make random choices.
	Seed int64

	// Progress, if set, is called now and then from the searching goroutine.
	Progress func(Progress)
}

// Progress is how far a search has come.
type Progress struct {
	States          int
	Transitions     int
	Frontier        int
	Depth           int
	Elapsed         time.Duration
	StatesPerSecond float64
	MemoryBytes     int64
}
