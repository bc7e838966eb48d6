package clientgo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/memory"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Controller is a controller that a set-up has registered.
type Controller struct {
	name string
	// of is what keeps its memory, nil if it keeps none.
	of      any
	workers int
	queue   interface {
		take() (added, later []core.Request)
		counted() memory.Requeues
		stopped() <-chan struct{}
	}
	reconcile func(context.Context, core.Request, core.EffectRecorder) core.Result
	memory    memory.Reader
	// initial is what the set-up adds to the queue.
	initial []core.Request
}

// Workers says how many items may be in flight at once; it is one without.
func (c *Controller) Workers(n int) *Controller {
	c.workers = n
	return c
}

// register adds a controller to those of the process.
func register[T comparable](e *Environment, name string, of any, queue *Queue[T], reconcile func(context.Context, T, core.EffectRecorder) core.Result) *Controller {
	c := &Controller{name: name, of: of, queue: queue, reconcile: func(ctx context.Context, request core.Request, recorder core.EffectRecorder) core.Result {
		item, err := queue.form.decode(request)
		if err != nil {
			return core.Result{Err: err}
		}
		return reconcile(ctx, item, recorder)
	}}
	queue.controller = c
	_ = e.hear() // what is wrong is found again at the end of the set-up
	e.controllers = append(e.controllers, c)
	return c
}

// Sync registers a controller by the function that processes one item, such as its syncHandler. An error puts the item
// back into the queue. A worker that does something else with some errors, such as to forget an item that is not there
// any more, stays as it is with [Run]; one that recovers from panics hides them there. The controller is given as a
// pointer, since what can be reached from it is its memory; nil says that it keeps none.
func Sync[T comparable](e *Environment, name string, controller any, queue *Queue[T], sync func(context.Context, T) error) *Controller {
	return register(e, name, controller, queue, func(ctx context.Context, item T, _ core.EffectRecorder) core.Result {
		queue.begin(item)
		return queue.end(sync(ctx, item))
	})
}

// errNotTaken is that of a run in which nobody worked on the item.
var errNotTaken = errors.New("the controller returned without taking the item from its work queue")

// Run registers a controller that can only be run, such as by its Run method: the function must take items from the
// queue, mark them as done, and return when its context is over. For each item it is run anew, on a virtual clock: the
// queue hands out that item alone, and the run ends when the item is done and its worker has asked for the next. The
// first run of all goes on for an hour: what the function has started besides, such as a ticker, and asks for something
// then is not modelled: start it in the set-up, with [Environment.Background], and register the controller with [Sync].
// What it keeps in local variables from one item to the next is lost: keep it in fields. The controller is given as for
// [Sync].
func Run[T comparable](e *Environment, name string, controller any, queue *Queue[T], run func(context.Context) error) *Controller {
	e.notes.Assume("The Run method of %s is begun anew for each item: what it keeps in local variables from one item to the next, and not in fields, was not searched.", name)
	beside := e.process.beside(name)
	return register(e, name, controller, queue, func(ctx context.Context, item T, recorder core.EffectRecorder) core.Result {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		// Where the engine ends a goroutine of the run, everybody else has to come to an end as well.
		turn := queue.begin(item)
		turn.stop, turn.stopped, turn.patience = cancel, ctx.Done(), beside.patience()
		e.current.Begin(unwinding{recorder, name, queue.stage, beside, cancel})
		err := run(ctx)
		if turn.handed {
			// A controller may return before its workers do.
			<-ctx.Done()
			err = nil
		} else if err == nil && ctx.Err() == nil {
			err = errNotTaken
		}
		if asked := beside.seen(turn.done); asked != "" && turn.patience < patience {
			e.current.Unmodelled(asked, begunAnew)
		}
		result := queue.end(err)
		if turn.panicked != nil {
			panic(turn.panicked)
		}
		return result
	})
}

// unwinding is the recorder of the run of a controller that tells when it ends the goroutine that calls it. What is
// called while the controller is idle is not modelled, nor is what it changes before it takes the item.
type unwinding struct {
	core.EffectRecorder
	name  string
	stage func() stage
	// beside is what goes on besides the work on items.
	beside *beside
	tell   func()
}

// begunAnew is what to do about what goes on in a Run method besides the work on items.
const begunAnew = "the method is run for each item anew, and ends behind it: start what goes on by itself in the set-up, with Environment.Background, and register the function that processes one item with clientgo.Sync"

// beside is what the Run method of a controller does besides the work on items, as far as its first run of all has
// shown.
type beside struct {
	mu sync.Mutex
	// known tells that the first run is over, and asked is what something has asked for after its item was done.
	known bool
	asked string
}

// beside returns what is known of a controller of the process.
func (p *process) beside(controller string) *beside {
	known, _ := p.besides.LoadOrStore(controller, new(beside))
	return known.(*beside)
}

// patience is how long a run goes on after its item is done.
func (b *beside) patience() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known {
		return instant
	}
	return patience
}

// note notes what something has asked for.
func (b *beside) note(asked string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked == "" {
		b.asked = asked
	}
}

// seen returns what was asked for, once a run is over in which the item was done.
func (b *beside) seen(done bool) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known = b.known || done
	return b.asked
}

// Do implements [core.EffectRecorder].
func (u unwinding) Do(call core.Call) core.Response {
	switch at := u.stage(); {
	case at == idle:
		asked := fmt.Sprintf("what the Run method of %s has started, and does between items: %q", u.name, call.String())
		u.beside.note(asked)
		call = &kube.Unmodelled{Asked: asked, Reason: begunAnew}
	case at == starting && !reads(call):
		call = &kube.Unmodelled{
			Asked:  fmt.Sprintf("what the Run method of %s does at its start: %q", u.name, call.String()),
			Reason: "the method is run for each item anew, so that it would be done again each time: add first items to the queue in the set-up, too, have what is made at the start among the initial objects, and register the function that processes one item with clientgo.Sync",
		}
	}
	returned := false
	defer func() {
		if !returned {
			u.tell()
		}
	}()
	response := u.EffectRecorder.Do(call)
	returned = true
	return response
}

// reads reports whether a call only reads.
func reads(call core.Call) bool {
	request, ok := call.(*kube.Request)
	return ok && (request.Verb == kube.Get || request.Verb == kube.List)
}

// instance is a controller in an environment of its own, with those that share its process.
type instance struct {
	environment *Environment
	controller  *Controller
}

var (
	_ core.Divided = (*instance)(nil)
	_ core.Lender  = (*instance)(nil)
	_ core.Logging = (*instance)(nil)
)

// Listen implements [core.Logging].
func (i *instance) Listen(hear func(core.LogLine)) (stop func()) {
	return i.environment.process.loggers.Listen(hear)
}

// Of implements [core.Plural].
func (i *instance) Of(name string) core.Instance {
	for _, c := range i.environment.controllers {
		if c.name == name {
			return &instance{environment: i.environment, controller: c}
		}
	}
	return nil
}

// begin begins a run of the instance.
func (i *instance) begin(recorder core.EffectRecorder) {
	i.environment.collectors.Run()
	i.environment.current.Begin(recorder)
	i.environment.loans.Begin()
	for _, c := range i.environment.controllers {
		if added, _ := c.queue.take(); len(added) > 0 {
			i.environment.current.Unmodelled("adding an item to the work queue of "+c.name+" while nothing runs", "a goroutine that outlives a sync is not modelled: add it within the sync or an event handler")
		}
	}
}

// Mutated implements [core.Lender].
func (i *instance) Mutated() string { return i.environment.loans.Changed() }

// Reconcile implements [core.Instance].
func (i *instance) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	i.begin(recorder)
	defer i.environment.current.End()
	i.environment.working.Store(i.controller)
	defer i.environment.working.Store(nil)
	logger := system.Anew(klog.LoggerWithValues(i.environment.process.loggers.Logger, "controller", i.controller.name, "item", string(request)))
	result := i.controller.reconcile(klog.NewContext(context.Background(), logger), request, recorder)
	if asked, remedy, unknown := system.Unknown(result.Err); unknown {
		i.environment.current.Unmodelled(asked, remedy)
	}
	return result
}

// Handle implements [core.Instance].
func (i *instance) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	e := i.environment
	i.begin(recorder)
	defer e.current.End()
	e.handling = i.controller
	defer func() { e.handling = nil }()
	informer.Deliver(e.process.server, e.process.decoder, &e.loans, e.watches(i.controller), event)
	added, later := i.controller.queue.take()
	for _, request := range later {
		e.current.Enqueue(core.Item{Strategy: i.controller.name, Request: request}, true)
	}
	return added
}

// MemoryOf implements [core.Divided].
func (i *instance) MemoryOf(name string) map[string]string {
	c := i.Of(name).(*instance).controller
	return c.memory.Of(i.environment.rootsOf(c)...)
}

// Memory implements [core.Introspective]: what can be reached from the controllers of the process and from their event
// handlers.
func (i *instance) Memory() map[string]string {
	return i.environment.memory.Of(i.environment.roots()...)
}

// roots are what the memory of the process can be reached from. Where there are several controllers, the ways name
// them.
func (e *Environment) roots() []any {
	var roots []any
	for _, c := range e.controllers {
		for _, root := range e.rootsOf(c) {
			if len(e.controllers) > 1 {
				root = memory.Named{Controller: c.name, Root: root}
			}
			roots = append(roots, root)
		}
	}
	return roots
}

// rootsOf are what the memory of a controller can be reached from.
func (e *Environment) rootsOf(c *Controller) []any {
	var roots []any
	if c.of != nil {
		roots = append(roots, c.of)
	}
	if counted := c.queue.counted(); counted != nil {
		roots = append(roots, counted)
	}
	for _, handler := range e.handlers(c) {
		roots = append(roots, handler)
	}
	return roots
}

// goesOn tells for which controllers something goes on between items.
func (e *Environment) goesOn() []bool {
	unknown := func(name string) bool {
		return !slices.ContainsFunc(e.controllers, func(c *Controller) bool { return c.name == name })
	}
	all := e.background.ofAll || slices.ContainsFunc(e.background.of, unknown)
	active := make([]bool, len(e.controllers))
	for i, c := range e.controllers {
		active[i] = all || slices.Contains(e.background.of, c.name)
	}
	return active
}
