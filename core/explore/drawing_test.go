package explore_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/internal/naive"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestTwinWithDraws compares searches of systems whose controllers draw random values with the twin, which is told who
// does, under random conditions.
func TestTwinWithDraws(t *testing.T) {
	drawing, used, large := 0, 0, 0
	n := *systems
	if testing.Short() {
		n /= 5
	}
	for seed := *firstSeed; n > 0; seed++ {
		system, err := random.Drawing(seed)
		if err != nil {
			t.Fatal(err)
		}
		c, plain := conditionsOf(rand.New(rand.NewPCG(seed, 1)), system)
		o := options(1 + int(seed%2))
		o.Conditions, o.Bounds.States = c, largest
		space := search(t, system, o)
		if space.States() >= largest || slices.ContainsFunc(space.Reasons(), func(reason string) bool { return strings.Contains(reason, "without end") }) {
			large++
			continue
		}
		n--
		if i := slices.IndexFunc(space.Incidents(), func(i core.Incident) bool { return i.Kind == core.Nondeterministic }); i >= 0 {
			t.Fatalf("%+v\nagain with -run %s -systems 1 -first-seed %d", space.Incidents()[i], t.Name(), seed)
		}
		if slices.ContainsFunc(space.Reasons(), func(reason string) bool { return strings.Contains(reason, "crashes in those cases were not searched") }) {
			continue
		}
		if len(space.Drawing()) > 0 {
			drawing++
		}
		plain.Drawing = space.Drawing()
		plain.Seed = func(of core.Item, draw, answers int) uint64 {
			return behavior.Activation{Seed: transition.SeedOf(of, draw, nil)}.SeedOf(answers)
		}
		want, err := naive.ExploreUnder(system, plain, 3*largest)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if d := differ(summaryUnder(space), summaryOfTwinUnder(want)); d != "" {
			t.Fatalf("conditions %+v: %s\nagain with -run %s -systems 1 -first-seed %d", c, d, t.Name(), seed)
		}
		used += len(want.States)
	}
	t.Logf("%d systems were too large; somebody draws in %d; %d states", large, drawing, used)
	if drawing == 0 && !testing.Short() {
		t.Error("nobody draws anything")
	}
}
