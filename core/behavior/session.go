package behavior

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// Activation is what a run is about: an event to handle if Event is set, a request to reconcile otherwise.
type Activation struct {
	Event   *core.Event
	Request core.Request
	// Of names the strategy that is activated, where an instance is that of several.
	Of string
	// Own is what the process is to do by itself, if it is not to handle an event or to reconcile, and Turn the place of the call
	// that it goes on with among those that wait, in the order of their identities.
	Own  Own
	Turn int
	// Call tells that call apart if the instance may have others wait that have to do with other requests than Request: it is as
	// in [Rest], or in a trace. It is empty if there are none, or if they count.
	Call string
	// Clock is how far the clock has moved when the run begins, besides the time that has passed.
	Clock time.Duration
	// Passed is how much time has passed for the run when it begins, and Now for the world.
	Passed, Now time.Duration
	// Apart is how much later than that the run begins, as each time that was written before stands for a moment of its own: less
	// than any time that is waited for.
	Apart time.Duration
	// Since is the memory of the instance when the run begins, nil if it is a fresh one.
	Since *Memory
	// Seed is what the random values follow from that the run draws, 0 if they are left to chance. Variation tells apart runs
	// that draw others.
	Seed      uint64
	Variation int
	// Parts are the runs that it stands for if instances for several requests handle the event, each with what it remembers:
	// there is none that does it all.
	Parts []Run
}

// Memory is what an instance keeps of what it has done, by what it shows of it.
type Memory struct {
	// Identity tells it apart from the other memories of the same code. A fresh instance has no memory.
	Identity string
	// Histories are runs of one instance that lead there, the one that was found first before others. Each run begins with the
	// memory that the one before has left.
	Histories [][]Run
}

// String says in a few words what the run is about.
func (a Activation) String() string {
	switch a.Own {
	case Works:
		return "working in the background"
	case Waits:
		return "letting time pass"
	}
	if a.Event != nil {
		return fmt.Sprintf("handling an event of %s", a.Event.Key)
	}
	return "reconciling " + string(a.Request)
}

func (a Activation) run(instance core.Instance, recorder core.EffectRecorder) (end ending) {
	if a.Of != "" {
		instance = instance.(core.Plural).Of(a.Of)
	}
	if a.Event != nil {
		end.requests = instance.Handle(recorder, *a.Event)
	} else {
		if end.result = instance.Reconcile(recorder, a.Request); end.result.Err != nil {
			_ = end.result.Err.Error() // its text is told later on, where nothing contains a panic
		}
	}
	if lender, lends := instance.(core.Lender); lends {
		end.mutated = lender.Mutated()
	}
	return end
}

// Limits bound one run of controller code.
type Limits struct {
	// Deadline is how long, in real time, the run may take between two calls.
	Deadline time.Duration
	// Calls is how many calls it may make.
	Calls int
	// Guard is told what runs, nil if nobody is.
	Guard core.Guard
	// Randomness sets the random values that code draws, nil if nobody can.
	Randomness core.Randomness
}

// Session is an instance at work: it runs real controller code, one activation after the other, and stops at each call
// until it is answered. Panics, deadlocks and endless loops of the code are contained.
//
// The code runs in goroutines of its own. Unless it promised to be sequential, one bubble of virtual time is
// around all runs of a session. Concurrent calls are answered one at a time, once all goroutines have settled: the one
// with the lowest identity first, unless the owner of the session wants another one.
type Session struct {
	limits  Limits
	guarded guarded
	calls   int
	draws   draws
	// set tells that what code draws was ever set, exchanging that it is put to use in another order each time, and
	// reordering that calls may come in any order that have nothing to do with each other; overtook is as [Session.Overtook].
	set, exchanging, reordering bool
	overtook                    int
	// pending are the calls that wait for their answers, in the order of their identities, and turn is which of them
	// is answered next. sites are where they were made, if that is to be known.
	pending []core.Call
	sites   []site
	turn    int
	// slept tells that time has passed in the run before the call or the end that came last.
	slept bool
	// locates tells that it is, and located is told of it.
	locates atomic.Bool
	located *Sites
	// logs get what code logs, nil if nobody asks.
	logs atomic.Pointer[Logs]
	// single tells that the session is over with its first run.
	single bool
	over   bool
	// active tells that the instance works between runs too, and stop tells it to end that, if it wants to be told.
	active bool
	stop   func()
	later  time.Duration // how much later than others the instance starts
	// instance is what is at work. of names the strategy whose memory is looked at, and beside the others of the process.
	instance core.Instance
	of       string
	beside   []string
	// virtual tells that time in the session is virtual, and ticks that something was left behind that goes on for ever.
	virtual, ticks bool
	bubble         atomic.Uint64 // its number
	// outside tells that the set-up may have left goroutines which are in no bubble.
	outside      bool
	watch, doubt *time.Timer

	// The channels are made outside the bubble: whoever waits on them is not idle in the eyes of the bubble, so
	// that its clock stands still.
	tasks   chan task
	asked   chan question
	replies chan answer
	ended   chan ending
	// clock and looked answer tasks that ask for it.
	clock  chan time.Duration
	looked chan map[string]string
	// rested is what the code came to when it was waited for, nil if that is not known.
	rested *rested
	// last is how the session ends, once nothing is left of it.
	last    chan ending
	aborted atomic.Bool
	// cancelled tells that the context has ended: no run comes behind this one.
	cancelled bool
	quit      chan struct{}
}

// task is what an instance is to do next: run an activation, or show what is to be seen of it, or else wait and then tell how far
// the clock has moved.
type task struct {
	activation *Activation
	look       func(*bubble) map[string]string
	wait       time.Duration
}

// question are the calls that wait, with where they were made, and how long the run has slept before.
type question struct {
	calls []core.Call
	sites []site
	slept time.Duration
}

// answer answers to one of the calls that wait.
type answer struct {
	turn     int
	response core.Response
}

// ending is how a run came to its end.
type ending struct {
	result   core.Result
	requests []core.Request
	failure  Failure
	message  string
	// mutated is what the run changed of a cache.
	mutated string
	// late is the first call made after the end of a run.
	late core.Call
	// slept tells that time has passed in the run.
	slept bool
}

func (e ending) leaf() *Leaf {
	return &Leaf{Result: e.result, Requests: e.requests, Failure: e.failure, Message: e.message, Mutated: e.mutated}
}

// OpenFresh makes an instance of a strategy and puts it to work. The session has to be closed or aborted. A panic, an exit of the
// goroutine and a wait beyond the deadline are errors that name the controller. When the context ends, its error is returned.
func OpenFresh(ctx context.Context, strategy core.Strategy, manner Manner, limits Limits) (*Session, core.Instance, error) {
	if manner.Active {
		return openActive(ctx, strategy, manner, limits)
	}
	m, err := newInstance(ctx, strategy, limits)
	if err != nil {
		return nil, nil, err
	}
	s := openMade(m, manner.Sequential, limits)
	s.of, s.beside, s.exchanging, s.reordering = manner.Of, manner.Beside, manner.Exchanges, manner.Reorders
	s.guarded.name = strategy.Describe().Name
	return s, m.instance, nil
}

// open puts an instance to work. The session has to be closed or aborted.
func open(instance core.Instance, sequential bool, limits Limits) *Session {
	return openMade(made{instance: instance}, sequential, limits)
}

func openMade(m made, sequential bool, limits Limits) *Session {
	s := newSession(limits, sequential)
	s.instance, s.outside = m.instance, m.outside
	if sequential {
		go s.sequential(m.instance)
	} else {
		go s.bubbled(func(*bubble) core.Instance { return m.instance })
	}
	return s
}

func newSession(limits Limits, sequential bool) *Session {
	return &Session{
		limits:  limits,
		guarded: guarded{guard: limits.Guard},
		tasks:   make(chan task),
		asked:   make(chan question),
		replies: make(chan answer),
		ended:   make(chan ending, 1),
		clock:   make(chan time.Duration, 1),
		looked:  make(chan map[string]string, 1),
		last:    make(chan ending, 1),
		quit:    make(chan struct{}),
		watch:   time.NewTimer(limits.Deadline),
		doubt:   time.NewTimer(looks),
		virtual: !sequential,
	}
}

// Start starts the one run of a session. The session is closed with the run, which may change how that is said to have ended.
func Start(instance core.Instance, sequential bool, activation Activation, limits Limits) *Session {
	s := open(instance, sequential, limits)
	s.startOnly(activation)
	return s
}

// startOnly starts the one run of the session.
func (s *Session) startOnly(activation Activation) {
	s.single = true
	s.Begin(activation)
}

// Begin begins a run. The one before must have ended. Calls start to count anew.
func (s *Session) Begin(activation Activation) {
	s.calls, s.rested, s.overtook = 0, nil, -1
	if s.guarded.begins(activation) {
		s.beginDraws(activation)
		s.do(task{activation: &activation})
	}
}

// Elapsed returns how far the virtual clock is, between two runs, ahead of where it stood when the last one began: code has
// slept. A sequential run does not look at the clock, which stands still then.
func (s *Session) Elapsed() time.Duration {
	elapsed, _ := s.wait(0)
	return elapsed
}

// wait waits in virtual time between two runs, and returns how far the clock is ahead then, and false if the session has ended.
func (s *Session) wait(d time.Duration) (time.Duration, bool) {
	if !s.guarded.runs("wait", d.String()) {
		return 0, false
	}
	defer s.guarded.rests()
	if !s.do(task{wait: d}) {
		return 0, false
	}
	return await(s, s.clock)
}

// await waits for the answer to a task, and returns false if the session has ended. A session that is overdue is aborted.
func await[T any](s *Session, from <-chan T) (answer T, answered bool) {
	select {
	case answer = <-from:
		return answer, true
	case end := <-s.last:
		s.last <- end
	case <-s.watch.C:
		s.Abort()
	}
	return answer, false
}

// do hands a task to the instance, and returns false if the session is over.
func (s *Session) do(t task) bool {
	if s.over {
		return false
	}
	s.watch.Reset(s.limits.Deadline)
	select {
	case s.tasks <- t:
		return true
	case <-s.quit:
	case <-s.watch.C:
		s.Abort()
	}
	return false
}

// Next lets the run go on to its next call or to its end. Exactly one of call and
// leaf is not nil, unless the context ended: then the session is aborted and the
// error is the context's.
func (s *Session) Next(ctx context.Context) (core.Call, *Leaf, error) {
	if at := s.rested; at != nil {
		s.rested = nil
		return at.call, at.leaf, at.err
	}
	defer s.guarded.rests()
	defer s.endDraw()
	if leaf := s.guarded.leaf(); leaf != nil {
		return nil, s.givesUp(leaf), nil
	}
	s.watch.Reset(s.limits.Deadline)
	s.doubt.Reset(looks)
	for d := (doubts{pause: looks}); ; s.doubt.Reset(d.pause) {
		call, leaf, waits, err := s.arrival(ctx)
		if !waits {
			return call, leaf, err
		}
		began := time.Now()
		leaf = s.locked()
		if d.look(leaf != nil, time.Since(began)) {
			return nil, s.givesUp(leaf), nil
		}
	}
}

// givesUp unwinds a run that ends like that.
func (s *Session) givesUp(leaf *Leaf) *Leaf {
	s.Abort()
	return leaf
}

// rested is where code rests: at a call, or at its end.
type rested struct {
	call core.Call
	leaf *Leaf
	err  error
}

// Settle waits until the code has come to its next call or to its end, for Next to return: nobody else may run on meanwhile.
func (s *Session) Settle(ctx context.Context) {
	if s.rested == nil {
		call, leaf, err := s.Next(ctx)
		s.rested = &rested{call, leaf, err}
	}
}

// Answer answers the call that Next or NextAs returned last, or the one that TurnTo chose.
func (s *Session) Answer(response core.Response) {
	if !s.guarded.goesOn(s.pending[s.turn], response) {
		return
	}
	s.answers()
	s.draw(s.calls)
	select {
	case s.replies <- answer{s.turn, response}:
	case <-s.quit:
	}
}

// Close ends the session between two runs. It returns how the run ended that the leaf is about, now that
// it is known what the runs of the session left behind.
func (s *Session) Close(leaf *Leaf) *Leaf {
	s.endDraw()
	if s.over {
		return leaf
	}
	if s.virtual && !s.active {
		s.ticks = s.outlast()
	}
	s.guarded.runs("close")
	if leaf := s.guarded.leaf(); leaf != nil {
		return s.givesUp(leaf)
	}
	defer s.guarded.rests()
	close(s.tasks)
	s.watch.Reset(s.limits.Deadline)
	select {
	case end := <-s.last:
		s.finished()
		if end.failure != None {
			return end.leaf()
		}
		if end.late != nil {
			closed := *leaf
			closed.Late = end.late
			return &closed
		}
		return leaf
	case <-s.watch.C:
		return s.givesUp(s.overdue())
	}
}

// outlast waits, in virtual time, for what runs have left to be done later. It takes longer and longer strides up to a century,
// which costs nothing where no timer is set. Where something ticks for ever, a stride takes the longer the more ticks there are
// in it: then it goes no further, and returns true.
func (s *Session) outlast() bool {
	const (
		first   = 25 * time.Hour
		century = 100 * 365 * 24 * time.Hour
		// A stride is costly if it takes far longer than one without ticks.
		costly = 50 * time.Millisecond
	)
	slow, watch := slowness{costly: costly}, start()
	for stride := first; stride < century; {
		if _, alive := s.wait(stride); !alive {
			return false
		}
		if slow.lasts(watch.took()) {
			return true
		}
		if slow.inARow == 0 {
			stride *= 2
		}
	}
	return false
}

func (s *Session) finished() {
	s.over = true
	s.watch.Stop()
	s.hush()
	s.release()
}

// unwinding is how long an aborted run may take to unwind before it is left behind, and resolving how long one that looks up a
// name by a resolver of its own may, unless no run comes behind it: package net answers a look-up together with one of the same
// name that goes on already, and an answer that comes from the bubble of another run ends the process.
const (
	unwinding = time.Second
	resolving = 10 * time.Second
)

// Abort unwinds the run where it is: its next look at the world ends it. It waits for
// deferred calls of the run to end, but not for ever: code that never looks at the
// world again is left behind.
func (s *Session) Abort() {
	s.endDraw()
	if s.over || !s.aborted.CompareAndSwap(false, true) {
		return
	}
	if s.guarded.ended = ""; !s.guarded.runs("abort") {
		s.finished()
		return
	}
	defer s.guarded.rests()
	close(s.quit)
	defer s.finished()
	if !s.ends(unwinding) && s.virtual && !s.cancelled && looksUp(goroutine.Stacks()) {
		s.ends(resolving)
	}
}

// ends waits for an aborted run to end, and reports whether it does.
func (s *Session) ends(within time.Duration) bool {
	s.watch.Reset(within)
	select {
	case <-s.last:
		return true
	case <-s.watch.C:
		return false
	}
}

// ask hands the calls that wait to the owner of the session and returns the answer to one of them, and false if
// the run was aborted.
func (s *Session) ask(pending question) (answer, bool) {
	select {
	case s.asked <- pending:
	case <-s.quit:
		return answer{}, false
	}
	select {
	case a := <-s.replies:
		return a, true
	case <-s.quit:
		return answer{}, false
	}
}
