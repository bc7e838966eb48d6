package explore_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/naive"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestTwinWithConcurrentCalls compares searches of systems whose controllers make calls from several goroutines with
// the twin, which answers them in all orders. Orders that come to the same are taken once.
func TestTwinWithConcurrentCalls(t *testing.T) {
	branching := 0
	conditions := func(r *rand.Rand, system *core.System) (c explore.Conditions, plain naive.Conditions) {
		if r.IntN(3) > 0 {
			c, plain = conditionsOf(r, system)
			// With all orders there are very many ways as it is.
			if c.Failures = min(c.Failures, r.IntN(4)/3); c.Failures > 0 {
				c.Crashes = min(c.Crashes, 1)
			}
			plain.Failures, plain.Crashes = c.Failures, c.Crashes
			if c.Failures+c.Crashes == 0 {
				c.FaultsIn, plain.FaultsIn = nil, nil
			}
		}
		c.Orders, plain.Concurrent = 1_000_000, true
		return c, plain
	}
	large := eachUnder(t, max(1, *systems/2), random.Concurrent, conditions, func(seed uint64, system *core.System, c explore.Conditions, want *naive.Graph) {
		for workers := 1; workers <= 2; workers++ {
			o := options(workers)
			o.Conditions = c
			if seed%4 == 0 {
				o.Order = explore.DepthFirst
			}
			space := search(t, system, o)
			idle := func(reason string) bool {
				return strings.HasPrefix(reason, "failed calls are allowed, but no call that was made can fail")
			}
			if reasons := slices.DeleteFunc(space.Reasons(), idle); len(reasons) > 0 {
				t.Fatalf("seed %d: the search is not complete: %q", seed, reasons)
			}
			got, want := once(summaryUnder(space)), once(summaryOfTwinUnder(want))
			if d := differ(got, want); d != "" {
				t.Fatalf("%d workers, conditions %+v: %s\nagain with -run TestTwinWithConcurrentCalls -systems 1 -first-seed %d", workers, c, d, seed)
			}
		}
		c.Orders = 1
		o := options(1)
		o.Conditions = c
		if one := search(t, system, o); one.States() < len(want.States) {
			branching++
			if len(one.Reasons()) == 0 {
				t.Fatalf("seed %d, conditions %+v: one order finds %d states, all find %d, and there is no reason", seed, c, one.States(), len(want.States))
			}
		}
	})
	if branching == 0 {
		t.Error("the order of concurrent calls matters in no system")
	}
	t.Logf("%d systems were too large, and in %d the order of concurrent calls matters", large, branching)
}

// once leaves each step out but once.
func once(s summary) summary {
	s.edges = slices.Compact(s.edges)
	return s
}
