package reduction_test

import (
	"maps"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestComparedAges searches systems whose controllers may compare when objects were created, with objects of one age
// until it is known of which kinds that makes a difference, and with all of them of different ages from the start on:
// it must find out of which kinds it does.
func TestComparedAges(t *testing.T) {
	n, compared := *systems/4, 0
	if testing.Short() {
		n /= 2
	}
	for seed := ledgers + *firstSeed; n > 0; seed++ {
		_, o := draw(t, seed)
		system, err := random.AgedLedgers(seed)
		if err != nil {
			t.Fatal(err)
		}
		search := func(system *core.System) *explore.Space {
			space, err := explore.Search(t.Context(), system, o)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return space
		}
		turned := seed%2 == 0
		found, groups := search(system), [][]core.Kind(nil)
		for {
			more, _ := found.Compared()
			if len(more) == 0 {
				break
			}
			for _, group := range more {
				groups = core.JoinAges(groups, group)
			}
			found = search(system.Aged(groups, turned))
		}
		want := search(system.Aged([][]core.Kind{random.Kinds()}, turned))
		if len(found.Reasons())+len(want.Reasons()) > 0 {
			continue
		}
		n--
		all, known := shapes(found), shapes(want)
		if !maps.Equal(all, known) {
			t.Errorf("seed %d: %d states look as %d with the ages of %v, and %d as %d with all ages", seed, found.States(), len(all), groups, want.States(), len(known))
		}
		if len(groups) > 0 && !maps.Equal(known, shapes(search(system))) {
			compared++
		}
	}
	t.Logf("in %d of them it makes a difference", compared)
	if compared == 0 {
		t.Error("it makes no difference")
	}
}
