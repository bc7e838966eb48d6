package orrery_test

import (
	"context"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestJudgeThatRecovers has a property that recovers from everything, also from being ended: what it says then does not
// count.
func TestJudgeThatRecovers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	system, err := one(set(five, false), core.Property{Name: "careless", Doc: "careless", Judge: func(_ context.Context, g core.Graph) ([]core.Violation, error) {
		cancel()
		for began := time.Now(); time.Since(began) < time.Second; time.Sleep(time.Millisecond) {
			func() {
				defer func() { _ = recover() }()
				g.Edges(0)
			}()
		}
		return nil, nil
	}}).System()
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(ctx, system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Inconclusive {
		t.Errorf("the verdict is %s, for %q", r.Verdict, r.Reasons)
	}
}

// TestFoundBeforeTheInterrupt interrupts a search when it has found something: that is told.
func TestFoundBeforeTheInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	system, err := one(func(w *plain.World) core.Result {
		x().Set(w, x().Get(w)+1)
		return core.Result{Requeue: true}
	}, core.Property{Name: "small", Doc: "small", Invariant: func(s core.State) error {
		if err := never(3).Invariant(s); err != nil {
			cancel()
			return err
		}
		return nil
	}}, properties.StableConvergence()).System()
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(ctx, system, orrery.Options{Reduction: orrery.NoReduction})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Violated || len(r.Findings) != 1 || len(r.Findings[0].Trace.Steps) == 0 {
		t.Errorf("the verdict is %s, with %+v, for %q", r.Verdict, r.Findings, r.Reasons)
	}
}
