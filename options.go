package orrery

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/record/checkpoint"
)

// Search names an order of exploration.
type Search string

const (
	// BreadthFirst visits states in the order of their distance from the start.
	BreadthFirst Search = "bfs"
	// DepthFirst follows each run to its end before it turns to the next.
	DepthFirst Search = "dfs"
	// RandomWalks goes from the start to an end again and again, by steps chosen at random. Like the other walks it is
	// for systems that are too large to be searched: what it finds is real, and if it does not happen to come to all
	// states, the check is inconclusive at best.
	RandomWalks Search = "random"
	// PriorityWalks gives controllers priorities at random, which change at [Options.ChangePoints] points of each walk.
	// Bugs that only show if few things happen in the wrong order are found soon so.
	PriorityWalks Search = "pct"
	// SwarmWalks takes walks of different kinds in turn.
	SwarmWalks Search = "swarm"
)

// Reduction names a way to leave out orders of steps.
type Reduction string

const (
	// ByPartialOrder leaves out orders that make no difference to what is checked.
	ByPartialOrder Reduction = "por"
	// BySymmetry visits one of the states that differ only in which of the names is which that the system declares to
	// be interchangeable, after it has checked that controllers treat them alike. Where that cannot be made use of, it
	// is as ByPartialOrder, and the report says why; so it is where something was found, so that it can be shown in
	// full.
	BySymmetry Reduction = "symmetry"
	// NoReduction visits every order.
	NoReduction Reduction = "none"
)

// Granularity names what is one step.
type Granularity string

const (
	// PerReconcile takes a reconcile from its begin to its end as one step: nothing that it reads changes while it
	// runs.
	PerReconcile Granularity = "reconcile"
	// PerCall takes each call of a reconcile as a step of its own.
	PerCall Granularity = "call"
)

// Defaults of [Options].
const (
	// DefaultWalks, 1000, is how many walks there are.
	DefaultWalks = explore.WalkCount
	// DefaultWalkLength, 1000, is how many steps a walk has at most.
	DefaultWalkLength = explore.WalkLength
	// DefaultDeadlines, 2, is how often a long time passes for controllers that wait for times.
	DefaultDeadlines = 2
	// NoDeadlines lets no long time pass.
	NoDeadlines = -1
	// DefaultOrders, 24, is in how many orders concurrent calls are answered at most.
	DefaultOrders = explore.DefaultOrders
)

// walks reports whether a search is one by walks.
func (s Search) walks() bool { return s.order().Walks() }

func (s Search) order() explore.Order {
	switch s {
	case DepthFirst:
		return explore.DepthFirst
	case RandomWalks:
		return explore.RandomWalks
	case PriorityWalks:
		return explore.PriorityWalks
	case SwarmWalks:
		return explore.SwarmWalks
	}
	return explore.BreadthFirst
}

// Options bound and steer a check. The zero value searches everything,
// breadth-first, with one worker.
type Options struct {
	// Search is the order of exploration; empty means [BreadthFirst]. The verdict and the counts of [BreadthFirst] and
	// [DepthFirst] are the same.
	Search Search
	// Workers is the number of goroutines that expand states; 0 means 1. Nothing in the
	// result depends on it but the time it takes.
	Workers int

	// MaxStates, MaxDepth, MaxTime and MaxMemory (bytes in use by the process) bound the search; 0 means no bound. A
	// search that hits a bound is at best inconclusive. MaxTime is for judging as well: the search ends when four
	// fifths of it are over.
	MaxStates int
	MaxDepth  int
	MaxTime   time.Duration
	MaxMemory int64
	// Walks is how many walks there are; 0 means [DefaultWalks], or as many as MaxTime allows. Each has MaxDepth steps
	// at most; 0 means [DefaultWalkLength].
	Walks int
	// ChangePoints is how often priorities change in a walk of [PriorityWalks].
	ChangePoints int

	// Compact keeps a hash of each state in place of the state: far less memory for a breadth-first search. Two states
	// with the same hash would be taken for one; the report says how likely that is. Findings are as
	// real as ever.
	Compact bool

	// StepDeadline bounds one run of controller code, in real time; 0 means ten seconds. A run that does not end in
	// time is given up, and reported.
	StepDeadline time.Duration
	// MaxCalls bounds the calls of one run of controller code; 0 means 10,000. A run that makes more is a runaway and
	// reported.
	MaxCalls int

	// Reduction says whether orders of steps are left out that cannot matter; empty means [ByPartialOrder].
	Reduction Reduction
	// Granularity is what is one step; empty means [PerReconcile].
	Granularity Granularity
	// Stale says which caches may be stale, and how: otherwise they are fresh.
	Stale []Staleness
	// Crashes and Failures are how often, in one run, a controller may crash and start again, and a call may fail.
	Crashes  int
	Failures int
	// FaultsIn names the controllers, or the processes, that may crash and whose calls may fail; empty means all of
	// them. Who shares the process of a controller crashes with it. Stand-ins for parts of Kubernetes are better left
	// out.
	FaultsIn []string
	// Doubles names controllers, or processes, of which two instances are active at once, as after a lost lease. Those
	// that share a process are so together.
	Doubles []string
	// IgnoreMemory names fields of controllers, such as "Reconciler.metrics", whose contents make no difference to what
	// they do, with all that can be reached from them. What else controllers keep in memory from one reconcile to the
	// next is part of each state; the report names it.
	IgnoreMemory []string
	// Orders is in how many orders the calls are answered at most that a reconcile makes concurrently, from several
	// goroutines; 0 means [DefaultOrders]. Only orders that may matter count. Where there are more, the check is
	// inconclusive at best; so it is with 1, which leaves one order.
	Orders int
	// Deadlines is how often, in one run, so much time passes that whatever controllers wait for is over: a deadline,
	// the expiry of a certificate, a time to live. Time passes where nothing else is to be done, and only if a
	// controller is found to wait for a time. 0 means [DefaultDeadlines]. With [NoDeadlines] a check of such a
	// controller is inconclusive at best, as later times are not searched.
	Deadlines int
	// awaiting are the controllers that were found to wait for times when a report was made.
	awaiting []string
	// spans are the times that passed besides the long one.
	spans []time.Duration
	// ages are the groups of kinds of which objects are of different ages, and turned tells that of those at the start,
	// the last ones are the oldest.
	ages   [][]core.Kind
	turned bool
	// apart are the kinds of which each time that is written into an object is seconds after those before.
	apart []core.Kind
	// caches are the kinds that controllers were found to read through their caches when a report was made.
	caches []explore.CachedKind
	// remembering are the controllers that were found to keep memory when a report was made, and whole those of them
	// whose memory was not kept by request. active are those that were found to work between their activations.
	remembering, whole, active []string
	// ordered tells that a controller was found to compare the names of versions when a report was made.
	ordered bool
	// counted are the kinds of which controllers were found to heed what is counted when a report was made.
	counted []core.Kind
	// adopted are the kinds that mattered to the world when a report was made.
	adopted []core.Kind

	// Comparisons are rules for comparing objects, such as [properties.Without] makes: all properties that compare
	// objects follow them.
	Comparisons []core.Comparison

	// Memo is what checks of the same system have found out about the code of its controllers, and gets what this one
	// does: checks that share one run code only for what is new. It makes no difference to what they find. Nil shares
	// nothing.
	Memo *Memo

	// Checkpoint keeps what the search finds in a file while it goes on, and is where it goes on from if the file is
	// one of a search that was ended. It is for one check, and not for walks. What must be the same is its
	// [checkpoint.Identity]; limits and workers need not be. Nil keeps nothing.
	Checkpoint *checkpoint.File

	// Guard is told what code runs, so that it is known what was at work when code has ended the process. Nil is
	// nobody. The command has one, and so have [Check] and [CheckWith].
	Guard core.Guard

	// Logs has the stories of findings say what controllers log in each step. They are listened to when a story is
	// told, and in no search: it makes no difference to what is found. Records and pages then hold what controllers
	// log, whatever that is.
	Logs bool

	// Params are the parameters that the system was built with; they are recorded with the result.
	Params map[string]string

	// Seed makes walks repeatable: with the same seed they make the same choices.
	Seed int64

	// Logger gets what [Run] and [Replay] do, at the levels Debug and Trace; nil logs nothing. What controllers log
	// goes elsewhere: where, the adapter says.
	Logger hclog.Logger

	// Progress, if set, is called now and then from the searching goroutine.
	Progress func(Progress)
}

// Memo is what checks of one system find out about the code of its controllers, see [NewMemo]. Checks at the same time
// may share one.
type Memo struct{ found *explore.Memo }

// NewMemo returns an empty memo, for the options of several checks of one system.
func NewMemo() *Memo { return &Memo{explore.NewMemo()} }

// Progress is how far a search has come.
type Progress struct {
	States      int
	Transitions int
	Frontier    int
	Depth       int
	// Runs is how often the code of controllers was run until now. It goes up while nothing else does, as code is run
	// again and again to find out what its runs depend on.
	Runs            int
	Elapsed         time.Duration
	StatesPerSecond float64
	MemoryBytes     int64
	// Estimate is what is still to come, as far as the search can tell.
	Estimate Estimate
}

// Estimate is what the levels of a breadth-first search tell of what is still to come; zero if they tell nothing. A
// level is all states at one distance from the start. The estimate extrapolates: it is no bound.
type Estimate struct {
	// Growth is by what factor a level is wider than the one before, lately; 0 if there are too few levels to tell.
	Growth float64
	// Ends tells that the levels shrink. Then More is about how many states are still to be found; otherwise about how
	// many there are in the next level alone.
	Ends bool
	More float64
}

// String says it in a few words, such as "about 1,200 more states"; nothing if nothing is known.
func (e Estimate) String() string { return explore.Estimate(e).Short() }
