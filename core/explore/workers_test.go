package explore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// TestWorkersExpandAhead searches a system that is wide enough for workers to expand states while others are stored:
// states have the same numbers as with one worker, also where a bound ends the search or an invariant is broken on the
// way.
func TestWorkersExpandAhead(t *testing.T) {
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

// TestWorkersInspectWhatIsLearned has workers expand ahead while now and then something is to be learned. Invariants
// are judged in all states all the same.
func TestWorkersInspectWhatIsLearned(t *testing.T) {
	const n, k = 10, 2
	system := counters(t, n, k)
	// One more process looks at some of the counters, and so does something new whenever they have other values
	// together.
	watched := system.Initial[0].Objects[:4]
	watch := plain.Process{Name: "watch", Actions: []plain.Action{{Name: "look", Do: func(w *plain.World) {
		for _, counter := range watched {
			plain.NewVar[int](counter.Key.Name).Get(w)
		}
		w.Require(false)
	}}}}
	model := plain.Model{Name: "watched", Initial: system.Initial, Processes: []plain.Process{watch}}
	other, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	system.Strategies = append(system.Strategies, other.Strategies...)
	for rest := range 50 {
		system.Properties = append(system.Properties, core.Property{Name: fmt.Sprint(rest), Invariant: func(s core.State) error {
			sum, number := 0, 0
			for _, counter := range system.Initial[0].Objects {
				value := strings.Index("012", fmt.Sprint(s.Get(counter.Key).Fields()))
				sum, number = sum+value, number*(k+1)+value
			}
			if sum > n/2 && number%50 == rest {
				return errors.New("it is such a state")
			}
			return nil
		}})
	}
	search := func(workers int) *explore.Space {
		space, err := explore.Search(context.Background(), system, options(workers))
		if err != nil {
			t.Fatal(err)
		}
		return space
	}
	one, two := search(1), search(2)
	for _, p := range system.Properties {
		at, why := one.Broken(p.Name)
		if other, _ := two.Broken(p.Name); why == nil || at != other {
			t.Errorf("invariant %s is broken in state %d: %v, and with two workers in %d", p.Name, at, why, other)
		}
	}
}
