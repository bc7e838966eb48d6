package leases

import (
	"testing"

	"github.com/orrery-dev/orrery"
)

// TestMended checks the mended controllers with stale caches, a crash, a failed call, and calls of different reconciles that interleave.
func TestMended(t *testing.T) {
	system, err := System(Options{Looks: true, WatchesRecords: true})
	if err != nil {
		t.Fatal(err)
	}
	orrery.CheckWith(t, orrery.Options{
		Workers:     2,
		Granularity: orrery.PerCall,
		Stale:       []orrery.Staleness{{Rule: orrery.Lag(1)}},
		Crashes:     1,
		Failures:    1,
	}, system)
}
