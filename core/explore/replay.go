package explore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// Replay takes the steps of a trace again, with real code from the first to the last. It
// returns where it goes another way, nil if it does not. An error means that the
// system cannot be run. The logger gets each step; nil logs nothing.
func Replay(ctx context.Context, system *core.System, conditions Conditions, trace core.Trace, limits behavior.Limits, logger hclog.Logger) (*core.Deviation, error) {
	conditions.Infer(system, trace)
	for {
		deviation, err := replay(ctx, system, conditions, trace, limits, logger)
		if !conditions.Expect(err) {
			return deviation, err
		}
	}
}

// replay replays with what is known of controllers.
func replay(ctx context.Context, system *core.System, conditions Conditions, trace core.Trace, limits behavior.Limits, logger hclog.Logger) (*core.Deviation, error) {
	l, err := transition.NewLearner(ctx, system, conditions, limits, 0)
	if err != nil {
		return nil, err
	}
	if logger == nil {
		logger = hclog.NewNullLogger()
	}
	l.Logger, l.Following = logger, true
	space := newSpace(l.Machine, l, &reduction.Reductions{}, Options{Run: limits})
	w := space.executor
	if found, err := beginAs(w, trace.Initial); !found {
		return &core.Deviation{Reason: "the system no longer starts with these objects"}, err
	}
	t := newTraceBuilder(w)
	memory := remembered{recorded: keepsMemory(trace)}
	if reason := memory.differs(trace.Memory, l.Machine.MemoryChanges(nil, w.Recollection(), nil)); reason != "" {
		return &core.Deviation{Reason: reason}, nil
	}
	words := exchange{machine: l.Machine}
	var cycle []byte
	for i, recorded := range trace.Steps {
		if i == trace.CycleStart {
			cycle = w.Vector.AppendRow(nil)
		}
		logger.Debug("a step is replayed", "step", i+1, "controller", recorded.Controller, "request", recorded.Request)
		reason, err := follow(w, ctx, t, recorded, &memory, &words)
		if ctx.Err() != nil {
			return nil, ctx.Err() // what was cut short is not what happens
		}
		if err != nil || reason != "" {
			return &core.Deviation{Step: i + 1, Reason: reason + memory.note}, err
		}
	}
	if trace.CycleStart >= 0 && !bytes.Equal(cycle, w.Vector.AppendRow(nil)) {
		return &core.Deviation{Step: len(trace.Steps), Reason: "the repeated steps no longer lead back to where they began" + memory.note}, nil
	}
	return nil, nil
}

// beginAs puts the walker in the initial state with these objects, and reports whether
// there is one.
func beginAs(w *reduction.Explorer, objects []core.TraceObject) (bool, error) {
	want, err := json.Marshal(objects)
	if err != nil {
		return false, fmt.Errorf("the initial objects of the trace: %w", err)
	}
	for _, initial := range w.Machine.System.Initial {
		if err := w.Start(initial); err != nil {
			return false, err
		}
		found := []core.TraceObject{}
		for _, object := range w.Look().Objects() {
			if w.Machine.Matters(object) {
				found = append(found, traceObject(object))
			}
		}
		if have, err := json.Marshal(found); err == nil && equalJSON(want, have) {
			return true, nil
		}
	}
	return false, nil
}

// follow takes a step of a trace again and says what is different about it, empty if
// nothing is.
func follow(w *reduction.Explorer, ctx context.Context, t *traceBuilder, recorded core.TraceStep, memory *remembered, words *exchange) (string, error) {
	if recorded.Kind != core.Pass.Name() && !w.Machine.Knows(recorded.Controller) {
		return fmt.Sprintf("there is no longer a controller %q", recorded.Controller), nil
	}
	kind, known := core.StepKindOf(recorded.Kind)
	if !known && recorded.Kind != probed {
		return fmt.Sprintf("there is no step of the kind %q", recorded.Kind), nil
	}
	step := core.Step{Kind: kind, Item: core.Item{Strategy: recorded.Controller, Request: recorded.Request}, Detail: recorded.Detail, Order: recorded.Order}
	w.Forget()
	now, err := t.build(ctx, step)
	if err != nil {
		if errors.As(err, new(impossible)) {
			return err.Error(), nil
		}
		return "", err
	}
	reason := words.explain(recorded, now, differs(recorded, now))
	if reason == "" {
		reason = memory.differs(recorded.Memory, now.Memory)
	}
	return reason, t.again(ctx)
}

// exchange are the steps of a trace up to some step, and those that were taken again. Where a controller puts the words
// that it draws to use in another order each time, they may differ in those.
type exchange struct {
	machine       *transition.Machine
	recorded, now []string
	// other tells that a step was not the same.
	other bool
}

// explain adds a step, and returns why it is not the same, as far as that is not because of such words: then those of
// all steps stand for each other.
func (x *exchange) explain(recorded, now core.TraceStep, reason string) string {
	if !x.machine.Exchanges() {
		return reason
	}
	before, after, err := inText(recorded, now)
	if err != nil {
		return reason
	}
	x.recorded, x.now = append(x.recorded, string(before)), append(x.now, string(after))
	if x.other = x.other || reason != ""; !x.other {
		return ""
	}
	if x.machine.System.Randomness.Exchanged(core.Drawn{Texts: x.recorded}, core.Drawn{Texts: x.now}, make([][]string, len(x.now))) {
		return ""
	}
	return cmp.Or(reason, "what it has drawn stands in other places than before")
}

// remembered compares what controllers keep in memory with what a trace says they did.
type remembered struct {
	// recorded tells that the trace says anything of memory: older ones do not.
	recorded bool
	// note is what belongs to a deviation if the trace says nothing of memory, and there is some.
	note string
}

// differs says what is different about memory, empty if nothing is or nothing was recorded.
func (m *remembered) differs(recorded, now []core.MemoryChange) string {
	if !m.recorded {
		if len(now) > 0 && m.note == "" {
			m.note = fmt.Sprintf(" (%s now keeps %s in memory, of which the record says nothing)", now[0].Controller, now[0].Field)
		}
		return ""
	}
	for i := range max(len(recorded), len(now)) {
		switch {
		case i >= len(now):
			return fmt.Sprintf("the memory of %s no longer changes: it was %q", recorded[i].Controller, recorded[i])
		case i >= len(recorded):
			return fmt.Sprintf("the memory of %s now changes: %q", now[i].Controller, now[i])
		case !reflect.DeepEqual(recorded[i], now[i]):
			return fmt.Sprintf("the memory of %s is different: it was %q, and is now %q", now[i].Controller, recorded[i], now[i])
		}
	}
	return ""
}

// keepsMemory reports whether a trace says anything of memory.
func keepsMemory(trace core.Trace) bool {
	return len(trace.Memory) > 0 || slices.ContainsFunc(trace.Steps, func(step core.TraceStep) bool { return len(step.Memory) > 0 })
}

// differs says how two tellings of a step differ, empty if they do not. The numbers
// of states do not matter.
func differs(recorded, now core.TraceStep) string {
	if recorded.Kind != now.Kind {
		return fmt.Sprintf("%s is no longer in the work queue", core.Item{Strategy: now.Controller, Request: now.Request})
	}
	for i := range max(len(recorded.Calls), len(now.Calls)) {
		switch {
		case i >= len(now.Calls):
			return fmt.Sprintf("it no longer makes the call %s", recorded.Calls[i].Call)
		case i >= len(recorded.Calls):
			return fmt.Sprintf("it now makes the call %s", now.Calls[i].Call)
		case !sameCall(recorded.Calls[i], now.Calls[i]):
			return fmt.Sprintf("the call was %q with the response %q, and is now %q with the response %q",
				recorded.Calls[i].Call, recorded.Calls[i].Response, now.Calls[i].Call, now.Calls[i].Response)
		}
	}
	if recorded.Result != now.Result {
		return fmt.Sprintf("it ended with %q and now ends with %q", recorded.Result, now.Result)
	}
	before, after, err := inText(recorded, now)
	if err != nil || !equalJSON(before, after) {
		return "it changes other objects or enqueues other requests than before"
	}
	return ""
}

// inText returns two tellings of a step as texts, without the numbers of states.
func inText(recorded, now core.TraceStep) (before, after []byte, err error) {
	recorded.From, recorded.To, now.From, now.To = 0, 0, 0, 0
	before, err = json.Marshal(inWords(recorded))
	after, err2 := json.Marshal(inWords(now))
	return before, after, errors.Join(err, err2)
}

// sameCall reports whether two calls are the same in words.
func sameCall(a, b core.TraceCall) bool {
	return a.Call == b.Call && a.Response == b.Response && a.Wrote == b.Wrote && a.Handler == b.Handler
}

// inWords returns a step without what its words say already, so that it can be held against one of a
// record that has nothing but the words. What is logged is no part of what happens, and a replay does not listen.
func inWords(step core.TraceStep) core.TraceStep {
	step = step.Unlogged()
	step.Crashes, step.Memory, step.Events = false, nil, nil
	step.Calls = slices.Clone(step.Calls)
	for i := range step.Calls {
		c := &step.Calls[i]
		c.Behind, c.Fault, c.Turn, c.At, c.Creates = nil, "", 0, nil, nil
	}
	return step
}

// equalJSON reports whether two texts are the same tree, however their numbers and
// maps were written.
func equalJSON(a, b []byte) bool {
	normal := func(text []byte) []byte {
		var tree any
		if json.Unmarshal(text, &tree) != nil {
			return text
		}
		out, _ := json.Marshal(tree) // what was read can be written
		return out
	}
	return bytes.Equal(normal(a), normal(b))
}
