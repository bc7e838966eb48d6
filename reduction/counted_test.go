package reduction_test

import (
	"maps"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestCounted searches systems whose controllers may heed how often objects were changed, which is counted anew until
// it is known of which kinds that makes a difference, and stays as it was counted from the start on: it must find out
// of which kinds it does.
func TestCounted(t *testing.T) {
	n, heeded, differs := *systems/4, 0, 0
	if testing.Short() {
		n /= 2
	}
	for seed := ledgers + *firstSeed; n > 0; seed++ {
		_, o := draw(t, seed)
		system, err := random.CountedLedgers(seed)
		if err != nil {
			t.Fatal(err)
		}
		search := func(counted ...core.Kind) *explore.Space {
			under := o
			under.Conditions.Counted = counted
			space, err := explore.Search(t.Context(), system, under)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return space
		}
		found, want := search(), search(random.Kinds()...)
		if len(found.Reasons())+len(want.Reasons()) > 0 {
			continue
		}
		n--
		all, known := shapes(found), shapes(want)
		if !maps.Equal(all, known) {
			t.Errorf("seed %d: %d states look as %d where %v count, and %d as %d where all do", seed, found.States(), len(all), found.Counted(), want.States(), len(known))
		}
		if len(found.Counted()) > 0 {
			heeded++
		}
		if found.States() < want.States() {
			differs++
		}
	}
	t.Logf("%d of them heed it, and %d have fewer states where it is not heeded", heeded, differs)
	if heeded == 0 || differs == 0 {
		t.Error("it makes no difference")
	}
}
