package explore_test

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/naive"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestTwinWithLaterItems compares searches of systems of which some calls set timers for items with the twin, under
// random conditions.
func TestTwinWithLaterItems(t *testing.T) {
	eachUnder(t, max(1, *systems/2), random.Later(random.System), conditionsOf, func(seed uint64, system *core.System, c explore.Conditions, want *naive.Graph) {
		o := options(1 + int(seed%2))
		o.Conditions = c
		space := search(t, system, o)
		if d := differ(summaryUnder(space), summaryOfTwinUnder(want)); d != "" && len(space.Reasons()) == 0 {
			t.Fatalf("conditions %+v: %s\nagain with -run %s -systems 1 -first-seed %d", c, d, t.Name(), seed)
		}
	})
}

// TestTwinWithDeadlinesAndLaterItems compares them where controllers wait for times.
func TestTwinWithDeadlinesAndLaterItems(t *testing.T) {
	twinWithDeadlines(t, random.Later(random.Dated), "")
}
