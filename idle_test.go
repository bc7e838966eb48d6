package orrery_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/random"
)

// wrapped is a store that knows nothing but the port of the one inside.
type wrapped struct{ core.Store }

// TestFaultsThatCannotHappen checks that faults which nobody can have are refused, or are a reason, and that a store
// that is wrapped still says how calls fail.
func TestFaultsThatCannotHappen(t *testing.T) {
	x := plain.NewVar[int]("x")
	model := plain.Model{
		Name:      "steps",
		Initial:   []core.Initial{plain.Start(x.Is(0))},
		Processes: []plain.Process{{Name: "hand", Actions: []plain.Action{{Name: "wave", Do: func(w *plain.World) { x.Set(w, 1) }}}}},
	}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range []orrery.Options{{Crashes: 1}, {Failures: 1}} {
		if _, err := orrery.Run(context.Background(), system, options); err == nil || !strings.Contains(err.Error(), "guarded actions and messages are atomic: hand") {
			t.Errorf("%+v: the error is %v", options, err)
		}
	}
	model.Controllers = []plain.Controller{{
		Name: "sets", Requests: []core.Request{"r"},
		Reconcile: func(w *plain.World, _ core.Request) core.Result { x.Set(w, 1); return core.Result{} },
	}}
	if system, err = model.System(); err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(context.Background(), system, orrery.Options{Failures: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Inconclusive || !strings.Contains(strings.Join(r.Reasons, "\n"), "no call that was made can") {
		t.Errorf("the verdict is %s, with the reasons %q", r.Verdict, r.Reasons)
	}
	states := func(wrap bool) int {
		system, err := random.Loose(3)
		if err != nil {
			t.Fatal(err)
		}
		if wrap {
			system.Store = wrapped{system.Store}
		}
		result, err := orrery.Run(context.Background(), system, orrery.Options{Failures: 1, MaxStates: 2000})
		if err != nil {
			t.Fatal(err)
		}
		return result.Report.States
	}
	if plainly, inside := states(false), states(true); plainly != inside {
		t.Errorf("%d states, and %d with the store wrapped", plainly, inside)
	}
}
