package reduction_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/examples/autoscaler"
	"github.com/orrery-dev/orrery/examples/missedwatch"
	"github.com/orrery-dev/orrery/examples/models"
	"github.com/orrery-dev/orrery/examples/racecondition"
	"github.com/orrery-dev/orrery/examples/tenants"
	"github.com/orrery-dev/orrery/examples/toggle"
	"github.com/orrery-dev/orrery/reduction"
)

// TestExamplesAreJudgedAlike compares reduced searches of the examples with full ones, under several conditions.
func TestExamplesAreJudgedAlike(t *testing.T) {
	stale := func(rule view.Rule) []explore.Staleness { return []explore.Staleness{{Rule: rule}} }
	conditions := []struct {
		name string
		explore.Conditions
	}{
		{"fresh", explore.Conditions{}},
		{"lag", explore.Conditions{Staleness: stale(view.Lag(1))}},
		{"own writes", explore.Conditions{Staleness: stale(view.OwnWrites(2))}},
		{"calls", explore.Conditions{Granularity: explore.PerCall}},
		{"calls and relist", explore.Conditions{Granularity: explore.PerCall, Staleness: stale(view.Relist())}},
		{"a crash", explore.Conditions{Crashes: 1}},
	}
	entries := slices.Concat(models.Catalog(), autoscaler.Catalog(), tenants.Catalog(), toggle.Catalog(), missedwatch.Catalog(), racecondition.Catalog())
	for _, e := range entries {
		for _, c := range conditions {
			t.Run(fmt.Sprintf("%s/%s", e.Name, c.name), func(t *testing.T) {
				o := options()
				o.Conditions = c.Conditions
				o.Bounds.States = *largest
				if (len(c.Staleness) > 0 || c.Crashes > 0) && !slices.ContainsFunc(built(t, entries, e.Name).Strategies, func(s core.Strategy) bool { return len(s.Describe().Watches) > 0 }) {
					t.Skip("nobody has a view that could be stale, or could crash")
				}
				want, full, ok := find(t, built(t, entries, e.Name), o)
				if !ok {
					t.Skip("too large to be searched in full")
				}
				o.Bounds.States, o.Reducer = 0, reduction.Stubborn{}
				got, reduced, _ := find(t, built(t, entries, e.Name), o)
				if difference := differ(got, want); difference != "" {
					t.Errorf("%d states in full, %d reduced: %s", full.States(), reduced.States(), difference)
				}
				t.Logf("%d states in full, %d reduced", full.States(), reduced.States())
			})
		}
	}
}
