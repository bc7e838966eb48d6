package behavior_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// controller is a strategy of one function. Each run works on a request.
type controller struct {
	name       string
	sequential bool
	work       func(core.EffectRecorder, core.Request) core.Result
	broken     error
}

func (c controller) Describe() core.Description {
	return core.Description{Name: c.name, Sequential: c.sequential}
}

func (c controller) New() (core.Instance, error) { return c, c.broken }

func (c controller) Handle(core.EffectRecorder, core.Event) []core.Request {
	panic("an event handler was run")
}

func (c controller) Reconcile(r core.EffectRecorder, request core.Request) core.Result {
	return c.work(r, request)
}

// stage is a world that answers a call by its own text, unless it was told otherwise.
type stage struct {
	answers map[string]string
	// missing are the names of objects that are not as recorded.
	missing map[string]bool
	broken  error
	asked   []string
}

func (s *stage) Do(_ context.Context, call core.Call, recorded core.RecordedCall) (core.Response, error) {
	asked := call.Identity()
	for _, lag := range recorded.Behind {
		asked += fmt.Sprintf(", %s %d behind", lag.Kind, lag.Changes)
	}
	for _, key := range recorded.Creates {
		asked += fmt.Sprintf(", to make %s", key)
	}
	if len(recorded.Creates) > 0 {
		asked += fmt.Sprintf(" among %d changes", len(recorded.Changes))
	}
	s.asked = append(s.asked, asked)
	if answer, ok := s.answers[call.Identity()]; ok {
		return reply(answer), nil
	}
	return reply(call.Identity()), s.broken
}

func (s *stage) Event(_ context.Context, e core.TraceEvent) (core.Event, error) {
	s.asked = append(s.asked, fmt.Sprintf("event of %s from %d to %d", e.Name, e.From, e.To))
	return core.Event{Key: e.Key(), Missed: e.Missed, Initial: e.Initial}, s.broken
}

func (s *stage) Shows(_ context.Context, change core.TraceChange) (string, error) {
	s.asked = append(s.asked, "look at "+change.Name)
	if s.missing[change.Name] {
		return change.Name + " is not there", nil
	}
	return "", s.broken
}

func system(strategies ...core.Strategy) *core.System { return &core.System{Strategies: strategies} }

// asks returns code that makes calls and returns a result.
func asks(result core.Result, calls ...ask) func(core.EffectRecorder, core.Request) core.Result {
	return func(r core.EffectRecorder, request core.Request) core.Result {
		for _, call := range calls {
			r.Do(call + ask(" for "+request))
		}
		return result
	}
}

// recorded is a step in which a controller made calls that were answered by their text.
func recorded(kind, controller string, request core.Request, calls ...string) core.TraceStep {
	step := core.TraceStep{Kind: kind, Controller: controller, Request: request}
	for _, call := range calls {
		step.Calls = append(step.Calls, core.TraceCall{Call: "ask " + call, Response: call})
	}
	return step
}

func TestEnact(t *testing.T) {
	failing := core.Result{Err: errors.New("it is late")}
	handled := recorded("reconcile", "reader", "r", "a for r", "b for r")
	handled.Calls = slices.Insert(handled.Calls, 1, core.TraceCall{Call: "ask anything", Response: "?", Handler: "writer"})
	handled.Calls = append(handled.Calls, core.TraceCall{Call: "ask anything", Response: "?", Handler: "reader"})
	ended := func(step core.TraceStep, result string) core.TraceStep {
		step.Result = result
		return step
	}
	changing := func(step core.TraceStep, names ...string) core.TraceStep {
		for _, name := range names {
			step.Changes = append(step.Changes, core.TraceChange{Name: name, Verb: "changed"})
		}
		return step
	}
	reads := recorded("reconcile", "reader", "r", "a for r", "b for r")
	tests := []struct {
		name  string
		steps []core.TraceStep
		world stage
		// parts is the step where the run parts, 0 if it does not, and why.
		parts  int
		reason string
		asked  []string
	}{
		{name: "no step"},
		{name: "as recorded", steps: []core.TraceStep{reads}, asked: []string{"a for r", "b for r"}},
		{
			name:  "several controllers and requests",
			steps: []core.TraceStep{reads, recorded("act", "writer", "s", "w for s"), recorded("reconcile", "reader", "q", "a for q", "b for q")},
			asked: []string{"a for r", "b for r", "w for s", "a for q", "b for q"},
		},
		{
			name: "timers need no work, even of a controller that is gone", steps: []core.TraceStep{recorded("fire", "gone", "r"), recorded("fire", "reader", "r")},
		},
		{name: "what is tried at the end is run", steps: []core.TraceStep{recorded("probe", "writer", "s", "w for s")}, asked: []string{"w for s"}},
		{name: "calls of event handlers are left out", steps: []core.TraceStep{handled}, asked: []string{"a for r", "b for r"}},
		{
			name: "changes are looked at", steps: []core.TraceStep{changing(reads, "x", "y")},
			asked: []string{"a for r", "b for r", "look at x", "look at y"},
		},
		{
			name: "an error", steps: []core.TraceStep{ended(recorded("reconcile", "failing", "r"), "returns the error: it is late")},
		},
		{
			name: "another call", steps: []core.TraceStep{recorded("fire", "reader", "r"), recorded("reconcile", "reader", "r", "a for r", "c for r")},
			parts: 2, reason: "reader makes the call ask b for r, where it was to ask c for r", asked: []string{"a for r"},
		},
		{
			name: "another answer", steps: []core.TraceStep{reads}, world: stage{answers: map[string]string{"a for r": "409"}},
			parts: 1, reason: `the response to "ask a for r" is "409", where it was "a for r"`, asked: []string{"a for r"},
		},
		{
			name: "ends early", steps: []core.TraceStep{recorded("reconcile", "reader", "r", "a for r", "b for r", "c for r")},
			parts: 1, reason: "reader returns, where it was to ask c for r", asked: []string{"a for r", "b for r"},
		},
		{
			name: "fails early", steps: []core.TraceStep{recorded("reconcile", "failing", "r", "a for r")},
			parts: 1, reason: "failing returns the error: it is late, where it was to ask a for r",
		},
		{
			name: "goes on", steps: []core.TraceStep{recorded("reconcile", "reader", "r", "a for r")},
			parts: 1, reason: "reader also makes the call ask b for r", asked: []string{"a for r"},
		},
		{
			name: "another end", steps: []core.TraceStep{ended(reads, "asks to be run again")},
			parts: 1, reason: `reader ends with "", where it was "asks to be run again"`, asked: []string{"a for r", "b for r"},
		},
		{
			name: "a panic", steps: []core.TraceStep{recorded("reconcile", "panicking", "r")},
			parts: 1, reason: `panicking ends with "panics: help`,
		},
		{
			name: "a change that is not there", steps: []core.TraceStep{reads, changing(reads, "x", "y", "z")}, world: stage{missing: map[string]bool{"y": true}},
			parts: 2, reason: "y is not there", asked: []string{"a for r", "b for r", "a for r", "b for r", "look at x", "look at y"},
		},
		{
			name: "a controller that is gone", steps: []core.TraceStep{reads, recorded("reconcile", "gone", "r")},
			parts: 2, reason: `there is no longer a controller "gone"`, asked: []string{"a for r", "b for r"},
		},
	}
	forms(t, func(t *testing.T, sequential bool) {
		strategies := []core.Strategy{
			controller{name: "reader", sequential: sequential, work: asks(core.Result{}, "a", "b")},
			controller{name: "writer", sequential: sequential, work: asks(core.Result{}, "w")},
			controller{name: "failing", sequential: sequential, work: asks(failing)},
			controller{name: "panicking", sequential: sequential, work: func(core.EffectRecorder, core.Request) core.Result { panic("help") }},
		}
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				world := test.world
				deviation, err := behavior.Enact(context.Background(), &core.System{Strategies: strategies}, core.Trace{Steps: test.steps}, &world, limits())
				if err != nil {
					t.Fatal(err)
				}
				wantDeviation(t, deviation, test.parts, test.reason)
				wantCalls(t, world.asked, test.asked...)
			})
		}
	})
}

// wantDeviation wants a run to part at a step for a reason that begins so; 0 for nowhere.
func wantDeviation(t *testing.T, got *core.Deviation, step int, reason string) {
	t.Helper()
	switch {
	case step == 0 && got != nil:
		t.Errorf("it parts at step %d: %s", got.Step, got.Reason)
	case step > 0 && got == nil:
		t.Errorf("it does not part, want: at step %d: %s", step, reason)
	case step > 0 && (got.Step != step || !strings.HasPrefix(got.Reason, reason)):
		t.Errorf("it parts at step %d: %s\nwant step %d: %s", got.Step, got.Reason, step, reason)
	}
}

// TestEnactStuck gives code that never comes back its deadline, and no more.
func TestEnactStuck(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	stuck := controller{name: "stuck", sequential: true, work: func(core.EffectRecorder, core.Request) core.Result {
		<-release
		return core.Result{}
	}}
	within := behavior.Limits{Deadline: 30 * time.Millisecond, Calls: 100}
	const message = "did not return within 30ms"
	step := recorded("reconcile", "stuck", "r")
	step.Result = message
	tests := []struct {
		name   string
		step   core.TraceStep
		parts  int
		reason string
	}{
		{"as recorded", step, 0, ""},
		{"where it returned", recorded("reconcile", "stuck", "r"), 1, `stuck ends with "` + message + `", where it was ""`},
		{"where it made a call", recorded("reconcile", "stuck", "r", "a"), 1, "stuck " + message + ", where it was to ask a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			deviation, err := behavior.Enact(context.Background(), system(stuck), core.Trace{Steps: []core.TraceStep{test.step}}, &stage{}, within)
			if err != nil {
				t.Fatal(err)
			}
			wantDeviation(t, deviation, test.parts, test.reason)
		})
	}
}

// TestEnactConcurrent makes calls from several goroutines at once: they are carried out
// one at a time, in the order of their identities, as when the run was recorded.
func TestEnactConcurrent(t *testing.T) {
	code := controller{name: "crowd", work: func(r core.EffectRecorder, _ core.Request) core.Result {
		var crowd sync.WaitGroup
		for _, call := range []ask{"c", "a", "b"} {
			crowd.Go(func() { r.Do(call) })
		}
		crowd.Wait()
		return core.Result{RequeueAfter: time.Hour}
	}}
	step := recorded("reconcile", "crowd", "r", "a", "b", "c")
	step.Result = "asks to be run again in 1h0m0s"
	for range 20 {
		world := &stage{}
		deviation, err := behavior.Enact(context.Background(), system(code), core.Trace{Steps: []core.TraceStep{step}}, world, limits())
		if err != nil {
			t.Fatal(err)
		}
		wantDeviation(t, deviation, 0, "")
		wantCalls(t, world.asked, "a", "b", "c")
	}
}

// alike is a call that says the same as others.
type alike string

func (a alike) Identity() string  { return string(a) }
func (alike) String() string      { return "ask the same" }
func (alike) Source() core.Source { return core.Live }

// TestEnactNamesakes has concurrent calls that say the same be told apart by their turns.
func TestEnactNamesakes(t *testing.T) {
	for _, order := range [][]int{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}, {1, 1, 0}} {
		code := controller{name: "crowd", work: func(r core.EffectRecorder, _ core.Request) core.Result {
			var crowd sync.WaitGroup
			for _, call := range []alike{"c", "a", "b"} {
				crowd.Go(func() { r.Do(call) })
			}
			crowd.Wait()
			return core.Result{}
		}}
		step := recorded("reconcile", "crowd", "r", "the same", "the same", "the same")
		waiting := []string{"a", "b", "c"}
		var want []string
		for i, turn := range order {
			step.Calls[i].Response, step.Calls[i].Turn = waiting[turn], turn
			want = append(want, waiting[turn])
			waiting = slices.Delete(waiting, turn, turn+1)
		}
		world := &stage{}
		deviation, err := behavior.Enact(context.Background(), system(code), core.Trace{Steps: []core.TraceStep{step}}, world, limits())
		if err != nil {
			t.Fatal(err)
		}
		wantDeviation(t, deviation, 0, "")
		wantCalls(t, world.asked, want...)
	}
}

// TestEnactUnwinds ends runs in the middle: what they deferred must be run.
func TestEnactUnwinds(t *testing.T) {
	forms(t, func(t *testing.T, sequential bool) {
		unwound := make(chan struct{}, 1)
		code := controller{name: "c", sequential: sequential, work: func(r core.EffectRecorder, _ core.Request) core.Result {
			defer func() { unwound <- struct{}{} }()
			r.Do(ask("a"))
			r.Do(ask("b"))
			return core.Result{}
		}}
		trace := core.Trace{Steps: []core.TraceStep{recorded("reconcile", "c", "r", "a")}}
		deviation, err := behavior.Enact(context.Background(), system(code), trace, &stage{}, limits())
		if err != nil {
			t.Fatal(err)
		}
		wantDeviation(t, deviation, 1, "c also makes the call ask b")
		select {
		case <-unwound:
		case <-time.After(10 * time.Second):
			t.Error("what the run deferred was not run")
		}
	})
}

func TestEnactFails(t *testing.T) {
	broken := errors.New("the line is dead")
	read := recorded("reconcile", "c", "r", "a for r")
	changing := recorded("reconcile", "c", "r", "a for r")
	changing.Changes = []core.TraceChange{{Name: "x", Verb: "changed"}}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	tests := []struct {
		name  string
		ctx   context.Context
		code  controller
		step  core.TraceStep
		world stage
		want  error
		says  string
	}{
		{name: "a call that cannot be carried out", step: read, world: stage{broken: broken}, want: broken, says: "ask a for r: "},
		{
			name: "an object that cannot be read", step: changing, want: broken,
			world: stage{broken: broken, answers: map[string]string{"a for r": "a for r"}},
		},
		{name: "a controller that cannot be made", code: controller{broken: broken}, step: read, want: broken, says: `setting up controller "c"`},
		{name: "an interruption", ctx: ended, step: read, want: context.Canceled},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.code.name, test.code.work = "c", asks(core.Result{}, "a")
			if test.ctx == nil {
				test.ctx = context.Background()
			}
			// An interruption and a call may come at once; then either may be seen first.
			var err error
			for range 100 {
				if _, err = behavior.Enact(test.ctx, system(test.code), core.Trace{Steps: []core.TraceStep{test.step}}, &test.world, limits()); err != nil {
					break
				}
			}
			if err == nil || !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want %q and %v", err, test.says, test.want)
			}
		})
	}
}

func TestEnding(t *testing.T) {
	tests := []struct {
		leaf behavior.Leaf
		want string
	}{
		{behavior.Leaf{}, ""},
		{behavior.Leaf{Result: core.Result{Requeue: true}}, "asks to be run again"},
		{behavior.Leaf{Result: core.Result{Err: errors.New("late")}}, "returns the error: late"},
		{behavior.Leaf{Failure: behavior.Panicked, Message: "help"}, "panics: help"},
	}
	for _, test := range tests {
		if got := test.leaf.Ending(); got != test.want {
			t.Errorf("ending %q, want %q", got, test.want)
		}
	}
}
