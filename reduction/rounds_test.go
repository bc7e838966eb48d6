package reduction_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/reduction"
)

// TestRounds has controllers of several names go round that have nothing to do with each other. While those of one do,
// the others are left out as long as there is a way on, and what is left out must make no difference.
func TestRounds(t *testing.T) {
	compared, full, reduced, livelocks := 0, 0, 0, 0
	for seed := *firstSeed; seed < *firstSeed+uint64(*systems); seed++ {
		compose := random.Rounds
		if seed%5 == 3 {
			compose = random.Later(compose)
		}
		system, err := compose(seed)
		if err != nil {
			t.Fatal(err)
		}
		o := options()
		o.Bounds.States = *largest
		if seed%4 == 3 {
			o.Conditions = conditionsOf(rand.New(rand.NewPCG(seed, 21)), system)
		}
		want, space, ended := find(t, system, o)
		if !ended {
			continue
		}
		o.Reducer = reduction.Stubborn{}
		got, less, ended := find(t, system, o)
		if difference := differ(got, want); difference != "" || !ended {
			t.Errorf("seed %d: %s", seed, difference)
		}
		if slices.Contains(want.broken, "stable convergence") {
			livelocks++
		}
		compared, full, reduced = compared+1, full+space.States(), reduced+less.States()
	}
	if compared >= 100 && (livelocks < compared/4 || compared-livelocks < compared/4 || reduced > full/2) {
		t.Errorf("%d systems, %d of which go on for ever: %d of %d states", compared, livelocks, reduced, full)
	}
	t.Logf("%d systems, %d of which go on for ever: %d of %d states", compared, livelocks, reduced, full)
}

// TestRoundsAddUp has some names toggle until somebody stops that, each its own: x goes from 0 to 1 and back as long as
// y is 0, and ends at 0. That is four states for a name, the last of which is the first of the next name. In full, it
// is four times as many for each name.
func TestRoundsAddUp(t *testing.T) {
	x, y := plain.NewFamily[int]("x"), plain.NewFamily[int]("y")
	for names := 1; names <= 4; names++ {
		model := plain.Model{Name: "toggling"}
		var start []core.Object
		for i := range names {
			start = append(start, x.At(i).Is(0), y.At(i).Is(0))
			model.Processes = append(model.Processes,
				plain.Process{Name: fmt.Sprint("toggle", i), Actions: []plain.Action{{Name: "on", Do: func(w *plain.World) {
					w.Require(y.At(i).Get(w) == 0 || x.At(i).Get(w) == 1)
					x.At(i).Set(w, 1-x.At(i).Get(w))
				}}}},
				plain.Process{Name: fmt.Sprint("stop", i), Actions: []plain.Action{{Name: "on", Do: func(w *plain.World) {
					w.Require(y.At(i).Get(w) == 0)
					y.At(i).Set(w, 1)
				}}}})
		}
		model.Initial = []core.Initial{plain.Start(start...)}
		for _, reducer := range []explore.Reducer{nil, reduction.Stubborn{}} {
			system, err := model.System()
			if err != nil {
				t.Fatal(err)
			}
			o, want := options(), 1<<(2*names)
			if o.Reducer = reducer; reducer != nil {
				want = 3*names + 1
			}
			found, space, ended := find(t, system, o)
			if space.States() != want || !ended || len(found.ends) != 1 || slices.Contains(found.broken, "stable convergence") {
				t.Errorf("%d names, reduced by %v: %d states, want %d; there are %d ends, and %q are broken", names, reducer, space.States(), want, len(found.ends), found.broken)
			}
		}
	}
}
