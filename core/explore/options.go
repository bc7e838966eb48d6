package explore

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// Order is an order in which states are expanded.
type Order int

const (
	// BreadthFirst expands states in the order of their distance from the start.
	BreadthFirst Order = iota
	// DepthFirst expands the states that were found last first.
	DepthFirst
	// RandomWalks goes from the start to an end again and again, each time by steps chosen at random.
	RandomWalks
	// PriorityWalks goes so too, by the steps of whoever has the highest of random priorities, which change now and
	// then.
	PriorityWalks
	// SwarmWalks goes by different kinds of walks in turn.
	SwarmWalks
	// inTurn is one run on which whoever has waited for the longest time is next, see [Growth].
	inTurn
)

// Walks reports whether states are visited by walks from the start, so that not all states need be.
func (o Order) Walks() bool { return o >= RandomWalks }

// Bounds cut a search short. 0 means no bound.
type Bounds struct {
	States int
	// Depth is the length of the longest run that is followed; for walks 0 means [WalkLength].
	Depth int
	// Walks is how many walks there are; 0 means [WalkCount], and no bound if there is one on time.
	Walks int
	// Time is for the search and for those who judge what it found: the search ends when four fifths of it are over.
	Time time.Duration
	// Memory is in bytes, as the Go runtime counts what it holds.
	Memory int64
}

// Options steer a search.
type Options struct {
	Order   Order
	Workers int // at least 1
	Bounds  Bounds
	// Seed makes walks repeatable: what they choose at random is a function of it.
	Seed int64
	// ChangePoints is how often priorities change in a walk by priorities.
	ChangePoints int
	// Reducer leaves out orders that cannot matter; nil leaves out none. Walks leave out none.
	Reducer Reducer
	// Merge merges states that differ only in which of interchangeable names is which, see [core.System]. Then the
	// Reducer is used only if that is not possible or something was found.
	Merge bool
	// Compact keeps 8 bytes of the fingerprint of each state in place of the state, in a breadth-first search. Then a
	// state may be taken for another one and be missed, with the odds that [Space.Odds] tells; and to look at a state
	// again takes the steps that lead to it.
	Compact bool
	// Conditions are what the world may do to the controllers.
	Conditions Conditions
	// Run bounds each run of controller code.
	Run behavior.Limits
	// Memo is what earlier searches of the same system found out about its controllers' code; nil if nothing is known
	// of any.
	Memo *Memo
	// Checkpoint keeps what is found, so that another search can go on from there; nil keeps nothing. Walks keep
	// nothing.
	Checkpoint *Checkpoint
	// Logs has traces say what controllers log.
	Logs bool
	// Progress, if set, is called now and then from the searching goroutine.
	Progress func(Progress)

	// Logger gets what the search does; nil logs nothing.
	Logger hclog.Logger

	// growth looks for growth when a search has become large.
	growth *growth
	// earlier is what was found by searches that were begun again.
	earlier *earlier
	// ran, if set, is called for each run of code.
	ran func()
}

// Progress is how far a search has come.
type Progress struct {
	States      int
	Transitions int
	Frontier    int
	Depth       int
	// Runs is how often code was run until now, however often the search was begun again as more became known of
	// controllers. States are those of the search at hand.
	Runs   int
	Memory int64
	// Estimate is what is still to come, as far as it can be told.
	Estimate Estimate
}

// What the world may do to controllers is said by the same types as in the package of the transition system.
type (
	// Conditions are what the world may do to controllers. With the zero value it does nothing to them.
	Conditions = transition.Conditions
	// Staleness says how far views may lag behind.
	Staleness = transition.Staleness
	// CachedKind is a kind that a controller reads through its cache without watching it.
	CachedKind = transition.CachedKind
	// Granularity is how much of a reconcile is one step.
	Granularity = transition.Granularity
)

// Memo is what searches of the same system found out about the code of its controllers. Any number of searches may use
// one at the same time.
type Memo = memo.Memo

// NewMemo returns an empty memo.
func NewMemo() *Memo { return memo.New() }

// How much of a reconcile is one step: all of it, or each call.
const (
	PerReconcile = transition.PerReconcile
	PerCall      = transition.PerCall
)

// DefaultOrders is in how many orders the concurrent calls of a run are answered at most, if nothing else is said.
const DefaultOrders = transition.DefaultOrders

// What leaves out orders is told about agents, and asked about states, by these types.
type (
	// Reducer leaves out orders of steps that cannot matter.
	Reducer = reduction.Reducer
	// Chooser chooses which agents have to be followed in a state.
	Chooser = reduction.Chooser
	// Choice is what has to be followed in a state.
	Choice = reduction.Choice
	// Enabled is an agent that can take a step in a state.
	Enabled = reduction.Enabled
	// Footprint is what an agent may touch.
	Footprint = reduction.Footprint
	// Way is how the step of an agent goes in a state.
	Way = reduction.Way
	// Place numbers something that steps may touch.
	Place = reduction.Place
)

// learner returns what learns about a system in a search.
func (o Options) learner(ctx context.Context, system *core.System) (*transition.Learner, error) {
	l, err := transition.NewLearner(ctx, system, o.Conditions, o.Run, o.Seed)
	if err == nil {
		l.Memo, l.Ran = o.Memo, o.ran
	}
	return l, err
}

// followed returns the options for a run from each of a few starts, on which whoever has waited for the longest time is
// next.
func (o Options) followed() Options {
	o.Order, o.Workers, o.Reducer, o.Merge, o.Compact, o.Progress, o.Checkpoint = inTurn, 1, nil, false, false, nil, nil
	o.Bounds = Bounds{Memory: o.Bounds.Memory}
	return o
}
