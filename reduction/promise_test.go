package reduction_test

import (
	"context"
	"errors"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/reduction"
)

// TestPromisesAreSeenInLoops has a controller fail, call by call, until a user does what was promised. A reduced search
// shows that this is possible in all states of the loop.
func TestPromisesAreSeenInLoops(t *testing.T) {
	there, copied := plain.NewVar[bool]("there"), plain.NewVar[bool]("copied")
	for _, promised := range []bool{true, false} {
		model := plain.Model{
			Name:    "promised",
			Initial: []core.Initial{plain.Start(there.Is(false), copied.Is(false))},
			Controllers: []plain.Controller{{Name: "copier", Requests: []core.Request{"a"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
				if copied.Get(w) {
					return core.Result{}
				}
				if !there.Get(w) {
					return core.Result{Err: errors.New("it is not there")}
				}
				copied.Set(w, true)
				return core.Result{}
			}}},
			Scenario: plain.Scenario{Actions: []plain.Action{{Name: "make it", Do: func(w *plain.World) { there.Set(w, true) }}}},
		}
		system, err := model.System()
		if err != nil {
			t.Fatal(err)
		}
		if promised {
			system.Scenario.Actions[0].Promise = &core.Promise{}
		}
		for _, reduced := range []bool{false, true} {
			o := options()
			o.Conditions.Granularity = explore.PerCall
			if reduced {
				o.Reducer = reduction.Stubborn{}
			}
			space, err := explore.Search(context.Background(), system, o)
			if err != nil {
				t.Fatal(err)
			}
			violations, err := properties.StableConvergence().Judge(context.Background(), space)
			if err != nil || (len(violations) == 0) != promised {
				t.Errorf("promised %t, reduced %t: %v, %v", promised, reduced, violations, err)
			}
		}
	}
}
