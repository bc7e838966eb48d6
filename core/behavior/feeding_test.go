package behavior_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// tallier is a controller that counts its reconciles and events in memory, and says in a call how many there were.
type tallier struct {
	name       string
	sequential bool
	broken     error
}

func (c tallier) Describe() core.Description {
	return core.Description{Name: c.name, Sequential: c.sequential}
}

func (c tallier) New() (core.Instance, error) { return &counting{}, c.broken }

// counting is a tallier at work.
type counting struct{ reconciles, events int }

// Handle makes a call for an event of "asked", panics for "bomb", never comes back for "trap", and enqueues the names
// of all others.
func (c *counting) Handle(r core.EffectRecorder, event core.Event) []core.Request {
	c.events++
	switch event.Key.Name {
	case "asked":
		r.Do(ask(fmt.Sprintf("event %d", c.events)))
		return nil
	case "bomb":
		panic("boom")
	case "trap":
		for {
			r.Do(ask("more"))
		}
	case "quiet":
		return nil
	}
	return []core.Request{core.Request(event.Key.Name)}
}

// Reconcile panics for "bomb".
func (c *counting) Reconcile(r core.EffectRecorder, request core.Request) core.Result {
	c.reconciles++
	r.Do(ask(fmt.Sprintf("%d after %d", c.reconciles, c.events)))
	if request == "bomb" {
		panic("boom")
	}
	if request == "twice" {
		r.Do(ask("again"))
	}
	return core.Result{}
}

// keeping returns a step in which what a controller keeps in memory changes.
func keeping(step core.TraceStep) core.TraceStep {
	value := "1"
	step.Memory = []core.MemoryChange{{Controller: step.Controller, Field: "counting", To: &value}}
	return step
}

// gets returns a step in which handlers of a controller get an event, before a call of the step or after it.
func gets(step core.TraceStep, controller, name string, call int, result string) core.TraceStep {
	step.Events = append(slices.Clone(step.Events), core.TraceEvent{Controller: controller, Kind: "Lamp", Name: name, From: 1, To: 2, Calls: call, Result: result})
	return step
}

// endOf returns how a tallier ends, with the place where it panics.
func endOf(t *testing.T, activation behavior.Activation) string {
	t.Helper()
	_, leaf := play(t, behavior.Start(&counting{}, true, activation, limits()))
	return leaf.Ending()
}

// TestEnactWithMemory enacts runs of a controller that keeps memory on one instance, from its start to its crash.
func TestEnactWithMemory(t *testing.T) {
	does := func(calls ...string) core.TraceStep { return keeping(recorded("reconcile", "counter", "r", calls...)) }
	other := func(calls ...string) core.TraceStep { return recorded("reconcile", "other", "r", calls...) }
	explodes := keeping(recorded("reconcile", "counter", "bomb", "1 after 0"))
	explodes.Result = endOf(t, behavior.Activation{Request: "bomb"})
	boom := endOf(t, behavior.Activation{Event: &core.Event{Key: core.Key{Kind: "Lamp", Name: "bomb"}}})
	stops := crashing(keeping(recorded("reconcile", "counter", "twice", "1 after 0")))
	handles := gets(does("1 after 0"), "counter", "asked", 1, "")
	handles.Calls = append(handles.Calls, core.TraceCall{Call: "ask event 1", Response: "event 1", Handler: "counter"})
	another := gets(does("1 after 0"), "counter", "asked", 1, "")
	another.Calls = append(another.Calls, core.TraceCall{Call: "ask event 2", Response: "event 1", Handler: "counter"})
	others := gets(does("1 after 0"), "counter", "asked", 1, "")
	others.Calls = append(others.Calls, core.TraceCall{Call: "ask event 1", Response: "event 1", Handler: "other"})
	tests := []struct {
		name   string
		trace  core.Trace
		parts  int
		reason string
		asked  []string
	}{
		{name: "it remembers", trace: core.Trace{Steps: []core.TraceStep{does("1 after 0"), does("2 after 0")}}, asked: []string{"1 after 0", "2 after 0"}},
		{name: "another one keeps nothing", trace: core.Trace{Steps: []core.TraceStep{does("1 after 0"), other("1 after 0"), other("1 after 0")}}, asked: []string{"1 after 0", "1 after 0", "1 after 0"}},
		{
			name:  "it remembers something else than it did",
			trace: core.Trace{Steps: []core.TraceStep{does("1 after 0"), does("1 after 0")}},
			parts: 2, reason: "counter makes the call ask 2 after 0, where it was to ask 1 after 0", asked: []string{"1 after 0"},
		},
		{name: "a restart", trace: core.Trace{Steps: []core.TraceStep{does("1 after 0"), recorded("restart", "counter", ""), does("1 after 0")}}, asked: []string{"1 after 0", "1 after 0"}},
		{name: "a restart of another", trace: core.Trace{Steps: []core.TraceStep{does("1 after 0"), recorded("restart", "other", ""), does("2 after 0")}}, asked: []string{"1 after 0", "2 after 0"}},
		{name: "a crash", trace: core.Trace{Steps: []core.TraceStep{stops, does("1 after 0")}}, asked: []string{"1 after 0", "1 after 0"}},
		{
			name:  "events after a crash are for the new instance",
			trace: core.Trace{Steps: []core.TraceStep{gets(stops, "counter", "quiet", 1, ""), does("1 after 1")}},
			asked: []string{"1 after 0", "event of quiet from 1 to 2", "1 after 1"},
		},
		{
			name:  "two instances",
			trace: core.Trace{Steps: []core.TraceStep{does("1 after 0"), keeping(recorded("reconcile", "counter (second instance)", "r", "1 after 0")), does("2 after 0")}},
			asked: []string{"1 after 0", "1 after 0", "2 after 0"},
		},
		{
			name: "events at the start",
			trace: core.Trace{
				Events: gets(core.TraceStep{}, "counter", "a", 0, "enqueues [a]").Events, Steps: []core.TraceStep{does("1 after 1")},
			},
			asked: []string{"event of a from 1 to 2", "1 after 1"},
		},
		{
			name:  "events of a delivery",
			trace: core.Trace{Steps: []core.TraceStep{does("1 after 0"), gets(recorded("deliver", "counter", "Lamp"), "counter", "quiet", 0, ""), does("2 after 1")}},
			asked: []string{"1 after 0", "event of quiet from 1 to 2", "2 after 1"},
		},
		{
			name:  "events between the calls of another",
			trace: core.Trace{Steps: []core.TraceStep{gets(other("1 after 0"), "counter", "quiet", 0, ""), does("1 after 1")}},
			asked: []string{"event of quiet from 1 to 2", "1 after 0", "1 after 1"},
		},
		{name: "a handler asks", trace: core.Trace{Steps: []core.TraceStep{handles, does("2 after 1")}}, asked: []string{"1 after 0", "event of asked from 1 to 2", "event 1", "2 after 1"}},
		{
			name:  "a handler asks more than it did",
			trace: core.Trace{Steps: []core.TraceStep{gets(does("1 after 0"), "counter", "asked", 1, "")}},
			parts: 1, reason: "the event handler of counter also makes the call ask event 1", asked: []string{"1 after 0", "event of asked from 1 to 2"},
		},
		{
			name:  "a handler asks what that of another one did",
			trace: core.Trace{Steps: []core.TraceStep{others}},
			parts: 1, reason: "the event handler of counter also makes the call ask event 1", asked: []string{"1 after 0", "event of asked from 1 to 2"},
		},
		{
			name:  "a handler asks something else",
			trace: core.Trace{Steps: []core.TraceStep{another}},
			parts: 1, reason: "the event handler of counter makes the call ask event 1, where it was to ask event 2", asked: []string{"1 after 0", "event of asked from 1 to 2"},
		},
		{
			name:  "a handler enqueues something else",
			trace: core.Trace{Steps: []core.TraceStep{gets(does("1 after 0"), "counter", "a", 1, "enqueues [b]")}},
			parts: 1, reason: `the event handler of counter ends with "enqueues [a]" for Lamp a, where it was "enqueues [b]"`, asked: []string{"1 after 0", "event of a from 1 to 2"},
		},
		{
			name:  "handlers of others are not run",
			trace: core.Trace{Steps: []core.TraceStep{gets(does("1 after 0"), "other", "bomb", 1, "")}}, asked: []string{"1 after 0"},
		},
		{name: "it goes on after a panic", trace: core.Trace{Steps: []core.TraceStep{explodes, does("2 after 0")}}, asked: []string{"1 after 0", "2 after 0"}},
		{
			name:  "a handler panics",
			trace: core.Trace{Steps: []core.TraceStep{gets(does("1 after 0"), "counter", "bomb", 1, boom), does("2 after 1")}},
			asked: []string{"1 after 0", "event of bomb from 1 to 2", "2 after 1"},
		},
		{
			name:  "a handler panics that did not",
			trace: core.Trace{Steps: []core.TraceStep{gets(does("1 after 0"), "counter", "bomb", 1, "")}},
			parts: 1, reason: fmt.Sprintf("the event handler of counter ends with %q for Lamp bomb", boom), asked: []string{"1 after 0", "event of bomb from 1 to 2"},
		},
		{
			name:  "a controller that is gone",
			trace: core.Trace{Steps: []core.TraceStep{keeping(recorded("reconcile", "gone", "r"))}}, reason: `there is no longer a controller "gone"`,
		},
	}
	forms(t, func(t *testing.T, sequential bool) {
		s := system(tallier{name: "counter", sequential: sequential}, tallier{name: "other", sequential: sequential})
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				world := stage{}
				deviation, err := behavior.Enact(context.Background(), s, test.trace, &world, limits())
				if err != nil {
					t.Fatal(err)
				}
				if test.parts == 0 && test.reason != "" {
					if deviation == nil || deviation.Step != 0 || deviation.Reason != test.reason {
						t.Errorf("it parts at %+v", deviation)
					}
				} else {
					wantDeviation(t, deviation, test.parts, test.reason)
				}
				wantCalls(t, world.asked, test.asked...)
			})
		}
	})
}

// TestEnactWithMemoryStuck goes on with an instance that did not come back, and cannot.
func TestEnactWithMemoryStuck(t *testing.T) {
	trap := gets(recorded("deliver", "counter", "Lamp"), "counter", "trap", 0, "made more than 5 calls without returning")
	for range 6 {
		trap.Calls = append(trap.Calls, core.TraceCall{Call: "ask more", Response: "more", Handler: "counter"})
	}
	after := keeping(recorded("reconcile", "counter", "r", "1 after 1"))
	bounded := limits()
	bounded.Calls = 5
	forms(t, func(t *testing.T, sequential bool) {
		for _, test := range []struct {
			then   core.TraceStep
			reason string
		}{
			{after, "counter does not come back from what it did before"},
			{gets(recorded("deliver", "counter", "Lamp"), "counter", "a", 0, ""), "the event handler of counter gets Lamp a, but counter does not come back from what it did before"},
		} {
			trace := core.Trace{Steps: []core.TraceStep{trap, test.then, after}}
			deviation, err := behavior.Enact(context.Background(), system(tallier{name: "counter", sequential: sequential}), trace, &stage{}, bounded)
			if err != nil {
				t.Fatal(err)
			}
			wantDeviation(t, deviation, 2, test.reason)
		}
	})
}

// TestEnactWithMemoryErrors makes no instances, and reads no events.
func TestEnactWithMemoryErrors(t *testing.T) {
	trace := core.Trace{Steps: []core.TraceStep{gets(keeping(recorded("reconcile", "counter", "r", "1 after 0")), "counter", "a", 0, "")}}
	for want, enact := range map[string]func() (*core.Deviation, error){
		"no hands": func() (*core.Deviation, error) {
			return behavior.Enact(context.Background(), system(tallier{name: "counter", broken: errors.New("no hands")}), trace, &stage{}, limits())
		},
		"no hands from the beginning": func() (*core.Deviation, error) {
			start := core.Trace{Memory: trace.Steps[0].Memory}
			return behavior.Enact(context.Background(), system(tallier{name: "counter", broken: errors.New("no hands from the beginning")}), start, &stage{}, limits())
		},
		"no eyes": func() (*core.Deviation, error) {
			return behavior.Enact(context.Background(), system(tallier{name: "counter"}), trace, &stage{broken: errors.New("no eyes")}, limits())
		},
	} {
		if d, err := enact(); d != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v, want %q", d, err, want)
		}
	}
}
