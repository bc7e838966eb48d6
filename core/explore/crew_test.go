package explore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// TestCrewsExpandAhead searches a system that is wide enough for crews to expand states while others are stored: states have the
// same numbers as with one worker, also where a bound ends the search or an invariant is broken on the way.
func TestCrewsExpandAhead(t *testing.T) {
	system := counters(t, 9, 2)
	// It is broken first in the middle, where there are most states.
	system.Properties = []core.Property{{Name: "they have not counted to 10 together", Invariant: func(s core.State) error {
		sum := 0
		for _, counter := range system.Initial[0].Objects {
			sum += strings.Index("012", fmt.Sprint(s.Get(counter.Key).Fields()))
		}
		if sum >= 10 {
			return errors.New("they have")
		}
		return nil
	}}}
	for _, bound := range []int{0, 13_000} {
		search := func(workers int) *explore.Space {
			o := options(workers)
			o.Bounds.States = bound
			space, err := explore.Search(context.Background(), system, o)
			if err != nil {
				t.Fatal(err)
			}
			return space
		}
		one := search(1)
		for workers := 2; workers <= 3; workers++ {
			many := search(workers)
			if one.States() != many.States() || one.Stats != many.Stats || len(one.Reasons()) != len(many.Reasons()) {
				t.Fatalf("one worker finds %d states, %+v, %d find %d, %+v", one.States(), one.Stats, workers, many.States(), many.Stats)
			}
			for id := range core.StateID(one.States()) {
				if one.Fingerprint(id) != many.Fingerprint(id) || one.Cut(id) != many.Cut(id) {
					t.Fatalf("with %d workers another state has the number %d, or is cut", workers, id)
				}
			}
			at, why := one.Broken(system.Properties[0].Name)
			if other, whyOther := many.Broken(system.Properties[0].Name); why == nil || whyOther == nil || at != other {
				t.Errorf("the invariant is broken in state %d: %v, and with %d workers in %d: %v", at, why, workers, other, whyOther)
			}
		}
	}
}
