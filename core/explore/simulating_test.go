package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
)

// goStep is the step of a controller that reconciles "go".
func goStep(name string) core.Step {
	return core.Step{Item: core.Item{Strategy: name, Request: "go"}}
}

// TestPositionsAreTold chooses steps of controllers of which nothing is known beforehand: it is told what there is to
// do and what waits, what each step would change or why it cannot be taken, and what is kept in memory.
func TestPositionsAreTold(t *testing.T) {
	later := goes("later", always(func(asks, core.Request) core.Result { return core.Result{RequeueAfter: time.Hour} }))
	breaks := goes("breaks", always(func(do asks, _ core.Request) core.Result { do("break"); return core.Result{} }))
	simulation := NewSimulation(slateWith([]string{"a 0"}, minding("minds"), sticky("sticky"), later, breaks), Conditions{Remembering: []string{"minds"}}, slateLimits, nil)
	position, err := simulation.Run(t.Context(), 0, []core.Step{goStep("later"), goStep("sticky"), goStep("sticky")})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(position.Trace.Memory, position.Work, position.Timers, position.Trace.CycleStart); got != "[told = a] [minds(go) breaks(go)] [later(go)] -1" {
		t.Errorf("it is told that %s", got)
	}
	wantSteps(t, "the run", position.Trace.Steps, "reconcile later; asks to be run again in 1h0m0s", "reconcile sticky; :put b 1 ok; event minds b 0-1 of 1 behind 1 ; minds told: a → b; sticky once = yes; asks to be run again",
		"reconcile sticky; :put b 2 ok; event minds b 1-2 of 2 behind 1 ")
	var choices []string
	for _, c := range position.Choices {
		text := c.Edge.Step.String()
		for _, change := range c.Changes {
			text += fmt.Sprint("; ", change.Verb, " ", change.Name)
		}
		choices = append(choices, text+"; "+c.Stopped)
	}
	want := []string{"minds reconciles go; changed b; created d; ", "breaks reconciles go; unsupported call: break: nobody can"}
	if !slices.Equal(choices, want) {
		t.Errorf("the choices are %q, want %q", choices, want)
	}
}

// TestStandingRequestsAreNoWork has processes always be able to do something, which is in no work queue.
func TestStandingRequestsAreNoWork(t *testing.T) {
	system, err := grid(1, 1).System()
	if err != nil {
		t.Fatal(err)
	}
	position, err := NewSimulation(system, Conditions{}, slateLimits, nil).Run(t.Context(), 0, nil)
	if err != nil || len(position.Work)+len(position.Timers) > 0 || len(position.Choices) != 2 {
		t.Errorf("%+v: %v", position, err)
	}
}

// TestSimulationsFail has simulations end with an error: there is no such start, it cannot be made, a set-up fails, or
// code does something else when a step runs again. What was cut short by a context is not known behind that, and
// another context does not end what comes then.
func TestSimulationsFail(t *testing.T) {
	build := func() *core.System {
		return slateWith([]string{"a 0"}, settles("sets", "a", "1"), minding("minds"), sticky("sticky"))
	}
	steps := []core.Step{goStep("sets"), goStep("sticky"), goStep("minds")}
	run := func(ctx context.Context, s *Simulation) (*core.Position, error) { return s.Run(ctx, 0, steps) }
	want, err := run(t.Context(), NewSimulation(build(), Conditions{}, slateLimits, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewSimulation(build(), Conditions{}, slateLimits, nil).Run(t.Context(), 1, nil); err == nil || err.Error() != "there is no initial state 1: use a number from 0 to 0" {
		t.Errorf("of another start: %v", err)
	}
	system := build()
	made, failing := countedIn(system)
	if _, err := run(t.Context(), NewSimulation(system, Conditions{}, slateLimits, nil)); err != nil {
		t.Fatal(err)
	}
	for at, all := int64(1), made.Load(); at <= all; at += max(1, all/12) {
		made.Store(0)
		failing.Store(at)
		if _, err := run(t.Context(), NewSimulation(system, Conditions{}, slateLimits, nil)); made.Load() >= at && !errors.Is(err, errFails) {
			t.Errorf("of %d set-ups, number %d fails, and the error is %v", all, at, err)
		}
	}
	unstarted := slateWith([]string{"a 0"}, hand{core.Description{Name: "watches", Watches: []core.Kind{"word"}, Sequential: true}, func() hired {
		return hired{handle: func(do asks, _ core.Event) []core.Request { do("break"); return nil }}
	}})
	if _, err := NewSimulation(unstarted, Conditions{}, slateLimits, nil).Run(t.Context(), 0, nil); err == nil || !strings.Contains(err.Error(), "unsupported call: break") {
		t.Errorf("of a start that cannot be made: %v", err)
	}
	// One simulation goes on behind the ends of contexts.
	one := NewSimulation(build(), Conditions{}, slateLimits, nil)
	for n := 0; n <= len(steps); n++ {
		ctx, end := context.WithCancel(t.Context())
		if _, err := one.Run(ctx, 0, steps[:n]); err != nil {
			t.Fatalf("behind the end of another context: %v", err)
		}
		end()
	}
	for looks := 0; looks < 36; looks += 7 {
		ctx := &ending{Context: t.Context(), looks: looks}
		if _, err := one.Run(ctx, 0, steps); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("behind %d looks: %v", looks, err)
		}
		if got, err := one.Run(t.Context(), 0, steps); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("behind an interruption after %d looks: %v", looks, err)
		}
	}
	// The last run of the code of a step is the one that makes sure.
	runs, turn := 0, 0
	turns := NewSimulation(slateWith(nil, goes("turns", always(func(do asks, _ core.Request) core.Result {
		if runs++; runs == turn {
			do("put b 2")
		}
		do("put b 1")
		return core.Result{}
	}))), Conditions{}, slateLimits, nil)
	if _, err := turns.Run(t.Context(), 0, []core.Step{goStep("turns")}); err != nil {
		t.Fatal(err)
	}
	turn = runs + 1
	if _, err := turns.Run(t.Context(), 0, []core.Step{goStep("turns")}); err == nil || !strings.Contains(err.Error(), "behaved differently when the step ran again") {
		t.Errorf("where code does something else when a step runs again: %v", err)
	}
}

// TestSimulationsLog logs what is learned.
func TestSimulationsLog(t *testing.T) {
	var log bytes.Buffer
	logger := hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Trace, DisableTime: true})
	if _, err := NewSimulation(slateWith(nil, settles("sets", "a", "1")), Conditions{}, slateLimits, logger).Run(t.Context(), 0, []core.Step{goStep("sets")}); err != nil || log.Len() == 0 {
		t.Errorf("%q is logged: %v", log.String(), err)
	}
}
