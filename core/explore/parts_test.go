package explore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
)

// TestParts has a counter count to a number whatever else happens: it is what most states come of, and without it there
// would be those of the rest.
func TestParts(t *testing.T) {
	const counted = 1500
	count, lamp := plain.NewVar[int]("count"), plain.NewFamily[bool]("Lamp")
	system, err := plain.Model{Name: "counts", Initial: []core.Initial{plain.Start(count.Is(0), lamp.Named("a").Is(false), lamp.Named("b").Is(false))}, Processes: []plain.Process{
		{Name: "counter", Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) {
			n := count.Get(w)
			w.Require(n < counted)
			count.Set(w, n+1)
		}}}},
		{Name: "a", Actions: []plain.Action{{Name: "a", Do: func(w *plain.World) { lamp.Named("a").Set(w, true) }}}},
		{Name: "b", Actions: []plain.Action{{Name: "b", Do: func(w *plain.World) { lamp.Named("b").Set(w, true) }}}},
	}}.System()
	if err != nil {
		t.Fatal(err)
	}
	search := func(o explore.Options) *explore.Space {
		o.Run = behavior.Limits{Deadline: 10 * time.Second, Calls: 1000}
		s, err := explore.Search(t.Context(), system, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if all := search(explore.Options{Workers: 1}); all.States() != 4*(counted+1) || all.Parts() != nil {
		t.Errorf("of %d states, all of which were searched, it tells %v", all.States(), all.Parts())
	}
	for _, order := range []explore.Order{explore.BreadthFirst, explore.DepthFirst} {
		for _, workers := range []int{1, 2} {
			some := search(explore.Options{Workers: workers, Order: order, Bounds: explore.Bounds{States: 4000}})
			var ways []string
			counts, lamps := map[string]bool{}, map[string]bool{}
			for id := range some.States() {
				state := some.State(core.StateID(id))
				all := fmt.Sprint(state.List(lamp.Kind(), ""))
				ways = append(ways, all)
				lamps[all] = true
				counts[fmt.Sprint(state.Get(count.Key()).Fields())] = true
			}
			parts := some.Parts()
			i := slices.IndexFunc(parts, func(p core.StatePart) bool { return p.Name == "the value of count" })
			if i != 0 || parts[i].Without != len(lamps) {
				t.Errorf("%v, %d workers: of %d states, %d without the count, it tells %v", order, workers, len(ways), len(lamps), parts)
			}
			if j := slices.IndexFunc(parts, func(p core.StatePart) bool { return p.Name == "the objects of kind Lamp" }); j != 1 && order == explore.BreadthFirst || j > 0 && parts[j].Without != len(counts) {
				t.Errorf("%v, %d workers: %d without lamps, it tells %v", order, workers, len(counts), parts)
			}
		}
	}
	if few := search(explore.Options{Workers: 1, Bounds: explore.Bounds{States: 900}}); few.Parts() != nil {
		t.Errorf("of few states, it tells %v", few.Parts())
	}
	if compact := search(explore.Options{Workers: 1, Compact: true, Bounds: explore.Bounds{States: 4000}}); compact.Parts() != nil {
		t.Errorf("of states that are not kept, it tells %v", compact.Parts())
	}
}
