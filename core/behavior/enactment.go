package behavior

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// enactment is a recorded run under way in a world.
type enactment struct {
	world  core.World
	limits Limits
	// strategies are those that take steps, by the names under which they do, and programs the processes that they run
	// in.
	strategies map[string]core.Strategy
	programs   map[string]string
	user       User
	// store knows how calls fail, nil if none can.
	store core.Store
	// flights are the runs that go on from one step to the next, in the order of their begins.
	flights []flight
	// processes are the instances at work of those processes that keep memory in the run, by name: from their start to
	// their crash.
	processes map[string]*Session
	// active are the processes that work between activations.
	active map[string]bool
	// events are those of the step that handlers did not get yet.
	events []core.TraceEvent
}

// flight is a run that goes on from one step to the next.
type flight struct {
	item    core.Item
	session *Session
}

func newEnactment(system *core.System, world core.World, limits Limits) *enactment {
	limits.Randomness = system.Randomness
	user := User{system.Scenario}
	e := &enactment{
		world: world, limits: limits, user: user, store: system.Store,
		strategies: map[string]core.Strategy{core.User: user}, programs: map[string]string{}, processes: map[string]*Session{}, active: map[string]bool{},
	}
	for _, s := range system.Strategies {
		d := s.Describe()
		if d.Active {
			e.active[d.ProcessName()], e.active[core.SecondInstance(d.ProcessName())] = true, true
		}
		second := core.SecondInstance(d.Name)
		e.strategies[d.Name], e.strategies[second] = s, s
		e.programs[d.Name], e.programs[second] = d.ProcessName(), core.SecondInstance(d.ProcessName())
	}
	return e
}

// begins starts the controllers that keep memory anywhere in a run: the others have nothing to remember.
func (e *enactment) begins(ctx context.Context, trace core.Trace) error {
	memory := slices.Clone(trace.Memory)
	for _, step := range trace.Steps {
		memory = append(memory, step.Memory...)
		if kind, _ := core.StepKindOf(step.Kind); kind == core.Work || kind == core.Elapse {
			e.active[e.process(step.Controller)] = true
		}
	}
	for _, change := range memory {
		process := e.process(change.Controller)
		if e.processes[process] != nil {
			continue
		}
		if err := e.open(ctx, process); err != nil {
			return err
		}
	}
	e.events = trace.Events
	return e.handle(ctx, core.TraceStep{}, 0)
}

// end gives up the runs that are still under way, and the instances.
func (e *enactment) end() {
	for _, f := range e.flights {
		f.session.Abort()
	}
	for _, session := range e.processes {
		session.Abort()
	}
}

// step takes a step. It returns a [core.DeviationError] where it goes another way.
func (e *enactment) step(ctx context.Context, step core.TraceStep) error {
	e.events = step.Events
	if strings.Contains(step.Order, core.ByChance) {
		return fmt.Errorf("%s goes on by chance in the story: nobody can make it do so on a real server", step.Controller)
	}
	item := core.Item{Strategy: step.Controller, Request: step.Request}
	kind, _ := core.StepKindOf(step.Kind) // what is tried at the end is reconciled
	var err error
	switch kind {
	case core.Fire:
		return nil // only a work queue changes
	case core.Pass, core.Expire:
		return errors.New("a long time passes in the story: what comes of that is not shown on a real server, where it would have to be waited for")
	case core.Deliver:
		return e.handle(ctx, step, len(step.Calls)) // the rest is a view
	case core.Restart:
		err = e.crash(ctx, step.Controller)
	case core.Begin:
		err = e.begin(ctx, item, step.Seed)
	case core.Ask:
		err = e.flying(item, func(session *Session) error { return e.calls(ctx, session, step) })
	case core.Return:
		err = e.flying(item, func(session *Session) error { return e.returns(ctx, session, step) })
		e.land(func(other core.Item) bool { return other == item })
	case core.Intervene:
		if !e.user.knows(step.Request) {
			return differing("there is no longer a user action %q", step.Request)
		}
		fallthrough
	default:
		err = e.run(ctx, item, step)
	}
	if err == nil {
		err = e.handle(ctx, step, len(step.Calls))
	}
	if err != nil {
		return err
	}
	return e.shows(ctx, step)
}

// process returns the name of the process of who takes steps under a name, which may be the name of a process itself,
// or of what goes on in it between activations.
func (e *enactment) process(name string) string {
	if process, background := core.BackgroundOf(name); background {
		return process
	}
	if program, known := e.programs[name]; known {
		return program
	}
	return name
}

// activation is what a run of who takes steps under a name is about.
func (e *enactment) activation(name string) Activation {
	d := e.strategies[name].Describe()
	if d.Process == "" {
		return Activation{}
	}
	return Activation{Of: d.Name}
}

// start starts a run of a strategy on a fresh instance.
func (e *enactment) start(ctx context.Context, item core.Item, seed uint64) (*Session, error) {
	strategy, known := e.strategies[item.Strategy]
	if !known {
		return nil, differing("there is no longer a controller %q", item.Strategy)
	}
	m, err := newInstance(ctx, strategy, e.limits)
	if err != nil {
		return nil, err
	}
	activation := e.activation(item.Strategy)
	activation.Request, activation.Seed = item.Request, seed
	session := openMade(m, strategy.Describe().Sequential, e.limits)
	session.guarded.name = item.Strategy
	session.startOnly(activation)
	session.Settle(ctx)
	return session, nil
}

// open puts a fresh instance of a process to work.
func (e *enactment) open(ctx context.Context, process string) error {
	var first core.Strategy
	sequential := true
	for _, name := range slices.Sorted(maps.Keys(e.programs)) {
		if e.programs[name] != process {
			continue
		}
		// One that works between activations does what the others do as well.
		if candidate := e.strategies[name]; first == nil || !first.Describe().Active && candidate.Describe().Active {
			first = candidate
		}
		sequential = sequential && e.strategies[name].Describe().Sequential
	}
	if first == nil {
		return differing("there is no longer a controller %q", process)
	}
	session, _, err := OpenFresh(ctx, first, Manner{Sequential: sequential, Active: e.active[process]}, e.limits)
	if err == nil {
		e.processes[process] = session
	}
	return err
}

// resume starts a run: on the instance that remembers what it did before, if there is one.
func (e *enactment) resume(ctx context.Context, item core.Item, seed uint64) (*Session, error) {
	session, remembers := e.processes[e.process(item.Strategy)]
	if !remembers {
		return e.start(ctx, item, seed)
	}
	if session.over {
		return nil, differing("%s does not come back from what it did before", item.Strategy)
	}
	activation := e.activation(item.Strategy)
	activation.Request, activation.Seed = item.Request, seed
	session.Begin(activation)
	session.Settle(ctx)
	return session, nil
}

// goOn starts what a process does by itself in a step.
func (e *enactment) goOn(item core.Item, kind core.StepKind, step core.TraceStep) (*Session, error) {
	session := e.processes[e.process(item.Strategy)]
	if session == nil || session.over {
		return nil, differing("%s does not go on with anything", item.Strategy)
	}
	activation := Activation{Own: Waits}
	if kind == core.Work {
		place, request, apart := strings.Cut(string(item.Request), For)
		turn, err := strconv.Atoi(place)
		if apart = apart && len(step.Calls) > 0; err != nil || turn < 1 {
			return nil, fmt.Errorf("the record is broken: %s goes on with call %q", item.Strategy, item.Request)
		}
		if activation = (Activation{Own: Works, Turn: turn - 1}); apart {
			activation.Request, activation.Call = core.Request(request), step.Calls[0].Call
		}
	}
	session.Begin(activation)
	return session, nil
}

// run takes a run from its beginning to its end.
func (e *enactment) run(ctx context.Context, item core.Item, step core.TraceStep) error {
	var session *Session
	var err error
	if kind, known := core.StepKindOf(step.Kind); known && (kind == core.Work || kind == core.Elapse) {
		session, err = e.goOn(item, kind, step)
	} else {
		session, err = e.resume(ctx, item, step.Seed)
	}
	if err != nil {
		return err
	}
	if session.single {
		defer session.Abort()
	}
	if err := e.calls(ctx, session, step); err != nil {
		return err
	}
	if !step.Crashes {
		return e.returns(ctx, session, step)
	}
	if err := e.cutOff(ctx, session, step); err != nil {
		return err
	}
	return e.crash(ctx, step.Controller)
}

// begin starts a run that goes on in later steps.
func (e *enactment) begin(ctx context.Context, item core.Item, seed uint64) error {
	session, err := e.start(ctx, item, seed)
	if err == nil {
		e.flights = append(e.flights, flight{item, session})
	}
	return err
}

// flying goes on with a run that was begun in an earlier step.
func (e *enactment) flying(item core.Item, on func(*Session) error) error {
	i := slices.IndexFunc(e.flights, func(f flight) bool { return f.item == item })
	if i < 0 {
		return fmt.Errorf("the record is broken: %s goes on, and was not begun", item)
	}
	return on(e.flights[i].session)
}

// crash gives up all that the process of a controller has under way, and what it remembers.
func (e *enactment) crash(ctx context.Context, controller string) error {
	process := e.process(controller)
	e.land(func(item core.Item) bool { return e.process(item.Strategy) == process })
	session, remembers := e.processes[process]
	if !remembers {
		return nil
	}
	session.Abort()
	return e.open(ctx, process)
}

// land gives up the runs of some items.
func (e *enactment) land(some func(core.Item) bool) {
	var still []flight
	for _, f := range e.flights {
		if some(f.item) {
			f.session.Abort()
		} else {
			still = append(still, f)
		}
	}
	e.flights = still
}

// calls lets a run make the calls of a step.
func (e *enactment) calls(ctx context.Context, session *Session, step core.TraceStep) error {
	made := make([]bool, len(step.Calls))
	for i := range step.Calls {
		if step.Calls[i].Handler != "" {
			continue
		}
		if err := e.handle(ctx, step, i); err != nil {
			return err
		}
		call, leaf, err := session.Next(ctx)
		if err != nil {
			return err
		}
		only := call
		if len(session.pending) > 1 {
			only = nil // which of them is answered is to be as it was
		}
		recorded := step.Calls[coming(step.Calls, made, only)]
		if call == nil {
			return differing("%s %s, where it was to %s", step.Controller, leaf, recorded.Call)
		}
		if err := e.makes(ctx, session, step.Controller, step, recorded); err != nil {
			return err
		}
	}
	return nil
}

// coming returns the number of the recorded call that a run makes, the first that it has not made if that is none of
// them. Code may make calls in another order that have nothing to do with each other: that it comes to the same is for
// the world to say.
func coming(calls []core.TraceCall, made []bool, call core.Call) int {
	open := func(i int) bool { return !made[i] && calls[i].Handler == "" }
	at := 0
	for !open(at) {
		at++
	}
	for i := at; call != nil && i < len(calls); i++ {
		if open(i) && calls[i].Call == call.String() {
			at = i
			break
		}
	}
	made[at] = true
	return at
}

// makes answers the call that was recorded, which a run of somebody has come to.
func (e *enactment) makes(ctx context.Context, session *Session, who string, step core.TraceStep, recorded core.TraceCall) error {
	call := session.take(recorded)
	if call.String() != recorded.Call {
		return differing("%s makes the call %s, where it was to %s", who, call, recorded.Call)
	}
	response, err := e.answer(ctx, call, core.RecordedCall{TraceCall: recorded, Changes: step.Changes})
	if err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	if response.String() != recorded.Response {
		return differing("the response to %q is %q, where it was %q", call, response, recorded.Response)
	}
	session.Answer(response)
	session.Settle(ctx)
	return nil
}

// take lets the one of the concurrent calls be answered next that was recorded, and returns it. Those that read the
// same are told apart by the order of their identities.
func (s *Session) take(recorded core.TraceCall) core.Call {
	earlier := recorded.Turn
	namesake := func(call core.Call) bool { return call.String() == recorded.Call }
	return s.turnTo(func(call core.Call) bool {
		if !namesake(call) {
			return false
		}
		earlier--
		return earlier < 0
	}, namesake)
}

// answer carries out a call, or lets it fail as it did.
func (e *enactment) answer(ctx context.Context, call core.Call, recorded core.RecordedCall) (core.Response, error) {
	if recorded.Fault == "" {
		return e.world.Do(ctx, call, recorded)
	}
	fault, known := e.fault(call, recorded.Fault)
	if !known {
		return nil, differing("%s can no longer fail with %q", call, recorded.Fault)
	}
	if fault.Commits {
		// The caller does not see what comes of it; the changes of the step tell.
		if _, err := e.world.Do(ctx, call, recorded); err != nil {
			return nil, err
		}
	}
	return fault.Response, nil
}

// fault returns the way of a name in which a call fails, and false if there is none.
func (e *enactment) fault(call core.Call, name string) (core.Fault, bool) {
	if e.store == nil {
		return core.Fault{}, false
	}
	faults := e.store.Faults(call)
	i := slices.IndexFunc(faults, func(f core.Fault) bool { return f.Name == name })
	if i < 0 {
		return core.Fault{}, false
	}
	return faults[i], true
}

// returns lets a run come to its end.
func (e *enactment) returns(ctx context.Context, session *Session, step core.TraceStep) error {
	call, leaf, err := session.Next(ctx)
	switch {
	case err != nil:
		return err
	case call != nil:
		return differing("%s also makes the call %s", step.Controller, call)
	case step.Kind == core.Intervene.Name():
		return nil // how it ends for users is not recorded
	case step.Result != leaf.Ending():
		leaf = session.Close(leaf) // where more is to be seen of how it ended
	}
	if leaf.Ending() != step.Result {
		return differing("%s ends with %q, where it was %q", step.Controller, leaf.Ending(), step.Result)
	}
	return nil
}

// cutOff lets a run come to its next call, before which it is cut off.
func (e *enactment) cutOff(ctx context.Context, session *Session, step core.TraceStep) error {
	_, leaf, err := session.Next(ctx)
	if leaf != nil {
		return differing("%s %s, where it was to make another call and to crash before it", step.Controller, leaf)
	}
	return err
}

// shows looks at what a step changed.
func (e *enactment) shows(ctx context.Context, step core.TraceStep) error {
	for _, change := range step.Changes {
		differs, err := e.world.Shows(ctx, change)
		if err != nil {
			return err
		}
		if differs != "" {
			return core.DeviationError(differs)
		}
	}
	return nil
}
