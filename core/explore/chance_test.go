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

// TestTwinWithChance compares searches of systems whose controllers do one thing or another by chance with the twin,
// which chooses for them, under random conditions. The search is told nothing: it has to see what they do.
func TestTwinWithChance(t *testing.T) {
	n := *systems
	if testing.Short() {
		n /= 5
	}
	forking, seldom, used := 0, 0, 0
	for seed := *firstSeed; n > 0; seed++ {
		system, coins, err := []func(uint64) (*core.System, *random.Coins, error){random.Chancy, random.Shuffling}[seed%2](seed)
		if err != nil {
			t.Fatal(err)
		}
		c, plain := conditionsOf(rand.New(rand.NewPCG(seed, 1)), system)
		c.Granularity, plain.PerCall, plain.Coins = explore.PerReconcile, false, coins.Choose
		want, err := naive.ExploreUnder(system, plain, largest/4)
		if err != nil {
			if !strings.Contains(err.Error(), "states") {
				t.Fatalf("seed %d: %v", seed, err)
			}
			continue // too large
		}
		n--
		o := options(1 + int(seed%2))
		o.Conditions, o.Conditions.Orders = c, 1_000_000
		space := search(t, system, o)
		if incidents := space.Incidents(); len(incidents) > 0 {
			t.Fatalf("%+v\nagain with -run %s -systems 1 -first-seed %d", incidents[0], t.Name(), seed)
		}
		reasons := slices.DeleteFunc(space.Reasons(), func(reason string) bool {
			return strings.HasPrefix(reason, "failed calls are allowed, but no call that was made can fail")
		})
		incomplete := func(reason string) bool {
			return strings.Contains(reason, "seldom") || strings.Contains(reason, "crashes in those cases were not searched")
		}
		if slices.ContainsFunc(reasons, incomplete) {
			seldom++
			continue
		} else if len(reasons) > 0 {
			t.Fatalf("seed %d, conditions %+v: the search is not complete: %q", seed, c, reasons)
		}
		if len(space.Forking()) > 0 {
			forking++
		}
		if d := differ(once(summaryUnder(space)), once(summaryOfTwinUnder(want))); d != "" {
			t.Fatalf("conditions %+v: %s\nagain with -run %s -systems 1 -first-seed %d", c, d, t.Name(), seed)
		}
		used += len(want.States)
	}
	t.Logf("%d states; chance is searched in %d systems, and %d are not complete", used, forking, seldom)
	if forking == 0 {
		t.Error("nothing is left to chance")
	}
}
