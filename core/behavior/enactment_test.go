package behavior_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// shaky is a store of which each call but of the word "sure" fails in two ways.
type shaky struct{ core.Store }

func (shaky) Faults(call core.Call) []core.Fault {
	if strings.HasPrefix(call.Identity(), "sure") {
		return nil
	}
	return []core.Fault{
		{Name: "timeout", Response: reply("504")},
		{Name: "lost", Response: reply("gone"), Commits: true},
	}
}

// failing returns a step with its last call failing.
func failing(step core.TraceStep, fault, response string) core.TraceStep {
	last := &step.Calls[len(step.Calls)-1]
	last.Fault, last.Response = fault, response
	return step
}

// crashing returns a step that a crash cuts off.
func crashing(step core.TraceStep) core.TraceStep {
	step.Crashes = true
	return step
}

// reader is a controller that makes two calls.
func reader(sequential bool) controller {
	return controller{name: "reader", sequential: sequential, work: asks(core.Result{}, "a", "b")}
}

// TestEnactDisturbed runs what went wrong, was late or came from users again.
func TestEnactDisturbed(t *testing.T) {
	behind := recorded("reconcile", "reader", "r", "a for r", "b for r")
	behind.Calls[1].Behind = []core.TraceLag{{Kind: "Lamp", Changes: 2}, {Kind: "Cord", Changes: 1}}
	making := recorded("reconcile", "reader", "r", "a for r", "b for r")
	making.Calls[0].Creates = []core.Key{{Kind: "Lamp", Name: "x"}}
	making.Changes = []core.TraceChange{{Kind: "Lamp", Name: "x", Verb: "created"}}
	refused := recorded("user", core.User, "switch off", "off")
	tests := []struct {
		name  string
		steps []core.TraceStep
		world stage
		// parts is the step where the run parts, 0 if it does not, and why.
		parts  int
		reason string
		asked  []string
	}{
		{
			name:  "a failed call is not carried out",
			steps: []core.TraceStep{failing(recorded("reconcile", "reader", "r", "a for r", "b for r"), "timeout", "504")},
			asked: []string{"a for r"},
		},
		{
			name:  "a call whose answer is lost is",
			steps: []core.TraceStep{failing(recorded("reconcile", "reader", "r", "a for r", "b for r"), "lost", "gone")},
			asked: []string{"a for r", "b for r"},
		},
		{
			name:  "a failure that says something else now",
			steps: []core.TraceStep{failing(recorded("reconcile", "reader", "r", "a for r"), "timeout", "503")},
			parts: 1, reason: `the response to "ask a for r" is "504", where it was "503"`,
		},
		{
			name:  "a failure that there is not any more",
			steps: []core.TraceStep{failing(recorded("reconcile", "reader", "r", "a for r"), "flood", "504")},
			parts: 1, reason: `ask a for r can no longer fail with "flood"`,
		},
		{
			name:  "a call that cannot fail any more",
			steps: []core.TraceStep{failing(recorded("reconcile", "certain", "r", "sure for r"), "timeout", "504")},
			parts: 1, reason: `ask sure for r can no longer fail with "timeout"`,
		},
		{name: "the world is shown stale views", steps: []core.TraceStep{behind}, asked: []string{"a for r", "b for r, Lamp 2 behind, Cord 1 behind"}},
		{
			name: "a stale view shows something else", steps: []core.TraceStep{behind}, world: stage{answers: map[string]string{"b for r": "new"}},
			parts: 1, reason: `the response to "ask b for r" is "new", where it was "b for r"`, asked: []string{"a for r", "b for r, Lamp 2 behind, Cord 1 behind"},
		},
		{name: "the world is told of names", steps: []core.TraceStep{making}, asked: []string{"a for r, to make Lamp x among 1 changes", "b for r", "look at x"}},
		{
			name: "a crash, and the same again",
			steps: []core.TraceStep{
				crashing(recorded("reconcile", "reader", "r", "a for r")), recorded("reconcile", "reader", "r", "a for r", "b for r"),
			},
			asked: []string{"a for r", "a for r", "b for r"},
		},
		{
			name: "no call where it was to crash", steps: []core.TraceStep{crashing(recorded("reconcile", "reader", "r", "a for r", "b for r"))},
			parts: 1, reason: "reader returns, where it was to make another call and to crash before it", asked: []string{"a for r", "b for r"},
		},
		{
			name:  "deliveries and restarts need no work",
			steps: []core.TraceStep{recorded("deliver", "reader", "Lamp"), recorded("restart", "reader", "")},
		},
		{
			name:  "two instances",
			steps: []core.TraceStep{recorded("reconcile", "reader (second instance)", "r", "a for r", "b for r"), recorded("reconcile", "reader", "r", "a for r", "b for r")},
			asked: []string{"a for r", "b for r", "a for r", "b for r"},
		},
		{
			name:  "users act",
			steps: []core.TraceStep{recorded("user", core.User, "switch on", "on"), recorded("reconcile", "reader", "r", "a for r", "b for r")},
			asked: []string{"on", "a for r", "b for r"},
		},
		{name: "users are refused", steps: []core.TraceStep{refused}, asked: []string{"off"}},
		{
			name: "an action that there is not any more", steps: []core.TraceStep{recorded("user", core.User, "dim", "on")},
			parts: 1, reason: `there is no longer a user action "dim"`,
		},
		{
			name: "another action", steps: []core.TraceStep{recorded("user", core.User, "switch on", "off")},
			parts: 1, reason: "user makes the call ask on, where it was to ask off",
		},
		{
			name: "call by call, with others in between",
			steps: []core.TraceStep{
				recorded("begin", "reader", "r"), recorded("call", "reader", "r", "a for r"), recorded("begin", "reader", "s"),
				recorded("call", "reader", "s", "a for s"), recorded("user", core.User, "switch on", "on"),
				recorded("call", "reader", "r", "b for r"), recorded("return", "reader", "r"), recorded("begin", "reader", "r"), recorded("call", "reader", "s", "b for s"),
				recorded("call", "reader", "r", "a for r"),
			},
			asked: []string{"a for r", "a for s", "on", "b for r", "b for s", "a for r"},
		},
		{
			name:  "a call that fails",
			steps: []core.TraceStep{recorded("begin", "reader", "r"), failing(recorded("call", "reader", "r", "a for r"), "timeout", "504"), recorded("call", "reader", "r", "b for r")},
			asked: []string{"b for r"},
		},
		{
			name:  "it returns early",
			steps: []core.TraceStep{recorded("begin", "certain", "r"), recorded("call", "certain", "r", "sure for r"), recorded("call", "certain", "r", "b for r")},
			parts: 3, reason: "certain returns, where it was to ask b for r", asked: []string{"sure for r"},
		},
		{
			name:  "it does not return",
			steps: []core.TraceStep{recorded("begin", "reader", "r"), recorded("call", "reader", "r", "a for r"), recorded("return", "reader", "r")},
			parts: 3, reason: "reader also makes the call ask b for r", asked: []string{"a for r"},
		},
		{
			name:  "a crash in the midst of others",
			steps: []core.TraceStep{recorded("begin", "reader", "r"), recorded("call", "reader", "r", "a for r"), recorded("restart", "reader", ""), recorded("begin", "reader", "r"), recorded("call", "reader", "r", "a for r")},
			asked: []string{"a for r", "a for r"},
		},
		{
			name:  "a crash of another",
			steps: []core.TraceStep{recorded("begin", "reader", "r"), recorded("call", "reader", "r", "a for r"), recorded("restart", "reader (second instance)", ""), recorded("call", "reader", "r", "b for r")},
			asked: []string{"a for r", "b for r"},
		},
		{name: "a begin of a controller that is gone", steps: []core.TraceStep{recorded("begin", "gone", "r")}, parts: 1, reason: `there is no longer a controller "gone"`},
	}
	forms(t, func(t *testing.T, sequential bool) {
		s := system(
			reader(sequential),
			controller{name: "certain", sequential: sequential, work: asks(core.Result{}, "sure")},
		)
		s.Store = shaky{}
		s.Scenario.Actions = []core.Action{
			{Name: "switch on", Do: func(r core.EffectRecorder) error { r.Do(ask("on")); return nil }},
			{Name: "switch off", Do: func(r core.EffectRecorder) error { return errors.New(r.Do(ask("off")).String()) }},
		}
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				world := test.world
				deviation, err := behavior.Enact(context.Background(), s, core.Trace{Steps: test.steps}, &world, limits())
				if err != nil {
					t.Fatal(err)
				}
				wantDeviation(t, deviation, test.parts, test.reason)
				wantCalls(t, world.asked, test.asked...)
			})
		}
	})
}

// TestEnactWithoutFaults runs a record of failures with a store that knows none.
func TestEnactWithoutFaults(t *testing.T) {
	step := failing(recorded("reconcile", "reader", "r", "a for r"), "timeout", "504")
	deviation, err := behavior.Enact(context.Background(), system(reader(true)), core.Trace{Steps: []core.TraceStep{step}}, &stage{}, limits())
	if err != nil {
		t.Fatal(err)
	}
	wantDeviation(t, deviation, 1, `ask a for r can no longer fail with "timeout"`)
}

// TestEnactDeviationErrors lets a world say that it cannot answer as recorded.
func TestEnactDeviationErrors(t *testing.T) {
	world := &stage{broken: fmt.Errorf("looking back: %w", core.DeviationError("there is no past"))}
	trace := core.Trace{Steps: []core.TraceStep{recorded("reconcile", "reader", "r", "a for r")}}
	deviation, err := behavior.Enact(context.Background(), system(reader(true)), trace, world, limits())
	if err != nil {
		t.Fatal(err)
	}
	wantDeviation(t, deviation, 1, "there is no past")
}

// TestEnactBrokenRecords goes on with what was never begun, or is over.
func TestEnactBrokenRecords(t *testing.T) {
	over := []core.TraceStep{recorded("begin", "certain", "r"), recorded("return", "certain", "r"), recorded("return", "certain", "r")}
	for _, steps := range [][]core.TraceStep{{recorded("call", "certain", "r", "a")}, over} {
		code := controller{name: "certain", sequential: true, work: asks(core.Result{})}
		_, err := behavior.Enact(context.Background(), system(code), core.Trace{Steps: steps}, &stage{}, limits())
		if err == nil || !strings.Contains(err.Error(), "certain(r) goes on, and was not begun") {
			t.Errorf("error %v", err)
		}
	}
}

// TestEnactLeavesNothing ends with runs in flight, or has them be cut off: what they deferred must be run.
func TestEnactLeavesNothing(t *testing.T) {
	for _, more := range [][]core.TraceStep{nil, {recorded("restart", "c", "")}} {
		unwound := make(chan struct{}, 1)
		code := controller{name: "c", sequential: true, work: func(r core.EffectRecorder, _ core.Request) core.Result {
			defer func() { unwound <- struct{}{} }()
			r.Do(ask("a"))
			r.Do(ask("b"))
			return core.Result{}
		}}
		trace := core.Trace{Steps: append([]core.TraceStep{recorded("begin", "c", "r"), recorded("call", "c", "r", "a")}, more...)}
		deviation, err := behavior.Enact(context.Background(), system(code), trace, &stage{}, limits())
		if err != nil {
			t.Fatal(err)
		}
		wantDeviation(t, deviation, 0, "")
		select {
		case <-unwound:
		default:
			t.Errorf("what the run deferred was not run, with %d steps more", len(more))
		}
	}
}

// TestEnactBackground takes what a controller does by itself along with what it is asked to do, on one instance.
func TestEnactBackground(t *testing.T) {
	own := core.Background("worker")
	looks := func(request core.Request) core.TraceStep {
		return keeping(recorded("reconcile", "worker", request, "look at "+string(request)))
	}
	works := func(turn core.Request, calls ...string) core.TraceStep {
		return recorded(core.Work.Name(), own, turn, calls...)
	}
	waits := recorded(core.Elapse.Name(), own, "time")
	started := core.Trace{Memory: []core.MemoryChange{{Controller: "worker"}}}
	for _, test := range []struct {
		name   string
		steps  []core.TraceStep
		parts  int
		reason string
		failed string
	}{
		{name: "it works", steps: []core.TraceStep{looks("a"), works("1", "work on a", "finish a")}},
		{name: "it works on one after the other", steps: []core.TraceStep{looks("a"), looks("b"), works("1", "work on a", "finish a", "work on b", "finish b")}},
		{name: "an hour passes", steps: []core.TraceStep{waits, works("1", "hour")}},
		{name: "the second call goes on first", steps: []core.TraceStep{waits, looks("a"), works("2", "work on a", "finish a"), works("1", "hour")}},
		{name: "it works on something else", steps: []core.TraceStep{looks("a"), works("1", "work on b")}, parts: 2, reason: "worker (background) makes the call ask work on a, where it was to ask work on b"},
		{name: "nobody goes on", steps: []core.TraceStep{recorded(core.Work.Name(), core.Background("nobody"), "1", "x")}, parts: 1, reason: "nobody (background) does not go on with anything"},
		{name: "the record has no number", steps: []core.TraceStep{looks("a"), works("first", "work on a")}, failed: `the record is broken: worker (background) goes on with call "first"`},
		{name: "the record has a number that is none", steps: []core.TraceStep{looks("a"), works("0", "work on a")}, failed: `the record is broken: worker (background) goes on with call "0"`},
		{name: "the record has a number that nobody counts to", steps: []core.TraceStep{looks("a"), works("99999999999999999999", "work on a")}, failed: `the record is broken: worker (background) goes on with call "99999999999999999999"`},
		{name: "a long time passes", steps: []core.TraceStep{recorded(core.Pass.Name(), "time", "")}, failed: "a long time passes in the story"},
		{name: "a deadline passes", steps: []core.TraceStep{recorded(core.Expire.Name(), "worker", "a")}, failed: "a long time passes in the story"},
	} {
		trace := started
		trace.Steps = test.steps
		deviation, err := behavior.Enact(context.Background(), system(&worker{}), trace, &stage{}, limits())
		if (err == nil) != (test.failed == "") || err != nil && !strings.HasPrefix(err.Error(), test.failed) {
			t.Errorf("%s: %v", test.name, err)
		}
		if err == nil {
			wantDeviation(t, deviation, test.parts, test.reason)
		}
	}
}
