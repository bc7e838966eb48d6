package core

import (
	"cmp"
	"strings"
	"time"
)

// EffectRecorder is the port through which a strategy acts on the world. Every
// call is recorded with its response: a run is remembered by them.
//
// Do may be called by several goroutines of a run at once; concurrent calls are
// answered one at a time, in the order of their identities. Do may never return:
// it unwinds the calling goroutine when the run is not needed any further, with
// its deferred calls run.
type EffectRecorder interface {
	Do(Call) Response
}

// Timekeeper is an [EffectRecorder] that tells sequential code how far the clock of the world is ahead of where it
// stood at the start. Other code looks at the clock.
type Timekeeper interface {
	EffectRecorder
	Later() time.Duration
}

// Description is what a strategy declares about itself. It must not change.
type Description struct {
	// Name tells the strategy apart within its system.
	Name string

	// Process names what the strategy runs in together with others, as the controllers of one manager do: they have one
	// memory, one cache for each kind, and they crash and start again as one. An instance of each of them is a [Plural]
	// one. Empty is a process of its own, called as the strategy is.
	Process string

	// Watches are the kinds whose changes are delivered to the strategy. The
	// initial list of a watched kind is delivered at start, as create events.
	Watches []Kind

	// Caches are kinds that the strategy reads through its cache without watching them: nothing is delivered to its
	// handlers, but it has a view of each, which may lag behind. A kind that is not declared is found out when a run
	// reads it by a call that is [Cached].
	Caches []Kind

	// Initial are requests that are in the work queue at start, besides what
	// the events of the initial list enqueue.
	Initial []Request

	// Standing are requests that are always in the work queue: running one does
	// not take it from there. They are the guarded actions of textbook models,
	// which say by [Result.Blocked] where they are not enabled.
	Standing []Request

	// Messages says that the requests are messages: each is there because somebody sent
	// it, and no resync or restart would bring it again.
	Messages bool

	// Unfair lifts the assumption that work which stays enabled is eventually
	// taken (weak fairness), for every request of the strategy.
	Unfair bool

	// Merging says that the work queue has one entry for each request, which is due at one time: who is put into it at
	// once, or is there already, has no timer any more. In other queues, a timer is there besides.
	Merging bool

	// Workers is how many requests may be in flight at once; 0 means 1.
	Workers int

	// Active says that an instance is an [Active] one. It is found out of any strategy when a run leaves something to
	// be done later.
	Active bool

	// Divided says that an instance is a [Divided] one, and that the strategy is taken to depend on its own memory
	// only.
	Divided bool

	// Opaque says that goroutines which an instance leaves at work may keep what its memory does not show, such as the
	// local variables of a function. What they do next is then taken to depend on all that the run was answered in
	// which they were set off, if they make a call at once; if they do not, it is found out whether it depends on how
	// an instance came to its memory.
	Opaque bool

	// Sequential promises that runs start no goroutines, do not look at the
	// clock, and do not block. They are then run without a bubble of virtual
	// time around them.
	Sequential bool
}

// ProcessName returns the name of the process that the strategy runs in.
func (d Description) ProcessName() string { return cmp.Or(d.Process, d.Name) }

// begins reports whether there is something that the strategy is run for, without anybody who enqueues requests for it.
func (d Description) begins() bool {
	return len(d.Watches) > 0 || len(d.Initial) > 0 || len(d.Standing) > 0 || d.Messages || d.Active
}

// sharesWithOneThatBegins reports whether another strategy, which is run for something, is in the same process, so that
// it may enqueue requests for this one.
func (d Description) sharesWithOneThatBegins(other Strategy) bool {
	if other == nil || d.Process == "" {
		return false
	}
	o := other.Describe()
	return o.Process == d.Process && o.begins()
}

// Strategy is the port for a controller, or for anything else that takes steps.
type Strategy interface {
	// Describe returns what the strategy declares about itself.
	Describe() Description

	// New returns a fresh instance with empty memory. Instances must not share
	// mutable state. An error is a mistake of the user's and says what to change.
	New() (Instance, error)
}

// SecondInstance returns the name under which the second of two instances of a strategy, active at
// once, takes its steps.
func SecondInstance(name string) string { return name + " (second instance)" }

// Instance is a strategy at work. Handle and Reconcile must be functions of
// their arguments and of the responses they get: nothing else they look at
// (clock, random numbers, memory of earlier runs, the order of a map) may change
// which calls they make or what they return. This is audited, and a strategy
// that breaks it is reported. The methods are never called concurrently.
type Instance interface {
	// Handle is the event handlers of the strategy. It returns the requests to
	// enqueue.
	Handle(EffectRecorder, Event) []Request

	// Reconcile works on one request.
	Reconcile(EffectRecorder, Request) Result
}

// Introspective is an [Instance] whose memory can be looked at. What is different in it from that of a fresh instance
// is part of the state, so that the instance may depend on it. What it does not show must not make a difference.
type Introspective interface {
	Instance

	// Memory returns the values that can be reached from the instance, by the way to each, such as
	// "Reconciler.seen[default/a]". It is called between runs, and where a run waits for the answer to a call.
	Memory() map[string]string
}

// These stand in a memory for locks that are held. In the midst of a run one may be, without anybody keeping it: who
// crashes then loses nothing by it.
const (
	Locked     = "(locked)"
	ReadLocked = "(locked by readers)"
)

// Plural is an [Instance] of a process that several strategies run in. The memory of an [Introspective] one is that of
// the whole process.
type Plural interface {
	Instance

	// Of returns another strategy of the process at work, by its name, nil if there is none. What it does and what this
	// one does change the same memory.
	Of(strategy string) Instance
}

// Divided is a [Plural] instance that can tell the memory of one strategy from that of the others. What two of them can
// reach is in the memory of both. A run that changes what is in the memory of another strategy is found out: then all
// strategies of the process are taken to share one memory.
type Divided interface {
	Introspective
	Plural

	// MemoryOf returns what [Introspective] says, as far as it can be reached from one strategy of the process. It is
	// not called for others.
	MemoryOf(strategy string) map[string]string
}

// Active is an [Instance] that also works between activations, in goroutines that wait for something: for what
// activations leave them to do, for what is sent into a channel, or for the time. It does so from its start on, in the
// bubble of virtual time that all of its activations run in.
type Active interface {
	Instance

	// Start is called once, before all activations. It returns what is to run in goroutines of its own from then on.
	// Calls that are not those of an activation go through the recorder.
	Start(EffectRecorder) []func()

	// Stop tells what Start has started to end, as far as it can. It does not wait.
	Stop()
}

// Lender is an [Instance] that hands out what its caches hold without copying it, as informers do. Who changes that
// changes the cache for everybody.
type Lender interface {
	Instance

	// Mutated returns which object of a cache was changed in the last run, and where: "Widget default/a: spec.parts: 1
	// → 2". It is empty if none was. It is called between runs.
	Mutated() string
}

// Background returns the name under which a process takes the steps of what it does between activations.
func Background(process string) string { return process + background }

// BackgroundOf returns the process of which a name is that of what it does between activations, and false if it is the
// name of something else.
func BackgroundOf(name string) (process string, ok bool) { return strings.CutSuffix(name, background) }

const background = " (background)"

// Pristine is a [Strategy] that knows what its instances remember when they are fresh: if they remember more by now, it
// is kept outside of them.
type Pristine interface {
	Strategy

	// Pristine returns the memory of an instance that was made before any had run, see [Introspective]. Of a [Divided]
	// one, it returns that of the strategy alone if it is asked for.
	Pristine(alone bool) map[string]string
}

// Event is the delivery of one committed change to a strategy: Old is nil when
// the object was created (or first listed), New is nil when it was deleted.
type Event struct {
	Key Key
	Old Content
	New Content
	// Missed tells that the deletion itself was not seen: the object was there when the kind was listed
	// before, and is not now. Old is the version that was seen last.
	Missed bool
	// Initial tells that the object was in the list of the kind that the strategy got when it started, or started
	// again.
	Initial bool
}

// Result is what a reconcile returned.
type Result struct {
	// Err is the error it returned. The request is retried.
	Err error
	// Requeue asks for another run at once.
	Requeue bool
	// RequeueAfter asks for another run later, when positive. The duration does
	// not matter to the search.
	RequeueAfter time.Duration
	// Blocked says that the request is not enabled in this state. Then there is
	// no step: effects of the run are dropped and the request stays where it was.
	Blocked bool
}

// Guard is told where code stands before it runs on, so that somebody outside of the process knows that when code has
// ended it. Its methods may be called from any goroutine.
type Guard interface {
	// Runs notes that code runs on from a point, of which the words tell readers what it does. Rests notes that no code
	// runs.
	Runs(from Point, words string)
	Rests()
	// Ended returns in words how code ended an earlier process when it ran on from a point, and false if it is not
	// known to. Code does not run on from there again.
	Ended(from Point) (string, bool)
}

// Point identifies where code stands: a hash of what it is about and of what it was answered so far. It is the same in
// another process.
type Point uint64
