package reduction_test

import (
	"testing"

	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/reduction"
)

// TestNeighbors has controllers work for several names, and pick what they look for out of lists of all. What is left
// out must make no difference.
func TestNeighbors(t *testing.T) {
	compared, full, reduced := 0, 0, 0
	for seed := *firstSeed; seed < *firstSeed+uint64(*systems); seed++ {
		system, err := random.Neighbors(seed)
		if err != nil {
			t.Fatal(err)
		}
		o := options()
		o.Bounds.States = *largest
		want, space, ended := find(t, system, o)
		if !ended {
			continue
		}
		o.Reducer = reduction.Stubborn{}
		got, less, ended := find(t, system, o)
		if difference := differ(got, want); difference != "" || !ended {
			t.Errorf("seed %d: %s", seed, difference)
		}
		compared, full, reduced = compared+1, full+space.States(), reduced+less.States()
	}
	t.Logf("%d systems: %d of %d states", compared, reduced, full)
}
