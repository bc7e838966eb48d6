package orrery_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// start is when the virtual clock begins.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// staged is a controller that keeps in memory how much time has passed, and that does something only while that says
// so.
type staged struct{ core.Strategy }

func (s staged) New() (core.Instance, error) {
	instance, err := s.Strategy.New()
	return &stagedInstance{Instance: instance}, err
}

type stagedInstance struct {
	core.Instance
	started time.Time
	stage   string
}

func (s *stagedInstance) Memory() map[string]string {
	return map[string]string{"started": s.started.UTC().String(), "stage": s.stage}
}

func (s *stagedInstance) Reconcile(r core.EffectRecorder, request core.Request) core.Result {
	if s.stage == "warm" {
		s.Instance.Reconcile(r, request)
	}
	if s.started.IsZero() {
		s.started = time.Now()
	}
	switch elapsed := time.Since(s.started); {
	case elapsed > 24*time.Hour:
		s.stage = "cold"
	case elapsed > time.Hour:
		s.stage = "warm"
	}
	return core.Result{RequeueAfter: 2 * time.Hour}
}

// TestSeveralTimesInARow has a controller do something else after an hour than after a day, in ways that begin alike:
// by calls of which only a later one differs, or by what it keeps in memory. What it does in between is not searched,
// so that nothing may be said to hold.
func TestSeveralTimesInARow(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	never := core.Property{Name: "never warm", Doc: "y is never written.", Invariant: func(s core.State) error {
		if y.Get(s) > 0 {
			return errors.New("it is warm")
		}
		return nil
	}}
	model := func(reconcile func(*plain.World, core.Request) core.Result) *core.System {
		system, err := plain.Model{
			Name: "stages", Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0))}, Properties: []core.Property{never},
			Controllers: []plain.Controller{{Name: "c", Requests: []core.Request{"r"}, Reconcile: reconcile}},
		}.System()
		if err != nil {
			t.Fatal(err)
		}
		return system
	}
	later := func(w *plain.World, _ core.Request) core.Result {
		elapsed := time.Since(start)
		switch {
		case x.Get(w) == 1:
			return core.Result{}
		case elapsed > time.Hour:
			x.Set(w, 1)
			if elapsed < 24*time.Hour {
				y.Set(w, 1)
			}
		}
		return core.Result{RequeueAfter: 2 * time.Hour}
	}
	inMemory := model(func(w *plain.World, _ core.Request) core.Result {
		y.Set(w, 1)
		return core.Result{}
	})
	inMemory.Strategies[0] = staged{inMemory.Strategies[0]}
	result, err := orrery.Run(t.Context(), model(later), orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Violated || len(r.Spans) != 1 || r.Spans[0].Round(time.Hour) != time.Hour {
		t.Errorf("a later call: %s %q, after %v", r.Verdict, r.Reasons, r.Spans)
	}
	if result, err = orrery.Run(t.Context(), inMemory, orrery.Options{}); err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Inconclusive || !strings.Contains(strings.Join(r.Reasons, ""), "waits for several times") {
		t.Errorf("memory: %s %q", r.Verdict, r.Reasons)
	}
}

// TestWaitsThatAreFoundWhileJudging has a controller look at the clock for a request that no search makes where it
// does. It is found by what judging tries, and counts.
func TestWaitsThatAreFoundWhileJudging(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	type fields map[string]map[string]string
	o := plain.NewVar[fields]("o")
	model := plain.Model{
		Name:       "late",
		Initial:    []core.Initial{plain.Start(x.Is(0), y.Is(0), o.Is(fields{"metadata": {"deletionTimestamp": "then"}}))},
		Properties: []core.Property{properties.DeletionCompletes(), properties.Fixpoint(), properties.SameOutcome()},
		Controllers: []plain.Controller{{Name: "c", Requests: []core.Request{"poll", "late"}, Reconcile: func(w *plain.World, r core.Request) core.Result {
			switch {
			case r == "poll":
				return core.Result{RequeueAfter: time.Hour}
			case x.Get(w) == 0:
				x.Set(w, 1)
			case time.Since(start) > 5*365*24*time.Hour:
				y.Set(w, 1)
			}
			return core.Result{}
		}}},
	}
	r := run(t, model, orrery.Options{}).Report
	if r.Verdict == core.Holds || !strings.Contains(strings.Join(r.Reasons, ""), "depends on the clock") {
		t.Errorf("%s %q", r.Verdict, r.Reasons)
	}
}

// TestSearchesThatAreGivenUp has a search meet what is not modelled in its first states, where it learns what can be
// left out: what is found later counts as it does where nothing is left out.
func TestSearchesThatAreGivenUp(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	counts := func(name string, v plain.Var[int]) plain.Controller {
		return plain.Controller{Name: name, Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
			n := v.Get(w)
			v.Set(w, n+1)
			return core.Result{Requeue: n < 10}
		}}
	}
	model := plain.Model{
		Name:    "given up",
		Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0))},
		Properties: []core.Property{{Name: "small", Doc: "x is small.", Invariant: func(s core.State) error {
			if x.Get(s) > 5 {
				return errors.New("it is large")
			}
			return nil
		}}},
		Controllers: []plain.Controller{
			{Name: "bad", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
				plain.NewInbox[string]("nobody").Send(w, "x")
				return core.Result{}
			}},
			counts("a", x), counts("b", y),
		},
	}
	for _, reduction := range []orrery.Reduction{orrery.NoReduction, orrery.ByPartialOrder} {
		if r := run(t, model, orrery.Options{Reduction: reduction}).Report; r.Verdict != core.Violated {
			t.Errorf("%s: %s %q", reduction, r.Verdict, r.Reasons)
		}
	}
}
