package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	l.Logger = logger
	space := newSpace(l.Machine, l, &reduction.Reductions{}, Options{Run: limits})
	w := space.executor
	if found, err := beginAs(w, trace.Initial); err != nil || !found {
		return &core.Deviation{Reason: "the system no longer starts with these objects"}, err
	}
	t := newTraceBuilder(w)
	var cycle []byte
	for i, recorded := range trace.Steps {
		if i == trace.CycleStart {
			cycle = w.Vector.AppendRow(nil)
		}
		logger.Debug("a step is replayed", "step", i+1, "controller", recorded.Controller, "request", recorded.Request)
		reason, err := follow(w, ctx, t, recorded)
		if ctx.Err() != nil {
			return nil, ctx.Err() // what was cut short is not what happens
		}
		if err != nil || reason != "" {
			return &core.Deviation{Step: i + 1, Reason: reason}, err
		}
	}
	if trace.CycleStart >= 0 && !bytes.Equal(cycle, w.Vector.AppendRow(nil)) {
		return &core.Deviation{Step: len(trace.Steps), Reason: "the repeated steps no longer lead back to where they began"}, nil
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
func follow(w *reduction.Explorer, ctx context.Context, t *traceBuilder, recorded core.TraceStep) (string, error) {
	a := w.Machine.ByName[recorded.Controller]
	if a == nil {
		return fmt.Sprintf("there is no longer a controller %q", recorded.Controller), nil
	}
	kind, known := core.StepKindOf(recorded.Kind)
	if !known && recorded.Kind != "probe" {
		return fmt.Sprintf("there is no step of the kind %q", recorded.Kind), nil
	}
	step := core.Step{Kind: kind, Item: core.Item{Strategy: a.Name, Request: recorded.Request}, Detail: recorded.Detail, Order: recorded.Order}
	w.Forget()
	now, err := t.build(step)
	if err != nil {
		var unsupported *core.Unsupported
		var memory *transition.UnexpectedMemory
		if errors.As(err, &unsupported) || errors.As(err, &memory) {
			return "", err
		}
		return err.Error(), nil
	}
	return differs(recorded, now), t.again(ctx)
}

// differs says how two tellings of a step differ, empty if they do not. The numbers
// of states do not matter.
func differs(recorded, now core.TraceStep) string {
	recorded.From, recorded.To, now.From, now.To = 0, 0, 0, 0
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
	before, err := json.Marshal(inWords(recorded))
	after, err2 := json.Marshal(inWords(now))
	if err != nil || err2 != nil || !equalJSON(before, after) {
		return "it changes other objects or enqueues other requests than before"
	}
	return ""
}

// sameCall reports whether two calls are the same in words.
func sameCall(a, b core.TraceCall) bool {
	return a.Call == b.Call && a.Response == b.Response && a.Wrote == b.Wrote && a.Handler == b.Handler
}

// inWords returns a step without what its words say already, so that it can be held against one of a
// record that has nothing but the words.
func inWords(step core.TraceStep) core.TraceStep {
	step.Crashes = false
	step.Calls = slices.Clone(step.Calls)
	for i := range step.Calls {
		c := &step.Calls[i]
		c.Behind, c.Fault, c.Turn, c.Creates = nil, "", 0, nil
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
		out, err := json.Marshal(tree)
		if err != nil {
			return text
		}
		return out
	}
	return bytes.Equal(normal(a), normal(b))
}
