package properties_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// searching are the options of a search by one worker.
func searching() explore.Options {
	return explore.Options{Workers: 1, Run: behavior.Limits{Deadline: 10 * time.Second, Calls: 1000}}
}

// TestSettledForGood checks random systems in which nobody may put off what is to do: that every fair run settles for
// good is stable convergence with fixpoint.
func TestSettledForGood(t *testing.T) {
	settles, err := ltl.Claim{Formula: "F G settled", Atoms: []ltl.Atom{{Name: "settled", Graph: properties.Settled}}}.Property()
	if err != nil {
		t.Fatal(err)
	}
	settling, others, n := 0, 0, 300
	if testing.Short() {
		n = 80
	}
	for seed := range uint64(n) {
		system, err := random.System(seed)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(system.Strategies, func(s core.Strategy) bool { return s.Describe().Unfair }) {
			continue
		}
		options := searching()
		options.Bounds.States = 2000
		space, err := explore.Search(t.Context(), system, options)
		if err != nil {
			t.Fatal(err)
		}
		if len(space.Reasons()) > 0 {
			continue
		}
		holds := func(p core.Property) bool {
			violations, err := p.Judge(t.Context(), space)
			if err != nil {
				t.Fatal(err)
			}
			return len(violations) == 0
		}
		converges, isFixed, isSettled := holds(properties.StableConvergence()), holds(properties.Fixpoint()), holds(settles)
		if (converges && isFixed) != isSettled {
			t.Errorf("seed %d: stable convergence %t, fixpoint %t, F G settled %t", seed, converges, isFixed, isSettled)
		}
		if isSettled {
			settling++
		} else {
			others++
		}
	}
	if settling < n/40 || others < n/40 {
		t.Errorf("%d systems settle and %d do not, too few to say much", settling, others)
	}
}

// TestSettled checks by hand what counts as settled.
func TestSettled(t *testing.T) {
	x := plain.NewVar[int]("x")
	// The controller counts to 2 and then polls.
	model := plain.Model{
		Name:    "polling",
		Initial: []core.Initial{plain.Start(x.Is(0))},
		Controllers: []plain.Controller{{
			Name: "c", Requests: []core.Request{"r"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				if now := x.Get(w); now < 2 {
					x.Set(w, now+1)
					return core.Result{Requeue: true}
				}
				return core.Result{RequeueAfter: 1}
			},
		}},
	}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	space, err := explore.Search(t.Context(), system, searching())
	if err != nil {
		t.Fatal(err)
	}
	settled, err := properties.Settled(t.Context(), space)
	if err != nil {
		t.Fatal(err)
	}
	for id := range core.StateID(space.States()) {
		if got, want := settled(id), x.Get(space.State(id)) == 2; got != want {
			t.Errorf("state %d, in which x is %d: settled is %t", id, x.Get(space.State(id)), got)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := properties.Settled(ended, space); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
