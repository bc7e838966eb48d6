package ltl_test

import (
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// TestQueuesAreFair checks that what waits in a queue is begun at some time, although the only worker is busy again and
// again.
func TestQueuesAreFair(t *testing.T) {
	done, flag := plain.NewVar[bool]("done"), plain.NewVar[int]("flag")
	system, err := plain.Model{
		Name:    "queue",
		Initial: []core.Initial{plain.Start(done.Is(false), flag.Is(0))},
		Controllers: []plain.Controller{{
			Name: "c", Requests: []core.Request{"again", "once"},
			Reconcile: func(w *plain.World, r core.Request) core.Result {
				if r == "once" {
					done.Set(w, true)
					return core.Result{}
				}
				flag.Set(w, 1-flag.Get(w))
				return core.Result{Requeue: true}
			},
		}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	space, err := explore.Search(t.Context(), system, explore.Options{
		Workers:    1,
		Run:        behavior.Limits{Deadline: 10 * time.Second, Calls: 100},
		Conditions: explore.Conditions{Granularity: explore.PerCall},
	})
	if err != nil || len(space.Reasons()) > 0 {
		t.Fatal(err, space.Reasons())
	}
	atoms := []ltl.Atom{
		{Name: "done", State: func(s core.State) bool { return done.Get(s) }},
		{Name: "up", State: func(s core.State) bool { return flag.Get(s) == 1 }},
	}
	for _, test := range []struct {
		formula  string
		fairness ltl.Fairness
		holds    bool
	}{
		{"F done", ltl.Weak, true},
		{"F done", ltl.Strong, true},
		{"F done", ltl.Unfair, false},
		{"F G up", ltl.Weak, false},
		{"F G up", ltl.Strong, false},
	} {
		p, err := ltl.Claim{Formula: test.formula, Fairness: test.fairness, Atoms: atoms}.Property()
		if err != nil {
			t.Fatal(err)
		}
		violations, err := p.Judge(t.Context(), space)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(violations) == 0; got != test.holds {
			t.Errorf("%s of every %s: got %t", test.formula, test.fairness, got)
		}
	}
}
